/**
 * The package as a user gets it: packed, installed on a machine without a compiler, and mining with the native kernel.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageKernels, toolchainLack } from '../../scripts/package/kernels.ts'
import { pack, packageNpm } from '../../scripts/package/npm.ts'
import { targets } from '../../scripts/package/targets.ts'
import { describeWith } from '../needs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const machine = `${process.platform}-${process.arch}`

function lack(): string | null {
  const target = targets.find(({ name }) => name === machine)
  if (target === undefined || process.platform === 'win32') return `this test does not know ${machine}`
  const missing = toolchainLack(target)
  if (missing !== null) return missing
  return spawnSync('npm', ['ping'], { timeout: 30_000 }).status === 0 ? null : 'npm reaches no registry'
}

describeWith(lack(), 'the package, where there is no compiler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-installed-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const bin = join(folder, 'bin')
  const home = join(folder, 'home')
  const installed = join(home, 'node_modules/newcut')
  let said = ''

  /** Runs the command as npm links it, in a bare environment. */
  function newcut(args: readonly string[]) {
    const env = { PATH: bin, HOME: home, XDG_CACHE_HOME: join(folder, 'cache') }
    return spawnSync(join(home, 'node_modules/.bin/newcut'), args, { cwd: home, encoding: 'utf8', env })
  }

  beforeAll(async () => {
    const stage = join(folder, 'stage')
    const packed = pack(['--dry-run'])
    if (typeof packed === 'string') throw new Error(packed)
    for (const { path } of packed.files.filter((file) => !file.path.startsWith('prebuilds/'))) {
      cpSync(join(root, path), join(stage, path))
    }
    // The check for compiled files without a source needs the sources.
    for (const part of ['src', 'bench']) cpSync(join(root, part), join(stage, part), { recursive: true })
    expect(await packageKernels([machine], stage)).toBe(0)
    expect(packageNpm([], stage)).toBe(0)
    const [tarball] = readdirSync(join(stage, 'build/packages'))

    mkdirSync(bin)
    symlinkSync(process.execPath, join(bin, 'node'))
    for (const tool of ['npm', 'sh', 'env', 'ls', 'cat', 'uname']) {
      const { stdout } = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' })
      symlinkSync(realpathSync(stdout.trim()), join(bin, tool))
    }
    mkdirSync(home)
    writeFileSync(join(home, 'package.json'), '{ "private": true }')
    const args = ['install', join(stage, 'build/packages', tarball), '--foreground-scripts', '--omit=optional']
    const { CC: _, ...env } = process.env
    const run = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: home,
      encoding: 'utf8',
      env: { ...env, PATH: bin },
    })
    said = run.stdout
    expect(run.status === 0 ? '' : run.stderr).toBe('')
    expect(run.status).toBe(0)
  })

  it('the test of the package has no compiler in its path', () => {
    const env = { PATH: bin }
    for (const tool of ['cc', 'gcc', 'clang']) expect(spawnSync(tool, { env }).error).toMatchObject({ code: 'ENOENT' })
  })

  it('the package installs without compiling the kernel', () => {
    expect(said).toContain(`newcut: native kernel: prebuilt for ${machine}\n`)
    expect(existsSync(join(installed, 'build/newcut-kernel.node'))).toBe(false)
  })

  it('the installed package mines with the native kernel', () => {
    const args = ['--gpu', 'none', '--http', 'off', '--threads', '1', '--kernel', 'native', '--blocks', '2']
    const { status, stdout, stderr } = newcut(['mine', ...args, '--block-delay', '10s'])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(stdout).toMatch(/ready +cpu: native-\w+\n/)
    expect(stdout).toMatch(/summary +[2-9]\d* accepted/)
    // It compiles nothing: the cache has at most the order of the sweep that this processor runs fastest.
    const cache = join(folder, 'cache/newcut')
    const cached = existsSync(cache) ? readdirSync(cache) : []
    expect(cached.filter((name) => name !== 'kernel-tuning.json')).toEqual([])
  })

  it('the installed package reports that its kernel is the prebuilt one', () => {
    expect(newcut(['devices']).stdout).toMatch(`CPU: native kernels, prebuilt for ${machine}: native-`)
  })

  it('the entry points of the installed package lead to modules', () => {
    const doors = ['core', 'node', 'wallet', 'devnet'].map((door) => `import('newcut/${door}')`).join()
    const program = `Promise.all([${doors}]).then((all) => console.log(all.every((door) => Object.keys(door)[0])))`
    const { stdout } = spawnSync(process.execPath, ['-e', program], { cwd: home, encoding: 'utf8' })
    expect(stdout).toBe('true\n')
  })
})
