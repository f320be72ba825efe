/** Texts of `newcut test` at their limits: gas, snapshots, coverage, TAP and JUnit. */
import { join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveLayers } from '../../src/faces/cli/config.ts'
import { refuseWithoutEffect } from '../../src/faces/cli/options/needs.ts'
import { testOptions } from '../../src/faces/cli/options/test.ts'
import {
  type BranchCount,
  CoverageCounter,
  type FileCounts,
  mergeCounts,
} from '../../src/language/contracts/coverage/counts.ts'
import type { DeployedSize } from '../../src/language/contracts/machine/tracer.ts'
import { coverageLines, lcovText, percentOf } from '../../src/language/testing/coverage.ts'
import { type FileOutcome, runTestFile } from '../../src/language/testing/files.ts'
import { gasReportLines, gasRows, shortGas } from '../../src/language/testing/gas.ts'
import { reportRun } from '../../src/language/testing/reports.ts'
import { junitReport, type TestResult, tapLines, testsOf } from '../../src/language/testing/results.ts'
import { runTestFiles } from '../../src/language/testing/run.ts'
import { goneTests, snapshotDifferences, snapshotOf } from '../../src/language/testing/snapshot.ts'
import { run } from '../cli/run.ts'
import { contractIn } from './contract-in.ts'

describe('gas', () => {
  it.each([
    [1, '0.001'],
    [9_999, '9.999'],
    [10_000, '10.00'],
    [99_990, '99.99'],
    [100_000, '100'],
    [1_234_567, '1235'],
  ])('shortGas prints %i milligas as %s', (milligas, text) => expect(shortGas(milligas)).toBe(text))

  it('a gas report lists functions that cost nothing, not natives, and no functions of the test', () => {
    const calls = (key: readonly string[], total: number, size?: DeployedSize) => {
      return { key: key.join('\n'), totals: [total], own: total, ...(size && { size }) }
    }
    const lines = gasReportLines(
      gasRows([
        [calls(['function', 'm', 'free'], 0), calls(['function', '#test', 'own'], 7), calls(['native', '', 'nil'], 0)],
        [
          calls(['row', 'm', 'update t'], 9),
          calls(['deploy', 'm', 'module'], 5, { source: 123, stored: 456, surplus: 0 }),
        ],
      ]),
    )
    expect(lines.map((line) => line.trim().split(/ +/)[0])).toEqual([
      'm',
      'calls',
      'free',
      'rows',
      'calls',
      'update',
      'deployment',
      'times',
      'm',
    ])
    expect(lines[5]).toContain('  update m.t ')
    expect(lines.at(-1)?.trim().split(/ +/)).toEqual(['m', '1', '0.005', '123', '456'])
  })
})

describe('a snapshot', () => {
  const differences = (was: number, is: number, tolerance = 0) => {
    const [before, now] = [was, is].map((gas) => new Map([['a.repl:t', gas]]))
    return snapshotDifferences(before, { gas: now, isGone: () => false }, tolerance)
  }

  it('a snapshot accepts a difference of exactly the tolerance, up and down', () => {
    expect(differences(10, 11, 10)).toEqual([])
    expect(differences(10, 9, 10)).toEqual([])
    expect(differences(7, 7)).toEqual([])
    expect(differences(10, 12, 10)).toEqual(['a.repl:t: gas 10 -> 12 (+2, +20.00 %)'])
    expect(differences(10, 8, 10)).toEqual(['a.repl:t: gas 10 -> 8 (-2, -20.00 %)'])
    expect(differences(0, 3, 10)).toEqual(['a.repl:t: gas 0 -> 3 (+3)'])
  })

  it('a snapshot misses tests of the files that ran, not of others with a longer name', () => {
    const before = new Map(['a.repl:t', 'a.repl.repl:t'].map((test) => [test, 1] as const))
    const isGone = goneTests({ whole: new Set(['a.repl']), own: new Set(['a.repl']), isDeleted: () => false })
    expect(snapshotDifferences(before, { gas: new Map(), isGone }, 0)).toEqual(['a.repl:t: gone, gas was 1'])
  })

  it('a snapshot has one line for each test with its gas rounded up, and no property tests', () => {
    const testCase = (name: string, milligas: number | null) => {
      return { file: '/x/a.repl', place: { line: 0, column: 0 }, name, what: null, detail: null, milligas, ms: 0 }
    }
    const cases = [testCase('two\n lines', 1001), testCase('p', null), testCase('b', 2000), testCase('b', 1)]
    const snapshot = snapshotOf(cases, (file) => file.slice(3))
    expect([...snapshot]).toEqual([
      ['a.repl:b', 2],
      ['a.repl:b (2)', 1],
      ['a.repl:two lines', 2],
    ])
  })
})

