/** Reports and checks of `newcut contract` after all files have run: gas, coverage, results for other programs. */
import { writeFileSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { NewcutError } from '../base/errors.ts'
import { merged } from '../contracts/repl/run-observer.ts'
import { coverageLines, lcovText, percentOf, totalReach } from './coverage.ts'
import { type CoveredFiles, type FileOutcome, shown } from './files.ts'
import { gasReportLines, gasRows } from './gas.ts'
import { type FileTests, junitText } from './results.ts'
import { readSnapshot, SNAPSHOT, snapshotDifferences, snapshotOf, writeSnapshot } from './snapshot.ts'

export interface RunReportOptions {
  readonly gasReport: boolean
  readonly gasSnapshot: boolean
  /** Compares with the snapshot instead of writing it. */
  readonly check: boolean
  /** Per cent by which gas may differ from the snapshot. */
  readonly tolerance: number
  /** Null measures no coverage. */
  readonly coverage: CoveredFiles | null
  readonly lcov: string | undefined
  /** Least per cent of lines, and of branches; null for no bound. */
  readonly coverageMin: { readonly lines: number; readonly branches: number } | null
  readonly junit: string | undefined
  readonly json: boolean
}

/** Prints and writes all reports. @returns false if a check failed */
export function reportRun(
  outcomes: readonly FileOutcome[],
  tests: readonly FileTests[],
  options: RunReportOptions,
  print: (line: string) => void,
): boolean {
  if (options.junit !== undefined) writeReport('--junit', options.junit, junitText(tests))
  reportGas(outcomes, options, print)
  const isGasFine = checkGas(outcomes, options, print)
  const isCovered = reportCoverage(outcomes, options, print)
  return isGasFine && isCovered
}

function reportGas(outcomes: readonly FileOutcome[], { gasReport, json }: RunReportOptions, print: Print): void {
  if (!gasReport) return
  const rows = gasRows(outcomes.map(({ findings }) => findings.gasCalls))
  if (json) print(JSON.stringify({ gasReport: rows }))
  else for (const line of gasReportLines(rows)) print(line)
}

type Print = (line: string) => void

function checkGas(outcomes: readonly FileOutcome[], options: RunReportOptions, print: Print): boolean {
  const { gasSnapshot, check, tolerance } = options
  if (!gasSnapshot && !check) return true
  const now = snapshotOf(
    outcomes.flatMap(({ report }) => report.cases),
    shown,
  )
  if (!check) {
    writeSnapshot(now)
    print(`${SNAPSHOT}: gas of ${now.size} tests`)
    return true
  }
  const files = outcomes.flatMap(({ read }) => read.map(shown))
  const differences = snapshotDifferences(readSnapshot(), now, { tolerance, files })
  for (const line of differences) print(line)
  print(differences.length === 0 ? `${SNAPSHOT}: no test differs` : `${SNAPSHOT}: ${counted(differences.length)}`)
  return differences.length === 0
}

function reportCoverage(outcomes: readonly FileOutcome[], options: RunReportOptions, print: Print): boolean {
  const { coverage, lcov, coverageMin } = options
  if (coverage === null) return true
  const files = merged(outcomes.map(({ findings }) => findings.coverage))
  for (const line of coverageLines(files, shown)) print(line)
  if (lcov !== undefined) writeReport('--lcov', lcov, lcovText(files, sourcePath))
  if (coverageMin === null) return true
  const { lines, branches } = totalReach(files)
  const low = [
    ...(percentOf(lines) < coverageMin.lines
      ? [`${percentOf(lines).toFixed(1)} % of lines, not ${coverageMin.lines} %`]
      : []),
    ...(percentOf(branches) < coverageMin.branches
      ? [`${percentOf(branches).toFixed(1)} % of branches, not ${coverageMin.branches} %`]
      : []),
  ]
  for (const each of low) print(`coverage is too low: ${each}`)
  return low.length === 0
}

/** Path of a source file in a tracefile: relative if it is below the working directory. */
function sourcePath(file: string): string {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}

/** Throws NewcutError BAD_OPTION if the file cannot be written. */
function writeReport(flag: string, file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new NewcutError('BAD_OPTION', `${flag} cannot write ${file} (${(error as NodeJS.ErrnoException).code})`)
  }
}

const counted = (tests: number) => (tests === 1 ? '1 test differs' : `${tests} tests differ`)
