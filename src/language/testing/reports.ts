/** Reports and checks after all files have run: gas, coverage, results for other programs. */
import { isAbsolute, relative } from 'node:path'
import { mergeCounts } from '../contracts/repl/run-observer.ts'
import { coverageLines, lcovText, percentOf, totalCoverage } from './coverage.ts'
import { type CoveredFiles, displayPath, type FileOutcome } from './files.ts'
import { gasReportLines, gasRows } from './gas.ts'
import { type FileTests, junitReport } from './results.ts'
import { type GasSnapshot, SNAPSHOT, snapshotDifferences, snapshotOf } from './snapshot.ts'

export interface RunReportOptions {
  readonly gasReport: boolean
  readonly gasSnapshot: boolean
  /** Compares with the snapshot instead of writing it. */
  readonly check: boolean
  /** Per cent by which gas may differ from the snapshot. */
  readonly tolerance: number
  /** Null measures no coverage. */
  readonly coverage: CoveredFiles | null
  /** Least per cent of lines, and of branches; null for no bound. */
  readonly coverageMin: { readonly lines: number; readonly branches: number } | null
  readonly json: boolean
}

/** Where reports go, and where the snapshot of gas is kept. */
export interface ReportPlaces {
  readonly print: (line: string) => void
  /** Writes results as JUnit XML; null for no such file. */
  readonly writeJunit: ((text: string) => void) | null
  /** Writes the coverage for lcov tools; null for no such file. */
  readonly writeLcov: ((text: string) => void) | null
  readonly readSnapshot: () => GasSnapshot
  readonly writeSnapshot: (snapshot: GasSnapshot) => void
}

/** Prints and writes all reports. @returns false if a check failed */
export function reportRun(
  outcomes: readonly FileOutcome[],
  tests: readonly FileTests[],
  options: RunReportOptions,
  places: ReportPlaces,
): boolean {
  places.writeJunit?.(junitReport(tests))
  reportGas(outcomes, options, places.print)
  const isGasFine = checkGas(outcomes, options, places)
  const isCovered = reportCoverage(outcomes, options, places)
  return isGasFine && isCovered
}

function reportGas(
  outcomes: readonly FileOutcome[],
  { gasReport, json }: RunReportOptions,
  print: ReportPlaces['print'],
): void {
  if (!gasReport) return
  const rows = gasRows(outcomes.map(({ findings }) => findings.gasCalls))
  if (json) print(JSON.stringify({ gasReport: rows }))
  else for (const line of gasReportLines(rows)) print(line)
}

function checkGas(outcomes: readonly FileOutcome[], options: RunReportOptions, places: ReportPlaces): boolean {
  const { print } = places
  const { gasSnapshot, check, tolerance } = options
  if (!gasSnapshot && !check) return true
  const now = snapshotOf(
    outcomes.flatMap(({ report }) => report.cases),
    displayPath,
  )
  if (!check) {
    places.writeSnapshot(now)
    print(`${SNAPSHOT}: gas of ${now.size} tests`)
    return true
  }
  const files = outcomes.flatMap(({ read }) => read.map(displayPath))
  const differences = snapshotDifferences(places.readSnapshot(), now, { tolerance, files })
  for (const line of differences) print(line)
  print(differences.length === 0 ? `${SNAPSHOT}: no test differs` : `${SNAPSHOT}: ${countText(differences.length)}`)
  return differences.length === 0
}

function reportCoverage(outcomes: readonly FileOutcome[], options: RunReportOptions, places: ReportPlaces): boolean {
  const { print, writeLcov } = places
  const { coverage, coverageMin } = options
  if (coverage === null) return true
  const files = mergeCounts(outcomes.map(({ findings }) => findings.coverage))
  for (const line of coverageLines(files, displayPath)) print(line)
  writeLcov?.(lcovText(files, sourcePath))
  if (coverageMin === null) return true
  const { lines, branches } = totalCoverage(files)
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
export function sourcePath(file: string): string {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}

const countText = (tests: number) => (tests === 1 ? '1 test differs' : `${tests} tests differ`)
