/** `newcut test --mutate` as a user types it: the report, the score that CI holds, and files for programs. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { contractIn } from '../contracts/contract-in.ts'

const CONTRACT = `(module m G
  (defcap G () true)
  (defun pay (n:integer)
    (enforce (> n 0) "positive")
    (+ n 1)))
`
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newcut-mutate-'))
  write('m.pact', CONTRACT)
  write('m.repl', '(load "m.pact")\n(expect "pays" 3 (m.pay 2))')
})

afterEach(() => rmSync(folder, { recursive: true }))

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const mutate = (...args: string[]) => contractIn(folder, ['m.repl', '--mutate', '--jobs', '1', ...args])

it('newcut test --mutate prints survivors, a table and the score, and fails below --mutate-min', async () => {
  const cache = ['--mutate-cache', 'verdicts.json']
  const { status, lines, stderr } = await mutate(...cache)
  expect([status, stderr]).toEqual([0, ''])
  expect(lines.slice(0, 6)).toEqual([
    '1 passed without faults',
    '',
    'SURVIVED m.pact:4:5: remove-enforce in m.pay',
    '  - (enforce (> n 0) "positive")',
    '  + true',
    '  no test noticed that the check is gone; it ran in m.repl',
  ])
  expect(lines.slice(-2)).toEqual([
    '6 runs of test files, 0 verdicts known from earlier runs',
    'score 50.0 %: the tests notice 3 of 6 faults',
  ])
  expect(existsSync(join(folder, 'verdicts.json'))).toBe(true)
  const again = await mutate(...cache, '--mutate-min', '51')
  expect(again.status).toBe(1)
  expect(again.stderr).toBe('the score is 50.0 %, below the 51 % of --mutate-min\n')
  expect(again.lines.at(-2)).toBe('0 runs of test files, 6 verdicts known from earlier runs')
  expect((await mutate(...cache, '--mutate-min', '50')).status).toBe(0)
})

it('newcut test --mutate --json prints one object, and --mutate-report writes a file for viewers', async () => {
  const { status, lines } = await mutate('--json', '--mutate-report', 'mutants.json', '--mutate-cache', 'off')
  expect([status, lines.length]).toEqual([0, 1])
  const report = JSON.parse(lines[0])
  expect(report).toMatchObject({ killed: 3, survived: 3, score: 50, unreached: 0, runs: 6, known: 0, passed: 1 })
  expect(report.mutants).toHaveLength(6)
  expect(report.mutants[0]).toMatchObject({
    ...{ file: 'm.pact', line: 4, column: 5, operator: 'remove-enforce', status: 'survived', tests: ['m.repl'] },
    diff: { before: ['(enforce (> n 0) "positive")'], after: ['true'] },
  })
  const file = JSON.parse(readFileSync(join(folder, 'mutants.json'), 'utf8'))
  expect(file).toMatchObject({ schemaVersion: '2', thresholds: { high: 90, low: 75 } })
  expect(file.files['m.pact']).toMatchObject({ language: 'pact', source: CONTRACT })
  const [removed, , opposite] = file.files['m.pact'].mutants
  expect(removed).toEqual({
    ...{ id: '0', mutatorName: 'remove-enforce', description: 'the check is gone', replacement: 'true' },
    location: { start: { line: 4, column: 5 }, end: { line: 4, column: 33 } },
    ...{ status: 'Survived', coveredBy: ['0'] },
  })
  expect(opposite).toMatchObject({
    status: 'Killed',
    killedBy: ['0'],
    statusReason: expect.stringContaining('m.repl:2:1'),
  })
  expect(file.testFiles).toEqual({ 'm.repl': { tests: [{ id: '0', name: 'm.repl' }] } })
})

it('newcut test --mutate refuses failing tests, unknown paths, and options of tests without faults', async () => {
  const fail = async (...args: string[]) => {
    const { status, stderr } = await mutate('--mutate-cache', 'off', ...args)
    return [status, stderr.trim()]
  }
  expect(await fail('--mutate-only', 'other.pact')).toEqual([
    2,
    'newcut: --mutate-only: the tests load no modules from other.pact (name a file that they load, or a folder of such files) [BAD_OPTION]',
  ])
  expect(await fail('--tap')).toEqual([
    2,
    'newcut: --tap has no effect: --mutate reports faults only (leave one of them out) [BAD_OPTION]',
  ])
  write('m.repl', '(load "m.pact")\n(expect "pays" 4 (m.pay 2))')
  expect(await fail()).toEqual([
    1,
    'newcut: the tests fail without any fault: m.repl:2:1: pays: expected 4, got 3 (repair them first; newcut test shows all failures) [BAD_INPUT]',
  ])
})

it('a cache that cannot be written is a warning, and a damaged one is empty', async () => {
  write('verdicts.json', '{"version":')
  expect((await mutate('--mutate-cache', 'verdicts.json')).lines.at(-2)).toMatch(/^6 runs of test files, 0 verdicts/)
  const { status, stderr } = await mutate('--mutate-cache', 'm.repl/verdicts.json')
  expect(status).toBe(0)
  expect(stderr).toMatch(/^--mutate-cache m\.repl\/verdicts\.json: the next run begins without results: /)
})
