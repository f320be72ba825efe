/** Reports and checks after all files have run: gas, coverage, results for other programs. */
import { existsSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { mergeCounts } from '../contracts/repl/run-observer.ts'
import { coverageLines, lcovText, percentOf, totalCoverage } from './coverage.ts'
import { type CoveredFiles, displayPath, type FileOutcome } from './files.ts'
import { gasReportLines, gasRows } from './gas.ts'
import { annotationLines, type FileTests, hasName, junitReport, type TestMatch } from './results.ts'
import {
  type GasSnapshot,
  goneTests,
  mergeSnapshot,
  SNAPSHOT,
  type SnapshotRun,
  snapshotDifferences,
  snapshotOf,
} from './snapshot.ts'

export { type GasSnapshot, parseSnapshot, SNAPSHOT, snapshotText } from './snapshot.ts'

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
  /** Tests that count; the gas of others is neither written nor compared. */
  readonly match: TestMatch
  /** Folders that were searched for test files. */
  readonly folders: readonly string[]
}

/** Where reports go, and where the snapshot of gas is kept. */
export interface ReportPlaces {
  readonly print: (line: string) => void
  /** Writes results as JUnit XML; null for no such file. */
  readonly writeJunit: ((text: string) => void) | null
  /** Writes the coverage for lcov tools; null for no such file. */
  readonly writeLcov: ((text: string) => void) | null
  /** Prints annotations of GitHub workflows, with paths below the folder; null for none. */
  readonly annotate: { readonly print: (line: string) => void; readonly root: string } | null
  /** Reads the snapshot. @param mayBeMissing whether it is empty before it is written */
  readonly readSnapshot: (mayBeMissing: boolean) => GasSnapshot
  readonly writeSnapshot: (snapshot: GasSnapshot) => void
}

/** Prints and writes all reports. @returns false if a check failed */
export function reportRun(
  outcomes: readonly FileOutcome[],
  tests: readonly FileTests[],
  options: RunReportOptions,
  places: ReportPlaces,
): boolean {
  const { annotate } = places
  if (annotate !== null) for (const line of annotationLines(tests, annotate.root)) annotate.print(line)
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
  const { gasSnapshot, check, tolerance } = options
  if (!gasSnapshot && !check) return true
  const run = snapshotRunOf(outcomes, options)
  if (!check) {
    writeGas(outcomes, run, places)
    return true
  }
  const differences = snapshotDifferences(places.readSnapshot(false), run, tolerance)
  for (const line of differences) places.print(line)
  const sum = differences.length === 0 ? 'no test differs' : countText(differences.length)
  places.print(`${SNAPSHOT}: ${sum}`)
  return differences.length === 0
}

/** Tests after an early end did not run, so nothing is written then. */
function writeGas(
  outcomes: readonly FileOutcome[],
  run: SnapshotRun,
  { print, readSnapshot, writeSnapshot }: ReportPlaces,
): void {
  const stopped = outcomes.flatMap(({ file, report }) => (report.stopped === null ? [] : [file]))
  if (stopped.length > 0) {
    print(`${SNAPSHOT}: not written, because ${stopped.join(', ')} ended early`)
    return
  }
  const before = readSnapshot(true)
  const merged = mergeSnapshot(before, run)
  for (const [test, gas] of before) if (!merged.has(test)) print(`${test}: gone, gas was ${gas}`)
  writeSnapshot(merged)
  const others = merged.size - run.gas.size
  const stay = others === 1 ? '; 1 other line stays' : `; ${others} other lines stay`
  print(`${SNAPSHOT}: gas of ${run.gas.size} test${run.gas.size === 1 ? '' : 's'}${others === 0 ? '' : stay}`)
}

/** If the user asks for some tests only, no test is gone. */
function snapshotRunOf(outcomes: readonly FileOutcome[], { match, folders }: RunReportOptions): SnapshotRun {
  const cases = outcomes.flatMap(({ report }) => report.cases)
  const gas = snapshotOf(cases, displayPath, ({ name }) => hasName(name, match))
  if (match !== null) return { gas, isGone: () => false }
  const read = (isWhole: boolean) =>
    outcomes.filter(({ report }) => (report.stopped === null) === isWhole).flatMap((each) => each.read.map(displayPath))
  const [whole, cut] = [new Set(read(true)), new Set(read(false))]
  const own = new Set(outcomes.map(({ file }) => displayPath(resolve(file))))
  const isFound = (file: string) => folders.some((folder) => !relative(folder, file).startsWith('..'))
  const isGone = goneTests({
    whole: new Set([...whole].filter((file) => !cut.has(file))),
    own,
    isDeleted: (file) => isFound(file) && !existsSync(file),
  })
  return { gas, isGone }
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
