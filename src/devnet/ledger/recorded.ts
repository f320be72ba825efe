/**
 * Executes commands of blocks that an older newcut made under other rules of gas and error texts. The block names
 * their gas and outputs, so these hold. The writes must still be those of the block, or it is refused.
 */

import { parsePlainJson } from '#ground/base/json.ts'
import { evalError } from '#language/contracts/errors.ts'
import { freeGas } from '#language/contracts/machine/environment.ts'
import { Layer, type ReadableState } from '#language/contracts/machine/state.ts'
import { startTransaction } from '#language/contracts/run.ts'
import type { Command } from '../command/command.ts'
import { NO_OUTPUT_LIMITS } from './command-result.ts'
import { environmentOf } from './gas.ts'
import { executePrivileged } from './privileged.ts'
import { attempt } from './runner.ts'
import {
  buyOrRefuse,
  type ExecutedCommand,
  type ExecuteOptions,
  type ExecutingBlock,
  type PayloadOutcome,
  type RefusedCommand,
  runPayload,
  settleTransaction,
} from './transaction.ts'

/** Executes a command of a block at once. */
export type ExecuteNow = (
  state: ReadableState,
  block: ExecutingBlock,
  command: Command,
  options: ExecuteOptions,
) => ExecutedCommand | RefusedCommand

interface RecordedResult {
  readonly gas: number
  readonly result: { readonly status: string }
  /** Hash of all writes to tables. */
  readonly logs: string
  readonly continuation: unknown
  readonly txId: number | null
}

const decoder = new TextDecoder()

/** Executes a command without a limit of gas; it costs what its output says. A failed command only pays its gas. */
export function executeRecorded(output: Uint8Array): ExecuteNow {
  const text = decoder.decode(output)
  const recorded = parsePlainJson(text) as RecordedResult
  const { gas } = recorded
  const isSuccess = recorded.result.status === 'success'
  return (state, block, command, options) => {
    // No older newcut made it.
    if (block.isPrivileged?.(command.key)) return executePrivileged(state, block, command, options)
    const { txId } = options
    const layer = new Layer(state)
    const bought = buyOrRefuse(layer, block.context, command)
    if ('refused' in bought) return bought
    const ran = isSuccess ? runFree(layer, block, command) : FAILED
    if ('refused' in ran) return ran
    const settled = settleTransaction(
      layer,
      block,
      command,
      { ...ran, gas },
      { txId, gasLimit: gas, limits: NO_OUTPUT_LIMITS },
    )
    if ('refused' in settled) return settled
    const changed = differenceOf(recorded, JSON.parse(settled.output) as RecordedResult)
    return changed === null ? { ...settled, output: text } : { refused: `it has other ${changed}`, isFinal: true }
  }
}

/** A failed command; its output has the real error. */
const FAILED: Omit<PayloadOutcome, 'gas'> = { run: { error: evalError('as recorded') }, events: [], pact: null }

/** Runs a command that succeeded, and keeps its writes in the layer. */
function runFree(layer: Layer, block: ExecutingBlock, command: Command): Omit<PayloadOutcome, 'gas'> | RefusedCommand {
  const own = new Layer(layer)
  const evaluator = startTransaction(environmentOf(block.context, command), own, freeGas())
  const run = attempt(() => runPayload(evaluator, block.context, command, block.readProof))
  if ('error' in run) return { refused: `it fails: ${run.error.wireMessage}`, isFinal: true }
  own.mergeInto(layer)
  return { run, events: evaluator.transaction.events, pact: evaluator.program.pact }
}

/** @returns what differs in the state that two results leave, or null */
function differenceOf(recorded: RecordedResult, made: RecordedResult): string | null {
  if (recorded.logs !== made.logs) return 'writes'
  if (recorded.txId !== made.txId) return 'transaction ids'
  return JSON.stringify(recorded.continuation) === JSON.stringify(made.continuation) ? null : 'continuations'
}
