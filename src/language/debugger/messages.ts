/** Messages between a debugged program in its thread and the debugger. All are plain data. */

/** A breakpoint on a line of a text. */
export interface LineBreakpoint {
  /** From 0: the line on which it is, which has code. */
  readonly line: number
  /** Expression that must be true; null for none. */
  readonly condition: string | null
  /** At which of its hits it stops; null for all. */
  readonly hits: HitRule | null
  /** Text to print instead of a stop, with expressions in braces; null for a stop. */
  readonly log: string | null
}

const COMPARISONS = ['=', '<', '<=', '>', '>=', '%'] as const

/** Compares the number of a hit, from 1, with another one. `%` means each so many hits. */
interface HitRule {
  readonly by: (typeof COMPARISONS)[number]
  readonly count: number
}

/** Reads `3`, `= 3`, `>= 3`, `% 3` and the like. @returns null for any other text */
export function hitRuleOf(text: string): HitRule | null {
  const [, sign = '=', digits] = /^\s*(==?|[<>]=?|%)?\s*(\d{1,9})\s*$/.exec(text) ?? []
  const by = COMPARISONS.find((each) => each === (sign === '==' ? '=' : sign))
  return digits === undefined || by === undefined || (by === '%' && Number(digits) === 0)
    ? null
    : { by, count: Number(digits) }
}

export function isHit({ by, count }: HitRule, hit: number): boolean {
  switch (by) {
    case '=':
      return hit === count
    case '<':
      return hit < count
    case '<=':
      return hit <= count
    case '>':
      return hit > count
    case '>=':
      return hit >= count
    case '%':
      return hit % count === 0
  }
}

/** Says that the state misses an entry. */
export function missingText({ domain, key }: { readonly domain: string; readonly key: string | null }): string {
  return `the debugger does not have ${domain}${key === null ? '' : ` ${key}`}`
}

/** Rows whose writes stop the program. */
export interface RowBreakpoint {
  readonly table: string
  /** Null for all rows of the table. */
  readonly key: string | null
}

export interface FailureFilters {
  /** Expectations that fail. */
  readonly expectations: boolean
  /** Failures that end the file or the transaction. */
  readonly uncaught: boolean
  /** All failures, those that code catches included. */
  readonly all: boolean
}

/** Where the program stops. */
export interface Breakpoints {
  readonly lines: readonly (readonly [source: string, breakpoints: readonly LineBreakpoint[]])[]
  /** Functions as `module.function`. */
  readonly functions: readonly string[]
  readonly rows: readonly RowBreakpoint[]
  readonly failures: FailureFilters
}

/**
 * How the program goes on: to the next breakpoint, by steps, or from the start. The last three go back: to the last write
 * of a row, to the last breakpoint, and by a line.
 */
export type Move = 'run' | 'into' | 'over' | 'out' | 'restart' | 'toWrite' | 'toBreakpoint' | 'toLine'

export type StopReason = 'entry' | 'breakpoint' | 'step' | 'pause' | 'failure' | 'write' | 'return' | 'back'

/** Questions about the paused program. Frames count from 0, the innermost. */
export type ProgramQuestion =
  | { readonly ask: 'stack' }
  | { readonly ask: 'variables'; readonly frame: number; readonly scope: ScopeName }
  | { readonly ask: 'children'; readonly ref: number }
  | { readonly ask: 'evaluate'; readonly frame: number; readonly text: string }
  | { readonly ask: 'text'; readonly source: string }
  | { readonly ask: 'sources' }
  /** The line on which a breakpoint of this line is; null if no code follows. */
  | { readonly ask: 'line'; readonly source: string; readonly line: number }

export type ScopeName = 'locals' | 'arguments' | 'capabilities' | 'gas' | 'rows'

/** A value with a name. */
export interface ShownVariable {
  readonly name: string
  readonly text: string
  /** For `children`; 0 for a value without parts. */
  readonly ref: number
  /** The row of an access; absent for others. */
  readonly row?: RowBreakpoint
}

export interface ShownFrame {
  readonly name: string
  readonly source: string
  /** From 0. */
  readonly line: number
  readonly column: number
}

export interface AnswerOf {
  readonly stack: readonly ShownFrame[]
  readonly variables: readonly ShownVariable[]
  readonly children: readonly ShownVariable[]
  readonly evaluate: ShownVariable | { readonly fault: string }
  readonly text: string | null
  readonly sources: readonly string[]
  readonly line: number | null
}

export type ToProgram =
  | { readonly breakpoints: Breakpoints }
  /** `row`: for `toWrite`, the row whose last write it is. Default: any row. */
  | { readonly move: Move; readonly row?: RowBreakpoint | undefined }
  | { readonly pause: true }
  /** The answer to `needs`; null if there is none. */
  | { readonly supplied: unknown }
  | { readonly id: number; readonly question: ProgramQuestion }

export type FromProgram =
  | { readonly id: number; readonly answer: unknown }
  | { readonly stopped: Stopped }
  /** A line that the program printed, or a log point. */
  | { readonly line: string }
  /** An expectation was evaluated. */
  | { readonly test: { readonly name: string; readonly at: string; readonly what: string | null } }
  /** The program has ended. It can still go back. */
  | { readonly ended: { readonly text: string; readonly hasFailed: boolean } }
  /** The program waits for this. */
  | { readonly needs: unknown }
  /** The program cannot run: an error of the debugger itself. */
  | { readonly broken: string }

export interface Stopped {
  readonly reason: StopReason
  /** Details, such as the message of a failure; null for none. */
  readonly text: string | null
}

/** Index of the counter of messages to the program, which wakes it. */
export const TO_PROGRAM = 0