it('a thread that throws ends the run with its error', async () => {
  const file = join('test', 'contracts', 'coverage', 'token.repl')
  const runs = { seed: 1, runs: 1 }
  const coverage = { dependencies: false, excluded: [7 as unknown as string] }
  const questions = { traces: 'none', hasGas: false, runs, coverage } as const
  await expect(runTestFiles([file, file], questions, 2)).rejects.toThrow(/must be of type string/)
})

describe('results', () => {
  const result = (parts: Partial<TestResult>): TestResult => ({
    name: 'n',
    at: 'a.repl',
    location: { file: resolve('a.repl'), place: null },
    isEnd: false,
    isSkipped: false,
    what: null,
    detail: null,
    gas: null,
    milligas: null,
    ms: 1.5,
    ...parts,
  })
  const location = { file: resolve('a.repl'), place: { line: 2, column: 6 } }
  const tests = [
    result({ name: 'a\\b #c\nd', at: 'a.repl:3:7', location, gas: 2 }),
    result({ name: 'bad\u0001\ud800', what: 'one\ntwo' }),
    result({ name: 'other', isSkipped: true }),
  ]

  it('TAP results have names without directives', () => {
    const lines = tapLines([{ file: 'a.repl', tests }])
    expect(lines.at(-1)).toBe('ok 3 - a.repl: other # SKIP its name does not match')
    expect(lines.slice(1, 4)).toEqual(['1..3', 'ok 1 - a.repl: a\\\\b \\#c d', 'not ok 2 - a.repl: bad\u0001\ud800'])
  })

  it('JUnit results have only characters that XML allows, the time of each test, and its gas', () => {
    const xml = junitReport([{ file: 'a.repl', tests }])
    expect(xml).toContain('<testcase classname="a.repl" name="a\\b #c&#10;d" time="0.002">')
    expect(xml).toContain('<system-out>gas 2</system-out>')
    expect(xml).toContain('name="bad\ufffd\ufffd" time="0.002">')
    expect(xml).toContain(
      '<testsuite name="a.repl" tests="3" failures="1" errors="0" skipped="1" time="0.005" file="a.repl">',
    )
    expect(xml).toContain('<skipped message="its name does not match"/>')
    expect(xml).toContain('<failure message="one&#10;two">a.repl: one&#10;two</failure>')
  })

  it('results round gas up, and count an early end as one more test', () => {
    const place = { line: 1, column: 2 }
    const [detail, ms] = [null, 3]
    const report = { cases: [{ file: 'f', place, name: 'n', what: null, detail, milligas: 1, ms }], stopped: null }
    const stopped = { file: 'f', place: null, calledAt: null, message: 'no', wireMessage: 'no' }
    const of = (parts: object) => {
      const outcome = { file: 'f', report: { ...report, ...parts } } as unknown as Parameters<typeof testsOf>[0]
      return testsOf(outcome).tests
    }
    const at = relative(process.cwd(), 'f')
    const first = result({ at: `${at}:2:3`, location: { file: 'f', place }, gas: 1, milligas: 1, ms })
    expect(of({})).toEqual([first])
    const end = { name: 'the file runs to its end', at, location: { file: 'f', place: null }, isEnd: true, what: 'no' }
    expect(of({ stopped })).toEqual([first, result({ ...end, ms: 0 })])
  })
})

