/**
 * `npm run package -- kernels` builds the kernels for which this machine has the tools, and names those that it cannot
 * build.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { faultOf, packageKernels, prebuiltFile, toolchainLack } from '../../scripts/package/kernels.ts'
import { targets } from '../../scripts/package/targets.ts'
import { sourcesMark } from '../../src/mining/engine/cpu/native-files.ts'
import { loadNative } from '../../src/mining/engine/cpu/native-kernel.ts'
import { describeWith } from '../needs.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-kernels-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => void vi.unstubAllEnvs())

/** Runs the command. Returns its exit code and the lines of its output. */
async function run(names: readonly string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  const keep = (line: string) => void lines.push(line)
  const spies = [vi.spyOn(console, 'log').mockImplementation(keep), vi.spyOn(console, 'error').mockImplementation(keep)]
  const code = await packageKernels(names, folder)
  for (const spy of spies) spy.mockRestore()
  return { code, lines }
}

for (const target of targets) {
  const { name } = target
  const lack = toolchainLack(target)
  const file = prebuiltFile(name, folder)
  describeWith(lack, `the prebuilt kernel for ${name}`, () => {
    it(`the prebuilt kernel for ${name} is built from these sources if its tools are installed`, async () => {
      expect(await run([name])).toEqual({
        code: 0,
        lines: [expect.stringMatching(`^kernel ${name}: built, \\d+ bytes$`)],
      })
      expect(readFileSync(file).includes(sourcesMark())).toBe(true)
    })

    it(`the prebuilt kernel for ${name} needs no C library if it is for Linux`, () => {
      expect(faultOf(target, file)).toBeNull()
      if (!name.startsWith('linux')) return
      const { stdout } = spawnSync(`${target.prefix}objdump`, ['-p', '-T', file], { encoding: 'utf8' })
      expect(stdout).toMatch(/napi_create_function/)
      expect(stdout).not.toMatch(/GLIBC|NEEDED/)
    })

    if (name !== `${process.platform}-${process.arch}`) return
    it(`the prebuilt kernel for ${name} loads on this machine`, () => {
      const { sweeps, obstacle } = loadNative(file)
      expect(obstacle).toBeNull()
      expect(Object.keys(sweeps).length).toBeGreaterThan(0)
    })
  })
}

describe('a build of kernels', () => {
  const [here, other] = targets.map(({ name }) => name)

  it('a build of kernels without tools names what is missing; that is an error only for a requested kernel', async () => {
    const file = prebuiltFile(here, folder)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'of before')
    vi.stubEnv('PATH', folder)
    const all = await run([])
    expect(all.code).toBe(0)
    expect(all.lines).toHaveLength(targets.length)
    for (const line of all.lines)
      expect(line).toMatch(/^kernel \S+: not built: there is no \S*gcc, .* \(Debian has it in gcc/)
    expect(existsSync(file)).toBe(false)
    const line = expect.stringMatching(`^kernel ${other}: not built: there is no`)
    expect(await run([other])).toEqual({ code: 1, lines: [line] })
  })

  it('a build of kernels refuses an unknown name', async () => {
    const known = targets.map(({ name }) => name).join(', ')
    const line = `npm run package -- kernels: no kernel linux-mips; choose from ${known}`
    expect(await run(['linux-mips'])).toEqual({ code: 2, lines: [line] })
  })
})

it('npm run package refuses unknown names, and lists the known ones', () => {
  const main = fileURLToPath(new URL('../../dist/scripts/package/main.js', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [main, 'floppy'], { encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toMatch(/^npm run package: no package floppy; choose from kernels, manual, npm/)
})
