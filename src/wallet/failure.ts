/** Errors of failed commands, with hints. */
import { NewcutError } from '../core/errors.ts'
import { printable } from '../core/printable.ts'
import { NodeRefusal } from '../node/errors.ts'
import type { CommandError, CommandResult } from '../schema/command-bodies.ts'

/** Hints for failures with a known remedy. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^Gas limit "\d+" exceeded/, 'give more gas with --gas-limit'],
  [/Managed capability .* was not installed/, 'list it with --cap, with the arguments that the code uses'],
  [/Failed to buy gas: Insufficient funds/, 'the sender has too few coins on this chain for gas limit times gas price'],
  [/Failed to buy gas: No value found/, 'the sender has no account on this chain'],
  [/^Keyset failure/, 'the key that guards this has not signed: --key names who signs'],
]

const REFUSAL_HINTS: readonly (readonly [RegExp, string])[] = [
  [/gas limit exceeds block gas limit/i, 'give less with --gas-limit: no block has so much'],
  [/outside of valid range|time-to-live|too far in the future/i, '--ttl is at most 48h; is the clock here right?'],
  [/minimum gas price|gas price: .*not correctly rounded|decimal precision/i, '0.00000001 is the usual --gas-price'],
  [/buy gas failed/i, 'the sender needs gas limit times gas price on this chain'],
]

/** Adds a hint to a refusal by the node. */
export async function explained<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof NodeRefusal) || error.hint !== undefined) throw error
    const hint = REFUSAL_HINTS.find(([pattern]) => pattern.test(error.excerpt))?.[1]
    throw hint === undefined ? error : new NodeRefusal(error, hint)
  }
}

/** A command that failed. Code COMMAND_FAILED. */
export class CommandFailed extends NewcutError {
  /** Kind, text and place in the code. */
  readonly error: CommandError
  /** The whole result. */
  readonly result: CommandResult

  constructor(error: CommandError, result: CommandResult, what: string) {
    const place = error.info ? ` (at ${error.info})` : ''
    const message = printable(`${what}: ${error.message}${place}`)
    super('COMMAND_FAILED', message, { hint: HINTS.find(([pattern]) => pattern.test(error.message))?.[1] })
    this.error = error
    this.result = result
  }
}

/** @returns the data of a result. Throws CommandFailed, whose message begins with `what` */
export function dataOf(result: CommandResult, what: string) {
  if (result.result.status === 'success') return result.result.data
  throw new CommandFailed(result.result.error, result, what)
}
