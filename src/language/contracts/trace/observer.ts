/** Interface of the observer of a run of test files. */
import type { TextPlace } from '../errors.ts'
import type { Observers } from './tracing-evaluator.ts'

/** A form at the top level of a test file, or of a file that it loads. */
export interface FormStart {
  readonly file: string
  readonly place: TextPlace
  /** Source text of the form. */
  readonly text: string
}

/** The run, as its observer sees it. */
export interface ObservedRun {
  /** The file that runs. */
  readonly file: string
  /** Milligas of all code so far. */
  readonly milligas: number
}

export interface RunObserver extends Observers {
  /** A form begins. Forms of a file that it loads lie within it. */
  beginForm(form: FormStart): void
  /**
   * The innermost form ends.
   * @param hasFailed an expectation in it failed, or it ended the file
   * @param error what ended the file, or null
   */
  endForm(hasFailed: boolean, error: unknown): void
}
