/** Tracefiles of lcov: the rules by which lcov 1.16 and 2 refuse one, for counts of every shape. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BranchCount, type FileCounts, lineHits } from '../../src/language/contracts/coverage/counts.ts'
import { lcovText } from '../../src/language/testing/coverage.ts'
import { itWith, lackOf } from '../needs.ts'
import { randomFrom } from '../random.ts'
import { contractIn } from './contract-in.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'newcut-lcov-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Outcome {
  readonly line: number
  readonly block: string
  readonly hits: string
}

/** A record of a tracefile, by the letters of its lines. */
class LcovRecord {
  readonly #lines: readonly (readonly [key: string, value: string])[]

  constructor(text: string) {
    this.#lines = text.split('\n').map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at), line.slice(at + 1)]
    })
  }

  all(key: string): string[] {
    return this.#lines.filter(([each]) => each === key).map(([, value]) => value)
  }

  count(key: string): number {
    return Number(this.all(key)[0])
  }

  get lines(): Map<number, number> {
    return new Map(this.all('DA').map((each) => each.split(',').map(Number) as [number, number]))
  }

  get outcomes(): Outcome[] {
    return this.all('BRDA').map((each) => {
      const [line, block, , hits] = each.split(',')
      return { line: Number(line), block, hits }
    })
  }
}

const recordsOf = (text: string) =>
  text
    .split('end_of_record\n')
    .slice(0, -1)
    .map((each) => new LcovRecord(each))
const isHit = (count: string | number) => count !== '-' && Number(count) > 0

/** The reasons for which lcov refuses a record. */
function faultsOf(record: LcovRecord): string[] {
  const { lines, outcomes } = record
  const faults: string[] = []
  const need = (holds: boolean, rule: string) => void (holds || faults.push(rule))
  const functions = record.all('FN').map((each) => /^(\d+),(.*)$/.exec(each)?.slice(1) ?? [])
  need(new Set(functions.map(([, name]) => name)).size === functions.length, 'a function has two lines')
  const calls = record.all('FNDA').map((each) => each.split(',', 1)[0])
  need(record.count('FNF') === calls.length && record.count('FNH') === calls.filter(isHit).length, 'functions')
  const hits = outcomes.map((each) => each.hits)
  need(record.count('BRF') === hits.length && record.count('BRH') === hits.filter(isHit).length, 'branches')
  const counts = [...lines.values()]
  need(record.count('LF') === counts.length && record.count('LH') === counts.filter(isHit).length, 'lines')
  for (const line of new Set(outcomes.map((each) => each.line))) {
    const onLine = outcomes.filter((each) => each.line === line)
    need(lines.has(line), `line ${line} has branches and does not count`)
    const isReached = onLine.some((each) => isHit(each.hits))
    need(isReached === isHit(lines.get(line) ?? 0), `line ${line} and its branches differ`)
    for (const block of new Set(onLine.map((each) => each.block))) {
      const taken = onLine.filter((each) => each.block === block).map((each) => each.hits)
      need(taken.every((each) => each === '-') || taken.some(isHit), `block ${block} has zeros only`)
      need(taken.every((each) => each === '-') || !taken.includes('-'), `block ${block} is partly evaluated`)
    }
  }
  return faults
}

/** Counts in which all that can differ on a line does: forms, functions and branches, each run or not. */
function randomCounts(random: () => number, file: string): FileCounts {
  const upTo = (limit: number) => Math.floor(random() * limit)
  const some = <T>(limit: number, make: () => T): T[] => Array.from({ length: upTo(limit) }, make)
  let column = 0
  const place = () => ({ line: 1 + upTo(12), column: ++column })
  const hits = () => (random() < 0.5 ? 0 : 1 + upTo(5))
  const branches = some(8, (): BranchCount => {
    const outcomes = ['one', 'other', 'none'].slice(0, 2 + upTo(2))
    const isReached = random() < 0.6
    return { ...place(), kind: 'if', name: '', outcomes, hits: outcomes.map(() => (isReached ? hits() : 0)) }
  })
  const functions = some(6, () => ({ ...place(), name: `m.f${upTo(4)}`, hits: hits() }))
  // Each branch has code at its place or after it.
  const last = { line: 13, column: 1, hits: hits() }
  return { file, points: [...some(14, () => ({ ...place(), hits: hits() })), last], functions, branches }
}

