/** Runs test files for programs: results, coverage and gas as data, and in the formats of other tools. */

import { randomInt } from 'node:crypto'
import { operatingError } from '#ground/base/errors.ts'
import { type GasRow, lineHits, mergeCounts } from '../contracts/repl/run-observer.ts'
import { type FileCoverage, fileCoverageOf, lcovText } from './coverage.ts'
import { testingErrors } from './errors.ts'
import type { CoveredFiles, FileRequests } from './files.ts'
import { displayPath } from './files.ts'
import { gasRows } from './gas.ts'
import { sourcePath } from './reports.ts'
import { countTests, junitReport, type TestResult, testsOf } from './results.ts'
import { runTestFiles } from './run.ts'

/** How to run test files. */
export interface TestFilesOptions {
  /** Counts only tests whose names contain this, or match it. All code runs. */
  readonly match?: string | RegExp
  /** Number of files that run at the same time, in threads. Default: one for each processor. */
  readonly jobs?: number
  /** Seed of property tests: a whole number from 0 to 2^32 - 1. Default: random. */
  readonly seed?: number
  /** Runs of each property test. Default: 256. */
  readonly runs?: number
  /** Whether to measure coverage; an object says which files count. Default: false. */
  readonly coverage?: boolean | Partial<CoveredFiles>
  /** Whether to measure the gas of functions, natives and rows. Default: false. */
  readonly gas?: boolean
}

/** A test: an expectation at the top level of a file, or the early end of the file. */
export interface TestFileCase {
  readonly name: string
  /** `file:line:column`, relative to the working directory; lines and columns count from 1. */
  readonly at: string
  /** Expected and actual result of a failure, as a sentence; null if the test has passed. */
  readonly what: string | null
  /** Gas, rounded up; null for property tests, whose gas depends on chance. */
  readonly gas: number | null
  /** How long it ran, in milliseconds. */
  readonly ms: number
}

/** The tests of one file. */
export interface TestFileResult {
  /** The file as it was given. */
  readonly file: string
  readonly tests: readonly TestFileCase[]
  /** Lines that the file printed. */
  readonly output: readonly string[]
}

/** How much of a source file the tests have reached. */
export interface SourceCoverage extends FileCoverage {
  /** Path of the file, relative to the working directory. */
  readonly file: string
  /** Lines that never ran, from 1, ascending. */
  readonly missedLines: readonly number[]
}

/** The results of test files. */
export interface TestFilesReport {
  readonly passed: number
  readonly failed: number
  /** Number of tests whose names do not match. */
  readonly skipped: number
  readonly files: readonly TestFileResult[]
  /** By file in the order of their names; null unless it was measured. */
  readonly coverage: readonly SourceCoverage[] | null
  /** The coverage as `geninfo(1)` of lcov describes it; null unless it was measured. */
  readonly lcov: string | null
  /** Gas in thousandths of a unit (milligas), by function, native and row; null unless it was measured. */
  readonly gas: readonly GasRow[] | null
  /** The results as JUnit XML. */
  readonly junit: string
}

const RUNS = 256

const publicCase = ({ name, at, what, gas, ms }: TestResult): TestFileCase => ({ name, at, what, gas, ms })

/**
 * Runs test files as `newcut test` does. Failed tests are in the report.
 * @param files paths of `.repl` files
 * @throws NewcutError BAD_INPUT for a file that calls `env-fork`: the command opens forks
 */
export async function testFiles(files: readonly string[], options: TestFilesOptions = {}): Promise<TestFilesReport> {
  const { match, jobs, seed = randomInt(2 ** 32), runs = RUNS, coverage = false, gas = false } = options
  const covered = { dependencies: false, excluded: [], ...(coverage !== true && coverage) }
  const chance = { seed, runs }
  const questions: FileRequests = {
    traces: 'none',
    hasGas: gas,
    coverage: coverage === false ? null : covered,
    runs: chance,
  }
  const outcomes = (await runTestFiles(files, questions, jobs)).map((outcome, i) => {
    if (outcome === null) throw operatingError(testingErrors.forkWithoutNetwork, { file: files[i] })
    return outcome
  })
  const results = outcomes.map((outcome) => testsOf(outcome, match ?? null))
  const counts = coverage === false ? null : mergeCounts(outcomes.map(({ findings }) => findings.coverage))
  return {
    ...countTests(results.flatMap(({ tests }) => tests)),
    files: results.map(({ file, tests }, i) => {
      const cases = tests.filter(({ isSkipped }) => !isSkipped).map(publicCase)
      return { file, tests: cases, output: outcomes[i].report.output }
    }),
    coverage:
      counts?.map((each) => {
        const missedLines = [...lineHits(each)].flatMap(([line, hits]) => (hits === 0 ? [line] : []))
        return { file: displayPath(each.file), ...fileCoverageOf(each), missedLines }
      }) ?? null,
    lcov: counts === null ? null : lcovText(counts, sourcePath),
    gas: gas ? gasRows(outcomes.map(({ findings }) => findings.gasCalls)) : null,
    junit: junitReport(results),
  }
}
