/** Where a debugged program goes next, and how its runs end before their ends. */
import { DroppedRun, type MissingEntry } from '../contracts/machine/state.ts'
import type { ProgramQuestion } from './messages.ts'

/** Ends a run that begins again from the start. */
export class Rewind extends DroppedRun {}

/** Ends a run whose state misses what a question of the debugger reads. */
export class QuestionEnd extends DroppedRun {}

/** A question that waits until the program has what it reads, and is paused there again. */
export interface LateQuestion {
  readonly question: ProgramQuestion
  readonly reply: (answer: unknown) => void
  readonly lack: MissingEntry
}

/** Ends a run that has searched as far as it should. */
export class SearchEnd extends DroppedRun {}

/** Where the program pauses next. */
export type Goal =
  | { readonly go: 'run' }
  /** Steps from a stack of this depth. */
  | { readonly go: 'into' | 'over' | 'out'; readonly depth: number }
  /** The beginning or end of the expression with this number. */
  | { readonly go: 'tick'; readonly tick: number; readonly text: string | null }
  /** The same, without a word: the program is paused there for the debugger. */
  | { readonly go: 'again'; readonly tick: number }
  /** Finds the last match before a number, and goes there. */
  | {
      readonly go: 'find'
      readonly before: number
      readonly what: 'breakpoint' | 'line'
      readonly depth: number
    }
