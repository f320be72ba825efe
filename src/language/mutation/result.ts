/** The end of a mutant, as data. */
import type { CallForm } from '../contracts/syntax/form.ts'
import { LineCounter } from '../contracts/syntax/reader.ts'
import { displayPath } from '../testing/files.ts'
import { applyEdits, type Edit } from './fault.ts'
import type { IgnoreComment } from './ignore-comments.ts'
import type { Mutant } from './mutants.ts'
import type { MeasuredFile, MutantVerdict, TestFault } from './run-tests.ts'

/** How a mutant ended. */
export type MutantStatus = 'killed' | 'endless' | 'survived' | 'unreached' | 'ignored' | 'invalid'

/** A mutant with its end. */
export interface MutantResult {
  /** Source file, relative to the working directory. */
  readonly file: string
  /** From 1, like the column. */
  readonly line: number
  readonly column: number
  /** After the last character that changes. */
  readonly end: { readonly line: number; readonly column: number }
  /** The text in the place of what stands between. */
  readonly replacement: string
  readonly operator: string
  readonly member: string
  /** A clause that follows "no test noticed that". */
  readonly what: string
  readonly diff: TextDiff
  readonly status: MutantStatus
  /** Test files that evaluate its code, as they were given. */
  readonly tests: readonly string[]
  /** The expectation that failed; null if none did. */
  readonly killedBy: TestFault | null
  /** The test file that decided; null if none did. */
  readonly killer: string | null
  /** Reason of a comment that silences it, or why it does not load; otherwise null. */
  readonly reason: string | null
}

export interface MutationResult {
  readonly mutants: readonly MutantResult[]
  /** Expectations that hold without a fault. */
  readonly passed: number
  /** Expectations that fail after any change of a contract, and count for no fault. */
  readonly brittle: readonly TestFault[]
  /** Comments that silence nothing, as `file:line`. */
  readonly unusedComments: readonly string[]
  /** Runs of a test file with a mutant. */
  readonly runs: number
  /** Verdicts of earlier runs that still hold. */
  readonly known: number
}

export interface PlantedMutant {
  readonly path: string
  readonly text: string
  /** The modules of the text. */
  readonly modules: readonly CallForm[]
  readonly mutant: Mutant
  /** Test files that reach it, the cheapest first. */
  readonly reachedBy: readonly MeasuredFile[]
  readonly ignored: IgnoreComment | null
}

/** The verdict on a mutant, and the test file that decided; null if all were needed. */
export interface JudgedMutant {
  readonly verdict: MutantVerdict
  readonly test: string | null
}

/** @param judged undefined for a mutant that did not run */
export function mutantResultOf(planted: PlantedMutant, judged: JudgedMutant | undefined): MutantResult {
  const { path, text, mutant, reachedBy, ignored } = planted
  const { place, operator, member, what, edits } = mutant
  const verdict = judged?.verdict
  const status = statusOf(planted, verdict)
  return {
    file: displayPath(path),
    line: place.line + 1,
    column: place.column + 1,
    ...changedRange(text, edits),
    operator,
    member,
    what,
    diff: diffOf(text, edits),
    status,
    tests: reachedBy.map(({ file }) => file),
    killedBy: verdict?.kind === 'killed' ? verdict.by : null,
    killer: judged?.test ?? null,
    reason:
      verdict?.kind === 'invalid' ? verdict.why : status === 'ignored' && ignored !== null ? ignored.reason : null,
  }
}

/** A comment excuses a survivor. A mutant that a test kills needs no comment. */
function statusOf({ ignored }: PlantedMutant, verdict: MutantVerdict | undefined): MutantStatus {
  const isUnnoticed = verdict === undefined || verdict.kind === 'survived'
  return isUnnoticed && ignored !== null ? 'ignored' : (verdict?.kind ?? 'unreached')
}

/** From the first to the last visible change. */
function changedRange(text: string, edits: readonly Edit[]): Pick<MutantResult, 'end' | 'replacement'> {
  const visible = edits.filter(({ isHelper }) => isHelper !== true)
  const [from, to] = [Math.min(...visible.map((each) => each.from)), Math.max(...visible.map((each) => each.to))]
  const changed = applyEdits(text, visible)
  const { line, column } = new LineCounter(text, { line: 0, column: 0 }).placeOf(to)
  return {
    end: { line: line + 1, column: column + 1 },
    replacement: changed.slice(from, changed.length - (text.length - to)),
  }
}

interface TextDiff {
  /** Lines without the fault, without their common indentation. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

function diffOf(text: string, edits: readonly Edit[]): TextDiff {
  const visible = edits.filter(({ isHelper }) => isHelper !== true)
  const [one, other] = [text, applyEdits(text, visible)].map((each) => each.split('\n'))
  const shortest = Math.min(one.length, other.length)
  let start = 0
  while (start < shortest - 1 && one[start] === other[start]) start++
  let end = 0
  while (end < shortest - start - 1 && one[one.length - 1 - end] === other[other.length - 1 - end]) end++
  const lines = (all: readonly string[]) => all.slice(start, all.length - end)
  return withoutIndent(lines(one), lines(other))
}

function withoutIndent(before: readonly string[], after: readonly string[]): TextDiff {
  const indents = [...before, ...after].filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const indent = indents.length === 0 ? 0 : Math.min(...indents)
  const cut = (lines: readonly string[]) =>
    lines.filter((line) => line.trim() !== '').map((line) => line.slice(indent).trimEnd())
  return { before: cut(before), after: cut(after) }
}
