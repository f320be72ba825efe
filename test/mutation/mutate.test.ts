/** Planted faults of a project on the disk: threads, reach, the cache of verdicts, and what the report says. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { envForkOptions } from '../../src/commands/input/env-fork.ts'
import { countMutants, mutationLines, plantFaults } from '../../src/language/mutation/mutate.ts'
import { runCode } from '../../src/language/testing/programs.ts'

const CONTRACT = `(module m G
  (defcap G () true)
  (defun pay (n:integer)
    (enforce (> n 0) "positive")
    (+ n 1))
  (defun fee (n:integer) (* n 2))
  (defun unused (n:integer) (- n 3)))
`
const OTHER = '(module o G (defcap G () true) (defun ten () 10))'
const PAY = '(load "m.pact")\n(expect "pays" 3 (m.pay 2))\n(expect-failure "positive" "positive" (m.pay 0))'
const FEE = '(load "m.pact")\n(load "lib/o.pact")\n(expect "is twice" 4 (m.fee 2))\n(o.ten)'

let folder = ''
let stored: string | null = null
const before = process.cwd()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newcut-mutation-'))
  mkdirSync(join(folder, 'lib'))
  stored = null
  write('m.pact', CONTRACT)
  write('lib/o.pact', OTHER)
  write('pay.repl', PAY)
  write('fee.repl', FEE)
  process.chdir(folder)
})

afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true })
})

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)

const plant = (changes: { only?: string[]; match?: string; jobs?: number; files?: string[] } = {}) =>
  plantFaults({
    files: changes.files ?? ['pay.repl', 'fee.repl'],
    choices: { chance: { seed: 1, runs: 16 }, match: changes.match ?? null },
    covered: { dependencies: false, excluded: [] },
    only: changes.only ?? null,
    jobs: changes.jobs ?? 1,
    fork: null,
    optionsOf: (call) => envForkOptions(call, {}),
    store: {
      read: () => stored,
      write: (text) => {
        stored = text
      },
    },
  })

type Result = Awaited<ReturnType<typeof plant>>
const namesOf = ({ mutants }: Result, status: string) =>
  mutants.filter((each) => each.status === status).map((each) => `${each.line}:${each.column} ${each.operator}`)

it('planted faults run with the test files that reach them, in one thread as in several', async () => {
  const result = await plant()
  expect(result.passed).toBe(3)
  expect(namesOf(result, 'survived')).toEqual(['4:19 constant'])
  expect(namesOf(result, 'unreached')).toEqual(['7:30 arithmetic', '7:34 off-by-one'])
  expect(namesOf(result, 'killed')).toEqual([
    '4:5 remove-enforce',
    '4:15 boundary',
    '4:15 opposite',
    '5:6 arithmetic',
    '5:10 constant',
    '6:26 off-by-one',
    '6:27 arithmetic',
    '6:31 off-by-one',
  ])
  const fee = result.mutants.filter(({ line }) => line === 6)
  expect(fee.map(({ tests, killedBy, killer }) => [tests, killer, killedBy?.at])).toEqual(
    fee.map(() => [['fee.repl'], 'fee.repl', 'fee.repl:3:1']),
  )
  stored = null
  expect((await plant({ jobs: 3 })).mutants).toEqual(result.mutants)
})

it('a second run needs no run of a test file, and a change only those that it affects', async () => {
  const first = await plant()
  expect([first.runs, first.known]).toEqual([9, 0])
  const second = await plant()
  expect([second.runs, second.known]).toEqual([0, 9])
  expect(second.mutants).toEqual(first.mutants)
  // Three faults of fee run in this file alone, and those of pay are not affected.
  write('fee.repl', `${FEE}\n(expect "is 0" 0 (m.fee 0))`)
  expect((({ runs, known }) => [runs, known])(await plant())).toEqual([3, 6])
  write('lib/o.pact', OTHER.replace('10', '11'))
  expect((({ runs, known }) => [runs, known])(await plant())).toEqual([3, 6])
  write('m.pact', CONTRACT.replace('"positive"', '"positive please"'))
  expect((({ runs, known }) => [runs, known])(await plant())).toEqual([9, 0])
  stored = `${stored}?`
  expect((await plant()).runs).toBe(9)
})

it('a change of a test that does not kill a fault leaves the verdict of the one that does', async () => {
  write('both.repl', `${PAY}\n(m.fee 1)`)
  const files = ['pay.repl', 'fee.repl', 'both.repl']
  await plant({ files })
  write('both.repl', `${PAY}\n(m.fee 2)`)
  const { runs, known } = await plant({ files })
  // The survivor runs again in the changed file; so does what an earlier file let through.
  expect(known).toBeGreaterThan(4)
  expect(runs).toBeLessThan(8)
})

it('faults go into dependencies only if they are named, and into named files alone', async () => {
  const result = await plant({ only: ['lib'] })
  expect(result.mutants.map(({ file, operator, status }) => [file, operator, status])).toEqual([
    ['lib/o.pact', 'off-by-one', 'survived'],
  ])
  await expect(plant({ only: ['libs'] })).rejects.toThrow('`mutate-only`: the tests load no modules from libs')
})

it('expectations of other names than --match asks for notice no fault', async () => {
  expect(namesOf(await plant({ match: 'pays' }), 'survived')).toContain('4:5 remove-enforce')
})

it('tests that fail without a fault, also for want of a fork, are refused in words', async () => {
  write('pay.repl', PAY.replace('3 (m', '4 (m'))
  await expect(plant()).rejects.toThrow('the tests fail without any fault: pay.repl:2:1: pays: expected 4, got 3')
  write('pay.repl', '(env-fork "http://127.0.0.1:1" {"cutt": 1})')
  await expect(plant()).rejects.toThrow(
    'the file runs to its end: env-fork: "cutt" is not an option; did you mean cut?',
  )
  write('pay.repl', '(load "missing.pact")')
  await expect(plant()).rejects.toThrow('the file runs to its end: cannot read missing.pact')
  write('pay.repl', '(expect "1" 1 1)')
  await expect(plant({ files: ['pay.repl'] })).rejects.toThrow('the tests reach no modules')
})

it('a fault that makes the code run without end counts as killed, and the report says so', async () => {
  const { lines, score } = await reportOf(
    CONTRACT.replace('(* n 2)', '(* n (length (enumerate 1 (/ 2000000 1000000))))'),
  )
  expect(lines).toContain('1 mutant without end, killed by the count of work')
  expect(score).toBeGreaterThan(50)
})

it('the report shows survivors as differences, silenced ones with their reasons, and a table', async () => {
  const { lines, ...others } = await reportOf(CONTRACT)
  expect(lines).toEqual([
    'SURVIVED m.pact:4:19: constant in m.pay',
    '  - (enforce (> n 0) "positive")',
    '  + (enforce (> n 1) "positive")',
    '  no test noticed that 0 became 1; it ran in pay.repl',
    '',
    'operator            killed  survived    score',
    'remove-enforce           1         0  100.0 %',
    'boundary                 1         0  100.0 %',
    'opposite                 1         0  100.0 %',
    'off-by-one               2         0  100.0 %',
    'constant                 1         1   50.0 %',
    'arithmetic               2         0  100.0 %',
    'all                      8         1   88.8 %',
    'no test reaches the code of 2 mutants: m.pact:7',
    '9 runs of test files, 0 verdicts known from earlier runs',
  ])
  expect(others).toEqual({ score: 100 * (8 / 9), ignored: [] })
})

it('a comment silences a survivor with its reason, and nothing that a test notices', async () => {
  const silenced = CONTRACT.replace('"positive")', '"positive") ; newcut-mutate: ignore it is positive').replace(
    '    (+ n 1))',
    '    ;; newcut-mutate: ignore arithmetic: it is a sum\n    (+ n 1))',
  )
  const { lines, ...others } = await reportOf(silenced)
  expect(others).toEqual({ score: 100, ignored: ['4:19 constant'] })
  expect(lines).toContain('m.pact:4:19: constant is silenced: it is positive')
  expect(lines).toContain('m.pact:5: the comment silences nothing')
  expect(lines.filter((line) => line.includes('SURVIVED'))).toEqual([])
})

it('an expectation that fails after any change of a contract counts for no fault, and the report names it', async () => {
  const hash = '(at "hash" (describe-module "m"))'
  const known = runCode(`${CONTRACT}\n${hash}`, { name: 'm.repl' }).value
  write('pay.repl', `(load "m.pact")\n(expect "the hash is known" ${known} ${hash})\n(expect "pays" 3 (m.pay 2))`)
  const { lines } = await reportOf(CONTRACT)
  expect(lines).toContain(
    'pay.repl:2:1: "the hash is known" fails after any change of a contract, and counts for no fault',
  )
  expect(lines).toContain('SURVIVED m.pact:4:5: remove-enforce in m.pay')
  expect(lines.at(-1)).toMatch(/^9 runs /)
})

async function reportOf(contract: string) {
  write('m.pact', contract)
  const result = await plant()
  const { score } = countMutants(result.mutants)
  return { lines: mutationLines(result).map(({ text }) => text), score, ignored: namesOf(result, 'ignored') }
}
