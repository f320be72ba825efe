/** Observer of an evaluation: what code calls, reads, writes and enforces. An evaluator without one pays nothing. */
import type { TextPlace } from '../errors.ts'
import type { Term } from './term.ts'

/**
 * Kind of a step. `deploy` loads a module. `native` and `lambda` are parts of the function around them: reports of gas
 * see them, trees do not.
 */
export type StepKind =
  | 'call'
  | 'capability'
  | 'guard'
  | 'read'
  | 'write'
  | 'event'
  | 'yield'
  | 'print'
  | 'deploy'
  | 'native'
  | 'lambda'

/** A module as steps name it. */
export interface StepModule {
  readonly name: string
  readonly hash: string
  /** Position of the module in the text of its command. */
  readonly place: TextPlace
}

export interface TraceStep {
  readonly kind: StepKind
  /** Qualified name of a function, capability or table; name of a native or guard. */
  readonly name: string
  readonly args: readonly Term[]
  /** Native or form that reads or writes. */
  readonly by?: string
  /** Module of the code that makes the step; null for code at the top level. */
  readonly module: StepModule | null
  /** Position in the text of that module, or of the command; null for a step that no text contains. */
  readonly place: TextPlace | null
  /** Size of a deployed module, once it is loaded. */
  readonly size?: () => DeployedSize
}

/** Bytes of a module: of its source text, and as a network stores it. */
export interface DeployedSize {
  readonly source: number
  readonly stored: number
  /** Milligas by which the step costs more here than on a network. */
  readonly surplus: number
}

export interface Tracer {
  begin(step: TraceStep): void
  /** The innermost step ends. @param result undefined for a step without one */
  end(result?: Term): void
  /** The innermost step ends with an error. */
  fail(error: unknown): void
}

/** Runs `body` as a step. Its result, a term or nothing, is that of the step, and so is its error. */
export function runAsStep<T>(tracer: Tracer, step: TraceStep, body: () => T): T {
  tracer.begin(step)
  let result: T
  try {
    result = body()
  } catch (error) {
    tracer.fail(error)
    throw error
  }
  tracer.end(result as Term | undefined)
  return result
}
