/** The native `print`: test files have it, and networks whose node allows it. */
import type { Term } from './term.ts'

/** Name of the native. Definitions, variables and modules of this name come before it. */
export const PRINT = 'print'

/** Takes what the code of a command prints. */
export interface PrintSink {
  /**
   * @param module name of the module whose code prints; null for code at the top level
   * @param line line of the call in the text of the command, or of the one that deployed the module; it counts from 1
   */
  put(term: Term, module: string | null, line: number): void
  /** Notes that code which is being loaded names `print`. @param module its module; null for code at the top level */
  named(module: string | null): void
}
