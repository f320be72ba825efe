/**
 * The packed package in projects of its users: that of `newcut init` with its three commands, and the assertions in
 * vitest and in jest, with their types.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageNpm } from '../../scripts/package/npm.ts'
import { childEnv } from '../children.ts'
import { writeDeclarations } from '../compiler.ts'
import { root } from '../docs-samples/blocks.ts'
import { describeWith } from '../needs.ts'

const home = mkdtempSync(join(tmpdir(), 'newcut-project-'))
let tarball = ''

beforeAll(async () => {
  writeDeclarations()
  expect(await packageNpm([], { folder: home })).toBe(0)
  tarball = join(home, readdirSync(home).find((name) => name.endsWith('.tgz')) ?? '')
})
afterAll(() => rmSync(home, { recursive: true }))

/** Runs a program in a folder, and returns what it says. It must succeed. */
function runIn(folder: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const ran = spawnSync(program, args, { cwd: folder, encoding: 'utf8', env: { ...childEnv, HOME: home, ...env } })
  const text = stripVTControlCharacters(ran.stdout + ran.stderr)
  expect(ran.status, text).toBe(0)
  return text
}

const MAIN = join(root, 'dist/src/main.js')
const TSC = join(root, 'node_modules/typescript/bin/tsc')

const registryLack = spawnSync('npm', ['ping'], { timeout: 30_000 }).status === 0 ? null : 'npm reaches no registry'

describeWith(registryLack, 'the project of newcut init', () => {
  it('the three commands of the README of a new project succeed, and its types are current', () => {
    runIn(home, process.execPath, [MAIN, 'init', 'my-jar'])
    const folder = join(home, 'my-jar')
    const json = readFileSync(join(folder, 'package.json'), 'utf8')
    writeFileSync(join(folder, 'package.json'), json.replace(/"newcut": "[^"]*"/, `"newcut": "file:${tarball}"`))
    // With the cache of this machine: all but newcut are packages of newcut itself.
    const { HOME } = process.env
    const cache = { npm_config_cache: process.env.npm_config_cache ?? join(HOME ?? home, '.npm') }
    runIn(folder, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], cache)
    const tested = runIn(folder, 'npm', ['test'])
    expect(tested).toContain('9 passed, 0 failed')
    expect(tested).toMatch(/Tests +3 passed/)
    const types = readFileSync(join(folder, 'contracts.d.ts'), 'utf8')
    runIn(folder, 'npm', ['run', 'types'])
    expect(readFileSync(join(folder, 'contracts.d.ts'), 'utf8')).toBe(types)
    expect(runIn(folder, 'npm', ['run', 'deploy'])).toContain('TableCreated')
  })
})

/** Makes a project with the packed newcut, and packages of this one. @param links name -> folder */
function projectWith(name: string, links: Readonly<Record<string, string>>): string {
  const folder = join(home, name)
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'newcut'), { recursive: true })
  mkdirSync(join(modules, '@jest'), { recursive: true })
  runIn(folder, 'tar', ['-xzf', tarball, '-C', join(modules, 'newcut'), '--strip-components', '1'])
  for (const [link, target] of Object.entries(links)) symlinkSync(join(root, target), join(modules, link), 'dir')
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  return folder
}

const TESTS = `
const result = {
  gas: 600,
  result: { status: 'failure', error: { type: 'EvalError', message: 'Insufficient funds' } },
  events: [{ name: 'E', params: [{ int: 3 }], module: { namespace: 'free', name: 'm' } }],
}
it('passes', async () => {
  expect(result).toFailWith('Insufficient')
  expect(result).not.toSucceed()
  expect(result).toEmit('free.m.E', [3])
  expect(result).toMoveCoins({})
  await expect(Promise.resolve(result)).resolves.toFailWith(/funds$/)
})
it('fails', () => {
  expect(result).toEmit('free.m.E', [4])
})
`
const TYPES = `
const resolved: Promise<void> = expect(Promise.resolve({})).resolves.toSucceed()
void resolved
expect({}).toSucceed()
expect({}).not.toFailWith({ type: 'EvalError', message: /x/ })
expect({}).toEmit('free.m.E', [1, expect.any(String)])
expect({}).toMoveCoins({ a: 1, b: '-1.5', c: 3n })
expect({}).toMoveTokens('free.token', { a: 1 })
// @ts-expect-error: a change is a number
expect({}).toMoveCoins({ a: true })
// @ts-expect-error: there is no such assertion
expect({}).toSuceed()
`

/** Checks the types of a file, with all declarations. */
function checkTypes(folder: string, text: string): void {
  writeFileSync(join(folder, 'types.ts'), text)
  const strict = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023']
  runIn(folder, process.execPath, [TSC, ...strict, '--types', 'node', 'types.ts'])
}

/** Runs a file of two tests. One of them fails. @returns the output of the runner */
function runTests(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const options = { cwd: folder, encoding: 'utf8', env: { ...childEnv, HOME: home, ...env } } as const
  const ran = spawnSync(process.execPath, args, options)
  const text = ran.stdout + ran.stderr
  expect(ran.status, text).toBe(1)
  return text
}

it('vitest of a user has the assertions, with their types', () => {
  const folder = projectWith('of-vitest', {
    vitest: 'node_modules/vitest',
    '@types': 'node_modules/@types',
  })
  const head = "import { expect, it } from 'vitest'\nimport 'newcut/devnet/matchers/vitest'\n"
  checkTypes(folder, head.replace(', it', '') + TYPES)
  writeFileSync(join(folder, 'a.test.js'), head + TESTS)
  const text = runTests(folder, ['node_modules/vitest/vitest.mjs', 'run', '--no-color'])
  expect(text).toMatch(/1 failed \| 1 passed/)
  expect(text).toContain('expected event free.m.E with')
})

const judges = join(root, 'test/node_modules')

it('jest of a user has the assertions, with their types', () => {
  const folder = projectWith('of-jest', {
    '@jest/globals': 'test/node_modules/@jest/globals',
    expect: 'test/node_modules/@jest/globals/node_modules/expect',
    '@types': 'node_modules/@types',
  })
  const head = "import { expect, it } from '@jest/globals'\nimport 'newcut/devnet/matchers/jest'\n"
  checkTypes(folder, head.replace(', it', '') + TYPES)
  writeFileSync(join(folder, 'a.test.js'), head + TESTS)
  const text = runTests(folder, [join(judges, 'jest/bin/jest.js'), '--rootDir', folder], {
    NODE_OPTIONS: '--experimental-vm-modules',
  })
  expect(text).toMatch(/1 failed, 1 passed/)
  expect(text).toContain('expected event free.m.E with')
})