function genhtmlOf(text: string): { readonly status: number | null; readonly out: string; readonly err: string } {
  const out = join(folder, 'all.info')
  writeFileSync(out, text)
  const args = ['--branch-coverage', '--output-directory', join(folder, 'html'), out]
  const { status, stdout, stderr } = spawnSync('genhtml', args, { encoding: 'utf8', cwd: folder })
  return { status, out: stdout, err: stderr }
}

describe('tracefiles of lcov', () => {
  it('a tracefile keeps the rules of lcov for counts of every shape', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const counts = randomCounts(randomFrom(seed), 'a.pact')
      const [record] = recordsOf(lcovText([counts], (file) => file))
      expect(faultsOf(record), `seed ${seed}`).toEqual([])
      expect([...record.lines]).toEqual([...lineHits(counts)])
      // All branches are there, except where the line ran and none of them did.
      const ofRunLines = counts.branches.filter(
        ({ line, hits }) => isHit(lineHits(counts).get(line) ?? 0) && hits.some(isHit),
      )
      expect(record.count('BRH')).toBeGreaterThanOrEqual(ofRunLines.flatMap(({ hits }) => hits.filter(isHit)).length)
    }
  })

  it('a tracefile leaves out branches that were not reached on a line that ran, and keeps their neighbours', async () => {
    writeFileSync(
      join(folder, 'partly.pact'),
      `(module partly G
         (defcap G () true)
         (defcap IN-VAIN () true)
         (defun empty (xs:[integer]) (map (lambda (x) (if (> x 0) 1 2)) xs))
         (defun nested (x:bool y:bool) (if x 1 (if y 2 3)))
         (defun fails (x:integer) (if (> (/ 1 x) 1) 1 2))
         (defun vain () (require-capability (IN-VAIN)))
         (defpact two ()
           (step-with-rollback

             (+ 1 2)
             (+ 3 4))
           (step 5)))
       (module twice G (defcap G () true)
         (defun f () 1))
       (module twice G (defcap G () true)
         (defun f () 2))`,
    )
    const lines = [
      ...['(env-data {})', '(begin-tx)', '(load "partly.pact")', '(use partly)', '(empty [])', '(nested true true)'],
      ...['(expect-failure "0" (fails 0))', '(expect-failure "not held" (vain))', '(two)', '(twice.f)'],
    ]
    writeFileSync(join(folder, 'partly.repl'), lines.join('\n'))
    const out = join(folder, 'partly.info')
    const { status, stderr } = await contractIn(folder, ['partly.repl', '--lcov', out])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const text = readFileSync(out, 'utf8')
    const [record] = recordsOf(text)
    expect(faultsOf(record)).toEqual([])
    expect(record.all('FN').filter((each) => each.includes('twice.f'))).toEqual(['15,twice.f', '17,twice.f:17:10'])
    const branches = record.all('BRDA')
    // The line of `empty` and of `fails` ran without an outcome, and that of IN-VAIN did not run.
    expect(branches.filter((each) => /^[46],/.test(each))).toEqual([])
    expect(branches.filter((each) => each.startsWith('3,'))).toEqual(['3,1,0,-', '3,1,1,-'])
    expect(branches.filter((each) => each.startsWith('5,'))).toEqual(['5,3,0,1', '5,3,1,0', '5,4,0,-', '5,4,1,-'])
    expect(branches.filter((each) => each.startsWith('11,'))).toEqual(['11,6,0,1', '11,6,1,0'])
    if (lackOf('genhtml') === null) expect(genhtmlOf(text)).toMatchObject({ status: 0, err: '' })
  })

  itWith(
    lackOf('genhtml'),
    'genhtml of lcov takes tracefiles with counts of every shape, with the same figures',
    () => {
      const files = Array.from({ length: 40 }, (_, i) => randomCounts(randomFrom(i + 1), `f${i}.pact`))
      for (const { file } of files) writeFileSync(join(folder, file), 'line\n'.repeat(13))
      const text = lcovText(files, (file) => file)
      const records = recordsOf(text)
      const { status, out, err } = genhtmlOf(text)
      expect(err).toBe('')
      expect(status).toBe(0)
      for (const [word, hit, all] of [
        ['lines', 'LH', 'LF'],
        ['branches', 'BRH', 'BRF'],
      ] as const) {
        const sum = (key: string) => records.reduce((total, each) => total + each.count(key), 0)
        expect(out).toMatch(new RegExp(`${word}\\.*: [\\d.]+% \\(${sum(hit)} of ${sum(all)} ${word}\\)`))
      }
    },
  )
})
