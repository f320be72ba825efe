/** Coverage of `newcut test`: a summary for people, and the file that lcov tools read. */
import { type BranchCount, type FileCounts, type FunctionCount, lineHits } from '../contracts/repl/run-observer.ts'

/** Number of counted things, and of those that ran. */
export interface CoveredCount {
  readonly hit: number
  readonly all: number
}

/** Lines, functions and outcomes of branches of a file. */
export interface FileCoverage {
  readonly lines: CoveredCount
  readonly functions: CoveredCount
  readonly branches: CoveredCount
}

export function fileCoverageOf(counts: FileCounts): FileCoverage {
  const outcomes = counts.branches.flatMap(({ hits }) => hits)
  return {
    lines: countReached([...lineHits(counts).values()]),
    functions: countReached(counts.functions.map(({ hits }) => hits)),
    branches: countReached(outcomes),
  }
}

export function totalCoverage(files: readonly FileCounts[]): FileCoverage {
  const coverages = files.map(fileCoverageOf)
  const sum = (kind: keyof FileCoverage): CoveredCount => ({
    hit: coverages.reduce((total, each) => total + each[kind].hit, 0),
    all: coverages.reduce((total, each) => total + each[kind].all, 0),
  })
  return { lines: sum('lines'), functions: sum('functions'), branches: sum('branches') }
}

/** Per cent of those that ran; 100 if there are none. */
export function percentOf({ hit, all }: CoveredCount): number {
  return all === 0 ? 100 : (100 * hit) / all
}

function countReached(hits: readonly number[]): CoveredCount {
  return { hit: hits.filter((each) => each > 0).length, all: hits.length }
}

/** A table of files, then lines and outcomes that no test reached. */
export function coverageLines(files: readonly FileCounts[], displayName: (file: string) => string): string[] {
  if (files.length === 0) return ['coverage: the tests loaded no modules that count']
  const rows = files.map((counts) => ({ name: displayName(counts.file), reach: fileCoverageOf(counts), counts }))
  const width = Math.max('all files'.length, ...rows.map(({ name }) => name.length))
  const line = (name: string, { lines, functions, branches }: FileCoverage) =>
    `${name.padEnd(width)}  ${cell(lines)}  ${cell(functions)}  ${cell(branches)}`
  const columns = ['lines', 'functions', 'branches'].map((word) => word.padStart(16)).join('  ')
  const head = `${'coverage'.padEnd(width)}  ${columns}`
  return [
    head,
    ...rows.map(({ name, reach }) => line(name, reach)),
    ...(rows.length > 1 ? [line('all files', totalCoverage(files))] : []),
    ...rows.flatMap(({ name, counts }) => missedLines(name, counts)),
  ]
}

function cell(count: CoveredCount): string {
  return `${percentOf(count).toFixed(1)} % ${`${count.hit}/${count.all}`.padStart(8)}`.padStart(16)
}

/** Lines for everything that no test reached, each with its place. */
function missedLines(name: string, counts: FileCounts): string[] {
  const hitsOf = lineHits(counts)
  const missed = [...hitsOf].filter(([, hits]) => hits === 0).map(([line]) => line)
  const lines = missed.length === 0 ? [] : [`${name}: lines that never ran: ${ranges(missed, [...hitsOf.keys()])}`]
  const isInMissedLine = ({ kind, line }: BranchCount) => kind !== 'defcap' && hitsOf.get(line) === 0
  const branches = counts.branches
    .filter((branch) => !isInMissedLine(branch))
    .flatMap((branch) => missedOutcomes(name, branch))
  return [...lines, ...branches]
}

