/** A program that can be debugged: test files, and transactions of a node. */

import type { TextPlace } from '../contracts/errors.ts'
import type { ShownVariable } from './messages.ts'
import type { ProgramFollower, ProgramTexts } from './program-follower.ts'

/** A result of an expectation. */
export interface ProgramTest {
  readonly name: string
  readonly at: string
  /** Expected and actual result; null if it holds. */
  readonly what: string | null
}

/** How a run has ended. */
export interface ProgramEnd {
  /** Result, or where and why it failed. */
  readonly text: string
  readonly hasFailed: boolean
}

export interface DebuggedProgram extends ProgramTexts {
  /** Names of its texts so far. */
  readonly sources: readonly string[]
  /** Lines that it has printed in this run. */
  readonly output: readonly string[]
  /** Expectations of this run so far. */
  readonly tests: readonly ProgramTest[]
  /** Number of expectations that have failed so far. */
  readonly failed: number
  /** Gas so far. */
  readonly gas: readonly Omit<ShownVariable, 'ref'>[]
  /** @returns null if there is no such text */
  textOf(source: string): string | null
  /**
   * Runs from the beginning.
   * @param follower follows the run
   * @throws DroppedRun when the follower does, or the state misses an entry
   */
  run(follower: ProgramFollower): ProgramEnd
  /** Whether the debugger may stop now. Default: always. */
  readonly isStoppable?: boolean
  /** Fetches what a run misses. @returns false if that is not possible */
  supply?(error: unknown): boolean | Promise<boolean>
}

/** A place within a text. @param origin place of the text in that of its command */
export function placeWithin(origin: TextPlace, { line, column }: TextPlace): TextPlace {
  return { line: line - origin.line, column: line === origin.line ? column - origin.column : column }
}

/** Text of milligas as units of gas. */
export function gasText(milligas: number): string {
  return String(milligas / 1000)
}
