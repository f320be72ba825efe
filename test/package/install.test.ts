/**
 * The package as a user gets it: packed, installed in an empty folder on a machine without a compiler, and run there.
 * `npm run test:installed` does this with all versions of Node.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageKernels, toolchainLack } from '../../scripts/package/kernels.ts'
import { packageNpm } from '../../scripts/package/npm.ts'
import { targets } from '../../scripts/package/targets.ts'
import { type Step, Trial, tryPackage } from '../../scripts/package/trial.ts'
import { writeDeclarations } from '../compiler.ts'
import { describeWith } from '../needs.ts'

const machine = `${process.platform}-${process.arch}`
/** The limit of an installation. */
const MAX_INSTALLED_MIB = 45

function lack(): string | null {
  const target = targets.find(({ name }) => name === machine)
  if (target === undefined || process.platform === 'win32') return `this test does not know ${machine}`
  const missing = toolchainLack(target)
  if (missing !== null) return missing
  return spawnSync('npm', ['ping'], { timeout: 30_000 }).status === 0 ? null : 'npm reaches no registry'
}

describeWith(lack(), 'the package, where there is no compiler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-installed-'))
  let trial: Trial
  let steps: readonly Step[]

  beforeAll(async () => {
    writeDeclarations()
    expect(await packageKernels([machine], folder)).toBe(0)
    expect(await packageNpm([], { folder, kernels: folder })).toBe(0)
    const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
    trial = new Trial({ tarball, node: process.execPath, hasCompiler: false })
    steps = tryPackage(trial)
  })
  afterAll(() => {
    trial?.remove()
    rmSync(folder, { recursive: true })
  })

  const passes = (args: readonly string[], wanted: RegExp): string => {
    const { fault, out } = trial.newcut(args, wanted)
    expect(fault).toBeNull()
    return out
  }

  it('the test of the package has no compiler in its path', () => {
    expect(trial.seesCompiler).toBe(false)
  })

  it('the package installs with two packages and no warning, makes a block of a network, and mines one', () => {
    expect(steps.map(({ name, fault }) => [name.split(' --')[0], fault])).toEqual([
      ['npm install', null],
      ['newcut', null],
      ['newcut devnet', null],
      ['newcut mine', null],
    ])
    const { out } = steps[3]
    expect(out).toMatch(/ready +cpu: native-\w+\n/)
    // It compiles nothing: there is a kernel of the package for this machine.
    expect(existsSync(join(trial.project, '../home/.cache/newcut/native'))).toBe(false)
  })

  it('the installed package takes less than 45 MB of the disk', () => {
    expect(trial.installedKiB() / 1024).toBeLessThan(MAX_INSTALLED_MIB)
  })

  it('the installed package reports that its kernel is the prebuilt one, and what a graphics card would need', () => {
    const step = trial.newcut(['devices'], /^/)
    expect(step.out).toMatch(`CPU: native kernels, prebuilt for ${machine}: native-`)
    // The machine of this test may have a card.
    expect(step.out).toMatch(/^no GPU: .*`npm install webgpu@[\d.]+`/m)
  })

  it('the entry points of the installed package lead to modules', () => {
    const doors = ['core', 'node', 'wallet', 'devnet', 'contracts', 'conformance']
    const imports = doors.map((door) => `import('newcut/${door}')`).join()
    const program = `Promise.all([${imports}]).then((all) => console.log(all.every((door) => Object.keys(door)[0])))`
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: trial.project, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).toBe('true\n')
  })

  it('the installed package keeps a network in a database, and reads YAML and writes JSON logs', () => {
    writeFileSync(
      join(trial.project, 'own.yaml'),
      'graph: petersen\ndifficulty: 1000\ndata: chains\nport: 0\nlog: json\n',
    )
    const args = ['devnet', '--config', 'own.yaml', '--exec']
    passes([...args, 'newcut devnet mine 2'], /made 20 blocks on 10 chains; height 2/)
    expect(existsSync(join(trial.project, 'chains'))).toBe(true)
    passes([...args, 'newcut devnet status'], /height 2/)
  })

  it('the installed package tests contracts in its threads, and plants faults there', () => {
    writeFileSync(
      join(trial.project, 'm.pact'),
      '(module m GOV (defcap GOV () true) (defun next (n:integer) (+ n 1)))\n',
    )
    writeFileSync(join(trial.project, 'm.repl'), '(load "m.pact")\n(expect "the next number" 3 (m.next 2))\n')
    passes(['test', 'm.repl'], /1 passed, 0 failed/)
    passes(['test', 'm.repl', '--mutate'], /[1-9]\d* of [1-9]\d* /)
  })
})