describe('coverage', () => {
  const point = (line: number, hits: number) => ({ line, column: 1, hits })
  const branch = (line: number, hits: number[], kind: BranchCount['kind'] = 'if'): BranchCount => {
    return { line, column: 2, kind, name: kind === 'defcap' ? 'm.C' : '', outcomes: ['then', 'else'], hits }
  }
  const counts = (parts: Partial<FileCounts>): FileCounts => {
    return { file: 'm.pact', points: [], functions: [], branches: [], ...parts }
  }
  const missed = (parts: Partial<FileCounts>) => coverageLines([counts(parts)], (file) => file).slice(2)

  it('coverage counts branches of one line apart, and sorts files by name', () => {
    const made = ['b', 'a'].map((name) => {
      const file = new CoverageCounter(name)
      for (const column of [0, 5]) file.branchAt({ line: 0, column }, 'if', ['then', 'else'])
      return [file.counts]
    })
    const files = mergeCounts(made)
    expect(files.map(({ file, branches }) => [file, branches.length])).toEqual([
      ['a', 2],
      ['b', 2],
    ])
  })

  it('coverage of a file without code is 100 %, and a single file has no sum', () => {
    expect(percentOf({ hit: 0, all: 0 })).toBe(100)
    expect(coverageLines([counts({})], (file) => file)).toHaveLength(2)
    expect(coverageLines([counts({}), counts({ file: 'n' })], (file) => file)[3]).toMatch(/^all files/)
  })

  it('coverage joins lines that never ran across lines without code', () => {
    const points = [point(1, 1), point(2, 0), point(5, 0), point(6, 0), point(8, 3), point(9, 0)]
    expect(missed({ points })).toEqual(['m.pact: lines that never ran: 2-6, 9'])
  })

  it('coverage names outcomes that never occurred, unless their line never ran', () => {
    const points = [point(1, 1), point(2, 0)]
    const branches = [branch(1, [0, 4]), branch(1, [0, 0]), branch(2, [0, 0]), branch(2, [0, 0], 'defcap')]
    expect(missed({ points, branches })).toEqual([
      'm.pact: lines that never ran: 2',
      'm.pact:1:2: if: never then',
      'm.pact:1:2: if: never ran',
      'm.pact:2:2: capability m.C was never used',
    ])
    expect(missed({ branches: [branch(1, [2, 0], 'defcap'), branch(1, [1, 1], 'defcap')] })).toEqual([
      'm.pact:1:2: capability m.C was never refused',
    ])
  })

  /** Prints and writes the reports of a run with these counts. */
  const reported = (files: readonly FileCounts[], options: Partial<Parameters<typeof reportRun>[2]>) => {
    const findings = { traces: [], gasCalls: [{ key: 'native\n\nf', totals: [7], own: 7 }], coverage: files }
    const outcome = { file: 'a', findings, read: [], report: { cases: [] } } as unknown as FileOutcome
    const coverage = { dependencies: false, excluded: [] }
    const none = {
      gasReport: false,
      gasSnapshot: false,
      check: false,
      tolerance: 0,
      json: false,
      match: null,
      folders: [],
    }
    const lines: string[] = []
    const all = { ...none, coverage, coverageMin: null, ...options }
    let lcov = ''
    const isFine = reportRun([outcome], [], all, {
      print: (line) => lines.push(line),
      writeJunit: null,
      annotate: null,
      writeLcov: (text) => {
        lcov = text
      },
      readSnapshot: () => new Map(),
      writeSnapshot: () => undefined,
    })
    return { lines, isFine, lcov }
  }
  const half = { points: [point(1, 1), point(2, 0)], branches: [branch(1, [0, 4])] }

  it('coverage of exactly the minimum passes', () => {
    const least = (lines: number, branches: number) => reported([counts(half)], { coverageMin: { lines, branches } })
    expect(least(50, 50).isFine).toBe(true)
    expect(least(51, 0).isFine).toBe(false)
    expect(least(0, 51).isFine).toBe(false)
    expect(least(51, 51).lines.slice(-2)).toEqual([
      'coverage is too low: 50.0 % of lines, not 51 %',
      'coverage is too low: 50.0 % of branches, not 51 %',
    ])
  })

  it('an lcov report has relative paths below the working directory, and absolute ones elsewhere', () => {
    const files = ['test/m.pact', '/elsewhere/n.pact'].map((file) => counts({ ...half, file: resolve(file) }))
    const paths = reported(files, {}).lcov.match(/^SF:.*$/gm)
    expect(paths?.toSorted()).toEqual(['SF:/elsewhere/n.pact', 'SF:test/m.pact'])
  })

  it('coverage leaves out excluded files and folders, not others whose names begin so', () => {
    const folder = join('test', 'contracts', 'coverage')
    const covered = (...excluded: string[]) => {
      const questions = { traces: 'none', hasGas: false, runs: { seed: 1, runs: 1 } } as const
      const coverage = { dependencies: false, excluded: excluded.map((each) => join(folder, each)) }
      return runTestFile(join(folder, 'token.repl'), { ...questions, coverage }).findings.coverage.length
    }
    expect(covered()).toBe(1)
    expect(covered('tok', 'token')).toBe(1)
    expect(covered('token.pact')).toBe(0)
    expect(covered('.')).toBe(0)
  })

  it('a gas report is one JSON object where all output is JSON', () => {
    const { lines } = reported([], { gasReport: true, json: true, coverage: null })
    const row = {
      kind: 'native',
      module: '',
      name: 'f',
      calls: 1,
      min: 7,
      mean: 7,
      median: 7,
      max: 7,
      own: 7,
      total: 7,
    }
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ gasReport: [row] }])
  })

  it('an lcov report has a dash for branches that were never evaluated', () => {
    const parts = { points: [point(3, 0), point(4, 2)], branches: [branch(3, [0, 0]), branch(4, [2, 0])] }
    const records = lcovText([counts(parts)], () => 'm.pact').split('\n')
    expect(records.filter((each) => each.startsWith('BRDA'))).toEqual([
      'BRDA:3,0,0,-',
      'BRDA:3,0,1,-',
      'BRDA:4,1,0,2',
      'BRDA:4,1,1,0',
    ])
  })
})

