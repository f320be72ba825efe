/** Errors of failed commands, with advice. */
import { NewcutError } from '#ground/base/errors.ts'
import { placeText, printable } from '#ground/base/printable.ts'
import type { CommandError, CommandResult } from '#ground/schema/command-bodies.ts'
import { NodeRefusal } from '../node/errors.ts'
import { adviceOnRefusal, adviceOnResult, type FailedCommand } from './advice.ts'

/** Awaits a call, and adds advice to a refusal by the node. @throws NodeRefusal, and the errors of the call */
export async function explainRefusal<T>(call: Promise<T>, command?: FailedCommand): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof NodeRefusal) || error.hint !== undefined) throw error
    const advice = adviceOnRefusal(error.excerpt, command)
    throw advice === undefined ? error : new NodeRefusal(error, advice)
  }
}

/** A command that failed. Code COMMAND_FAILED. */
export class CommandFailed extends NewcutError {
  /** Kind, text and place in the code. */
  readonly error: CommandError
  /** The whole result. */
  readonly result: CommandResult
  override readonly facts: NewcutError['facts']

  /**
   * @param what says what failed
   * @param command the command, if it is known: advice then goes by its signers too
   */
  constructor(error: CommandError, result: CommandResult, what: string, command?: FailedCommand) {
    const message = printable(`${what}: ${error.message}${placeText(error.info)}`)
    super('COMMAND_FAILED', message, { hint: adviceOnResult(error, result.reqKey, command) })
    this.error = error
    this.result = result
    const { reqKey: requestKey, gas, metaData } = result
    const { blockHeight: height, blockHash } = metaData ?? {}
    // A trial run and a call for reading are in no block.
    const block = blockHash === undefined ? {} : { height: Number(height), blockHash }
    this.facts = { requestKey, gas: Number(gas), ...block, error }
  }
}

/** @returns the data of a result. @throws CommandFailed, whose message begins with `what` */
export function dataOf(result: CommandResult, what: string, command?: FailedCommand) {
  if (result.result.status === 'success') return result.result.data
  throw new CommandFailed(result.result.error, result, what, command)
}
