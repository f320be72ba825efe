/** Trace of a command: buying its gas, its size, its code, redeeming its gas. The sum is the gas of its result. */
import { ContractError } from '#language/contracts/errors.ts'
import type { GasMeter } from '#language/contracts/machine/environment.ts'
import type { TransactionTracer } from '#language/contracts/run.ts'
import { shortText, TraceTree, truncate } from '#language/contracts/trace/tree.ts'
import type { Value } from '#language/contracts/values/value.ts'

const MILLIGAS = 1000

/** Follows the execution of a command in its parts. */
export interface CommandFollower {
  readonly tracer: TransactionTracer
  /**
   * Runs a part of the command.
   * @param gas meter of the part; null for a part that nobody pays
   */
  part<T>(name: string, gas: GasMeter | null, body: () => T): T
  /** Notes a charge outside of code. */
  line(name: string, milligas: number): void
  /** The code has ended. @param gas gas of the result */
  settle(gas: number, outcome: { readonly value: Value } | { readonly error: ContractError }): void
}

export class CommandTrace implements CommandFollower {
  readonly tracer: TraceTree

  constructor() {
    this.tracer = new TraceTree({ name: 'transaction', messageOf: wireMessageOf })
  }

  /**
   * Runs a part of the command as a branch of its own.
   * @param gas meter of the part; null for a part that nobody pays
   */
  part<T>(name: string, gas: GasMeter | null, body: () => T): T {
    return this.tracer.runPart(name, gas === null ? () => 0 : () => gas.used, body)
  }

  /** Adds a charge outside of code. */
  line(name: string, milligas: number): void {
    this.tracer.addCharge(name, milligas)
  }

  /**
   * Adds the outcome, and what is left to the gas of the result: gas is rounded up, and a failed command pays its whole
   * limit. A second call is for a command whose first result was too large.
   * @param gas gas of the result
   */
  settle(gas: number, outcome: { readonly value: Value } | { readonly error: ContractError }): void {
    const { root } = this.tracer
    root.result = undefined
    const hasFailed = 'error' in outcome
    if (hasFailed) root.error = truncate(outcome.error.wireMessage)
    else root.result = shortText(outcome.value)
    const left = gas * MILLIGAS - root.gasTotal
    if (left !== 0) this.line(leftName(left, hasFailed), left)
  }
}

function leftName(milligas: number, hasFailed: boolean): string {
  if (milligas < 0) return 'used beyond the gas limit'
  return hasFailed ? 'rest of the gas limit' : 'rounding'
}

function wireMessageOf(error: unknown): string {
  return error instanceof ContractError ? error.wireMessage : (error as Error).message
}