it('newcut test names a folder without test files', async () => {
  const { code, err } = await run(['test', join('test', 'golden')])
  expect(code).toBe(2)
  expect(err).toContain('test/golden: no test file (*.repl) is in it or below')
})

it('newcut test --tap keeps stdout to TAP, and -vvv means -vv', async () => {
  const file = join('test', 'contracts', 'coverage', 'inline.repl')
  const { out, err } = await run(['test', file, '--tap', '--coverage'])
  expect(out).toMatch(/^TAP version 14\n/)
  expect(out).not.toContain('branches')
  expect(err).toContain('branches')
  const all = await contractIn('.', [file, '-vv'])
  expect(all.lines.length).toBeGreaterThan(20)
  expect(await contractIn('.', [file, '-vvv'])).toEqual(all)
})

describe('flags', () => {
  const valuesOf = (flags: Readonly<Record<string, unknown>>) => {
    const config = resolveLayers(testOptions, { orders: {}, flags, environment: {}, content: {}, file: null })
    refuseWithoutEffect(testOptions, config)
    return config.values
  }

  it('newcut test accepts the bounds of every flag', () => {
    const flags = { jobs: '256', runs: '1', seed: '0', 'coverage-min': '100,100%', check: true, tolerance: '10000%' }
    expect(valuesOf(flags)).toMatchObject({
      jobs: 256,
      runs: 1,
      seed: 0,
      tolerance: 10_000,
      'coverage-min': { lines: 100, branches: 100 },
    })
  })

  it.each([
    [{ jobs: '257' }, '--jobs 257: expected a whole number from 1 to 256'],
    [{ runs: '0' }, '--runs 0: expected a whole number from 1 to 1000000'],
    [{ seed: '4294967296' }, '--seed 4294967296: expected a whole number from 0 to 4294967295'],
    [{ 'coverage-min': '100.1' }, '--coverage-min 100.1: expected per cent of lines from 0 to 100'],
    [
      { 'coverage-min': '1,2,3' },
      '--coverage-min 1,2,3: expected per cent of lines from 0 to 100, or of lines,branches',
    ],
    [{ check: true, tolerance: '10001' }, '--tolerance 10001: expected per cent from 0 to 10000'],
    [{ tolerance: '1' }, '--tolerance has no effect: it is for --check'],
    [{ 'coverage-all': true }, '--coverage-all has no effect: no coverage is measured'],
    [{ json: true, tap: true }, '--json has no effect: --tap decides what is printed'],
  ] as const)('newcut test refuses %j', (flags, text) => expect(() => valuesOf(flags)).toThrow(text))
})
