/** The processor of a machine, by the files of Linux. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readProcessor } from '../../src/faces/api/machine.ts'
import { temporaryFolder } from '../accounts/shares.ts'

/** Files of `cache/index2` or `index3` of a processor: level, size and the processors that share it. */
type Cache = readonly [level: string, size: string | null, sharedBy: string]

function folderOf(caches: Readonly<Record<string, readonly Cache[]>>): string {
  const folder = temporaryFolder()
  for (const [name, list] of Object.entries(caches)) {
    for (const [i, [level, size, sharedBy]] of list.entries()) {
      const path = join(folder, name, 'cache', `index${i + 2}`)
      mkdirSync(path, { recursive: true })
      writeFileSync(join(path, 'level'), `${level}\n`)
      if (size !== null) writeFileSync(join(path, 'size'), `${size}\n`)
      writeFileSync(join(path, 'shared_cpu_list'), `${sharedBy}\n`)
    }
  }
  return folder
}

it('the description of the machine counts each shared cache once, and skips caches without a size', async () => {
  const folder = folderOf({
    cpu0: [
      ['2', '512K', '0-1'],
      ['3', '32768K', '0-3'],
    ],
    cpu1: [
      ['2', '512K', '0-1'],
      ['3', '32768K', '0-3'],
    ],
    cpu2: [
      ['1', '64K', '2'],
      ['2', '1024K', '2'],
    ],
    cpu3: [['2', '256K', '3']],
    cpu4: [['2', null, '4']],
    cpu5: [['2', 'unknown', '5']],
    cpufreq: [['2', '4096K', '9']],
  })
  expect(await readProcessor(folder)).toMatchObject({ l2: (512 + 256) * 1024, l3: 32768 * 1024 })
})

it('the description of the machine has no cache sizes if Linux describes no cache', async () => {
  expect(await readProcessor(folderOf({ cpu0: [['1', '64K', '0']] }))).toMatchObject({ l2: null, l3: null })
  expect(await readProcessor(join(temporaryFolder(), 'none'))).toMatchObject({ l2: null, l3: null })
})

it('the description of the machine has its cores by package, and the flags that kernels use', async () => {
  const cpu = (number: number, chip: number, core: number) =>
    [
      `processor\t: ${number}`,
      'flags\t\t: fpu aes avx2 sse4_1',
      `physical id\t: ${chip}`,
      `core id\t\t: ${core}`,
      '',
    ].join('\n')
  const file = join(temporaryFolder(), 'cpuinfo')
  const threads = [cpu(0, 0, 0), cpu(1, 0, 1), cpu(2, 1, 0), cpu(3, 1, 1), cpu(4, 0, 0), cpu(5, 1, 1)]
  writeFileSync(file, threads.join('\n'))
  const none = join(temporaryFolder(), 'none')
  expect(await readProcessor(none, file)).toMatchObject({
    ...{ cores: 4, packages: 2, aes: true, avx2: true, flags: ['aes', 'avx2', 'sse4.1'] },
  })
  expect(await readProcessor(none, none)).toMatchObject({ cores: null, packages: null, aes: null, flags: [] })
  writeFileSync(file, 'Features\t: fp asimd sha2\n')
  expect(await readProcessor(none, file)).toMatchObject({ cores: null, aes: false, avx2: false, flags: ['asimd'] })
})