function missedOutcomes(file: string, { kind, name, line, column, outcomes, hits }: BranchCount): string[] {
  const at = `${file}:${line}:${column}`
  if (kind === 'defcap') {
    const [granted, refused] = hits
    if (granted === 0 && refused === 0) return [`${at}: capability ${name} was never used`]
    if (refused === 0) return [`${at}: capability ${name} was never refused`]
    return granted === 0 ? [`${at}: capability ${name} was never granted`] : []
  }
  const missed = outcomes.filter((_, i) => hits[i] === 0)
  if (missed.length === 0) return []
  return [`${at}: ${kind}: never ${missed.length === outcomes.length ? 'ran' : missed.join(' or ')}`]
}

/** `3, 7-9`: lines in a row of those that count are one range. */
function ranges(lines: readonly number[], counted: readonly number[]): string {
  const parts: [from: number, to: number][] = []
  for (const line of lines) {
    const last = parts.at(-1)
    const next = last === undefined ? undefined : counted[counted.indexOf(last[1]) + 1]
    if (last !== undefined && next === line) last[1] = line
    else parts.push([line, line])
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}

/**
 * The text of a tracefile as `geninfo(1)` of lcov describes it. Lines count from 1.
 * @param displayName path of a file, absolute or relative to the working directory
 */
export function lcovText(files: readonly FileCounts[], displayName: (file: string) => string): string {
  return files.map((counts) => `${lcovRecord(counts, displayName(counts.file)).join('\n')}\n`).join('')
}

function lcovRecord(counts: FileCounts, path: string): string[] {
  const functions = uniquelyNamed(counts.functions)
  const hitsOf = lineHits(counts)
  const outcomes = outcomesOf(counts.branches, hitsOf)
  const ofFunctions = countReached(functions.map(({ hits }) => hits))
  const ofBranches = countReached(outcomes.map(({ hits }) => hits ?? 0))
  const ofLines = countReached([...hitsOf.values()])
  return [
    'TN:',
    `SF:${path}`,
    ...functions.map(({ line, name }) => `FN:${line},${name}`),
    ...functions.map(({ hits, name }) => `FNDA:${hits},${name}`),
    `FNF:${ofFunctions.all}`,
    `FNH:${ofFunctions.hit}`,
    ...outcomes.map(({ line, block, index, hits }) => `BRDA:${line},${block},${index},${hits ?? '-'}`),
    `BRF:${ofBranches.all}`,
    `BRH:${ofBranches.hit}`,
    ...[...hitsOf].map(([line, hits]) => `DA:${line},${hits}`),
    `LF:${ofLines.all}`,
    `LH:${ofLines.hit}`,
    'end_of_record',
  ]
}

/** lcov knows functions by their names, and refuses a name with two lines: later ones get their place. */
function uniquelyNamed(functions: readonly FunctionCount[]): FunctionCount[] {
  const names = new Set<string>()
  return functions.map((each) => {
    if (!names.has(each.name)) {
      names.add(each.name)
      return each
    }
    return { ...each, name: `${each.name}:${each.line}:${each.column}` }
  })
}

/** An outcome as lcov counts it. */
interface LcovOutcome {
  readonly line: number
  readonly block: number
  readonly index: number
  /** Null if its branch was not evaluated. */
  readonly hits: number | null
}

/**
 * Outcomes that lcov 2 accepts. It refuses branches on a line that does not count, and outcomes of a line that never
 * ran. It also refuses a line that ran if none of its branches has an outcome.
 */
function outcomesOf(branches: readonly BranchCount[], hitsOf: ReadonlyMap<number, number>): LcovOutcome[] {
  const counted = [...hitsOf.keys()]
  const lineOf = ({ line }: BranchCount) => counted.find((each) => each >= line) ?? line
  const reached = new Set(branches.filter(isReached).map(lineOf))
  return branches.flatMap((branch, block) => {
    const line = lineOf(branch)
    const hasRun = (hitsOf.get(line) ?? 0) > 0
    if (hasRun && !reached.has(line)) return []
    const isCounted = hasRun && isReached(branch)
    return branch.hits.map((count, index) => ({ line, block, index, hits: isCounted ? count : null }))
  })
}

function isReached({ hits }: BranchCount): boolean {
  return hits.some((count) => count > 0)
}
