/** Counts of expressions, functions and outcomes of branches that ran, by source file. Counts of several runs add up. */
import type { TextPlace } from '../errors.ts'

/** Kind of a branch, in words of the language. */
export type BranchKind = 'if' | 'cond' | 'and' | 'or' | 'enforce' | 'enforce-one' | 'step-with-rollback' | 'defcap'

/** An expression, function or branch. Line and column count from 1. */
interface SourcePosition {
  readonly line: number
  readonly column: number
}

export interface PointCount extends SourcePosition {
  hits: number
}

export interface FunctionCount extends PointCount {
  /** Qualified name. */
  readonly name: string
}

export interface BranchCount extends SourcePosition {
  readonly kind: BranchKind
  /** Qualified name of a capability; empty for others. */
  readonly name: string
  /** Outcomes in words, such as `passed`, and how often each came. */
  readonly outcomes: readonly string[]
  readonly hits: number[]
}

/** Counts of one file, as data. */
export interface FileCounts {
  readonly file: string
  readonly points: readonly PointCount[]
  readonly functions: readonly FunctionCount[]
  readonly branches: readonly BranchCount[]
}

export class CoverageCounter {
  readonly file: string
  readonly #points = new Map<string, PointCount>()
  readonly #functions = new Map<string, FunctionCount>()
  readonly #branches = new Map<string, BranchCount>()

  constructor(file: string) {
    this.file = file
  }

  pointAt(place: TextPlace): PointCount {
    return getOrAdd(this.#points, keyOf(place), () => ({ ...positionOf(place), hits: 0 }))
  }

  functionAt(place: TextPlace, name: string): FunctionCount {
    return getOrAdd(this.#functions, keyOf(place), () => ({ ...positionOf(place), name, hits: 0 }))
  }

  branchAt(place: TextPlace, kind: BranchKind, outcomes: readonly string[], name = ''): BranchCount {
    return getOrAdd(this.#branches, `${keyOf(place)} ${kind}`, () => {
      return { ...positionOf(place), kind, name, outcomes, hits: outcomes.map(() => 0) }
    })
  }

  get counts(): FileCounts {
    const sortByPlace = <T extends SourcePosition>(map: ReadonlyMap<string, T>) => [...map.values()].sort(byPlace)
    const [points, functions] = [sortByPlace(this.#points), sortByPlace(this.#functions)]
    return { file: this.file, points, functions, branches: sortByPlace(this.#branches) }
  }

  /** Adds the counts of another run. */
  add({ points, functions, branches }: FileCounts): void {
    for (const each of points) this.pointAt(placeOf(each)).hits += each.hits
    for (const each of functions) this.functionAt(placeOf(each), each.name).hits += each.hits
    for (const { kind, name, outcomes, hits, ...at } of branches) {
      const known = this.branchAt(placeOf(at), kind, outcomes, name)
      for (const [i, count] of hits.entries()) known.hits[i] = (known.hits[i] ?? 0) + count
    }
  }
}

/** Adds up the counts of several runs, by file in the order of their names. */
export function mergeCounts(runs: readonly (readonly FileCounts[])[]): FileCounts[] {
  const files = new Map<string, CoverageCounter>()
  for (const counts of runs.flat()) getOrAdd(files, counts.file, () => new CoverageCounter(counts.file)).add(counts)
  return [...files.values()].map(({ counts }) => counts).sort((one, other) => (one.file < other.file ? -1 : 1))
}

/** Line -> how often it ran: the most that any expression or function that begins on it did. */
export function lineHits({ points, functions }: FileCounts): Map<number, number> {
  const lines = new Map<number, number>()
  for (const { line, hits } of [...points, ...functions]) lines.set(line, Math.max(lines.get(line) ?? 0, hits))
  return new Map([...lines].sort(([one], [other]) => one - other))
}

function getOrAdd<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function keyOf({ line, column }: TextPlace): string {
  return `${line}:${column}`
}

function positionOf({ line, column }: TextPlace): SourcePosition {
  return { line: line + 1, column: column + 1 }
}

function placeOf({ line, column }: SourcePosition): TextPlace {
  return { line: line - 1, column: column - 1 }
}

function byPlace(one: SourcePosition, other: SourcePosition): number {
  return one.line - other.line || one.column - other.column
}
