/** Results of expectations. */
import type { TextPlace } from '../errors.ts'

export interface TestFailure {
  readonly file: string
  readonly place: TextPlace
  readonly name: string
  /** Expected and actual result, as a sentence. */
  readonly what: string
}

/** An expectation that was evaluated. */
export interface TestCase {
  readonly file: string
  readonly place: TextPlace
  readonly name: string
  /** Expected and actual result of a failure, as a sentence; null if it holds. */
  readonly what: string | null
  /** Null for a property test, whose gas depends on chance. */
  readonly milligas: number | null
}
