/** Which native kernel file newcut chooses; the compiler makes real files for the test. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { chooseNative, loadChosen, NO_NATIVE } from '../../src/mining/engine/cpu/native-choice.ts'
import { KERNEL, type NativeFiles, sourcesMark } from '../../src/mining/engine/cpu/native-files.ts'
import { storeInCache } from '../../src/mining/engine/native/cache.ts'
import { compilePart } from '../../src/mining/engine/native/compile.ts'
import { describeWith } from '../needs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-choice-'))
afterAll(() => rmSync(folder, { recursive: true }))

const right = join(folder, 'right.node')
const wrong = join(folder, 'wrong.node')
const noCompiler = spawnSync('cc', ['--version']).status === 0 ? null : 'cc is not installed: apt-get install gcc'

/** Compiles a copy of the sources with a wrong constant, and gives the file the mark of the right sources. */
async function compileWrong(): Promise<void> {
  const copy = join(folder, 'sources')
  cpSync(join(root, KERNEL.folder), copy, { recursive: true })
  const header = join(copy, 'kernel.h')
  writeFileSync(header, readFileSync(header, 'utf8').replace('0x6a09e667', '0x6a09e666'))
  const part = { ...KERNEL, folder: relative(root, copy) }
  expect(await compilePart({ part, output: wrong, compiler: 'cc', flags: ['-O1'] })).toBeNull()
  appendFileSync(wrong, sourcesMark())
}

describeWith(noCompiler, 'the chosen native kernel', () => {
  let files: NativeFiles
  let count = 0
  const place = (file: string, origin: keyof NativeFiles) =>
    origin === 'cached' ? expect(storeInCache(file, files.cached)).toBeNull() : copyFileSync(file, files[origin])
  beforeAll(async () => {
    expect(await compilePart({ part: KERNEL, output: right, compiler: 'cc', flags: ['-O1'] })).toBeNull()
    await compileWrong()
  })
  beforeEach(() => {
    const path = (name: string) => join(folder, `${name}-${count}.node`)
    files = { prebuilt: path('prebuilt'), installed: path('installed'), cached: path('cached') }
    count++
  })

  it.each([
    ['the prebuilt one first', ['prebuilt', 'installed', 'cached'], 'prebuilt'],
    ['the installed one before the one in the cache', ['installed', 'cached'], 'installed'],
    ['the one in the cache', ['cached'], 'cached'],
  ] as const)('the native kernel is %s', (_, present, origin) => {
    for (const name of present) place(right, name)
    const choice = chooseNative(files)
    expect(choice).toEqual({ file: files[origin], origin, obstacle: null, passedOver: [] })
    expect(Object.keys(loadChosen(choice).sweeps).length).toBeGreaterThan(0)
  })

  it.each([
    ['is for another system', () => writeFileSync(files.prebuilt, `text, ${sourcesMark()}`), /does not load: /],
    [
      'computes wrongly',
      () => copyFileSync(wrong, files.prebuilt),
      /kernel native-\w+ failed its self-test: nonces 0 to/,
    ],
    [
      'was made from other sources',
      () => writeFileSync(files.prebuilt, readFileSync(right).subarray(0, 4096)),
      /it was made from other sources$/,
    ],
  ])(
    'the installed native kernel is used if the prebuilt one %s, with a sentence that says so',
    (_, spoil, sentence) => {
      spoil()
      copyFileSync(right, files.installed)
      const passedOver = [expect.stringMatching(/^the prebuilt native kernel is not used: /)]
      expect(chooseNative(files)).toEqual({ file: files.installed, origin: 'installed', obstacle: null, passedOver })
      expect(chooseNative(files).passedOver[0]).toMatch(sentence)
    },
  )

  it('the native kernel is missing if all files are unusable, and the last reason is reported', () => {
    copyFileSync(wrong, files.prebuilt)
    writeFileSync(join(folder, 'text'), 'text')
    place(join(folder, 'text'), 'cached')
    const choice = chooseNative(files)
    expect(choice).toMatchObject({ file: null, origin: null, obstacle: expect.stringMatching(/does not load/) })
    expect(choice.passedOver).toHaveLength(2)
    expect(loadChosen(choice)).toEqual({ sweeps: {}, obstacle: choice.obstacle })
  })

  it('the native kernel does not come from a cache file that is incomplete, or that others may have written', () => {
    place(right, 'cached')
    truncateSync(files.cached, 4096)
    expect(chooseNative(files)).toMatchObject({ file: null, obstacle: 'it is incomplete' })
    place(right, 'cached')
    chmodSync(files.cached, 0o666)
    expect(chooseNative(files)).toMatchObject({
      file: null,
      obstacle: `others may write to ${files.cached} (mode 666)`,
    })
  })

  it('the native kernel is missing without a file', () => {
    expect(chooseNative(files)).toEqual(NO_NATIVE)
  })
})
