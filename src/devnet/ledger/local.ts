/** Read-only calls: /local, preflight, and the trial of a command before it becomes pending. */

import { type ContractError, evalError } from '#language/contracts/errors.ts'
import type { PactState } from '#language/contracts/machine/ast.ts'
import { type Domain, Layer, type ReadableState } from '#language/contracts/machine/state.ts'
import { startTransaction } from '#language/contracts/run.ts'
import type { Command } from '../command/command.ts'
import type { BlockContext } from './block-context.ts'
import { localMetaData, resultText } from './command-result.ts'
import type { CommandTrace } from './command-trace.ts'
import { buyGas, environmentOf, isGasPayer } from './gas.ts'
import { attempt } from './runner.ts'
import { buyFaultText, executeCommand, type ProofReader, runPayload } from './transaction.ts'

/** Miner of a trial: nobody gets its fee. */
export const NO_MINER = { account: 'NoMiner', predicate: '<', publicKeys: [] }

/** Runs only the payload: no gas is bought, and every table can be read. @returns JSON text of the result */
export function runLocally(
  state: ReadableState,
  context: BlockContext,
  command: Command,
  readProof: ProofReader,
  trace?: CommandTrace,
): string {
  const { meta, key } = command
  const layer = new Layer(state)
  // No call may occupy the node longer than a block could.
  const gas = { used: 0, limit: Math.min(meta.gasLimit, context.rules.blockGas) * 1000 }
  const { block, message } = environmentOf(context, command)
  const rules = { ...block.rules, isLocal: true, isHistoryLocal: false }
  const evaluator = startTransaction({ block: { ...block, rules }, message }, layer, gas, trace?.tracer)
  const run = () => runPayload(evaluator, context, command, readProof)
  const metaData = localMetaData(context, meta)
  const printed = attempt(() => {
    const value = trace === undefined ? run() : trace.part('code', gas, run)
    const { events } = evaluator.transaction
    const pact = evaluator.program.pact
    const used = Math.ceil(gas.used / 1000)
    trace?.settle(used, { value })
    return resultText({
      gas: used,
      result: { value },
      key,
      writes: layer.entries(),
      events,
      metaData,
      pact,
      txId: null,
    })
  })
  if (!('error' in printed)) return printed.value
  trace?.settle(meta.gasLimit, printed)
  return failure(command, printed.error)
}

/** Runs a command as a block would. @returns JSON text of the result */
export function runPreflight(
  state: ReadableState,
  context: BlockContext,
  command: Command,
  readProof: ProofReader,
): string {
  const { meta } = command
  const metaData = localMetaData(context, meta)
  const txId = state.get<number>('counters', 'tx') ?? 0
  const block = { context, miner: NO_MINER, readProof }
  const executed = executeCommand(state, block, command, { txId, gasLimit: meta.gasLimit, metaData })
  return 'output' in executed ? executed.output : failure(command, evalError(`"${command.key}" ${executed.refused}`))
}

/** @returns why the gas of a command cannot be bought, or null if it can */
export function gasFault(state: ReadableState, context: BlockContext, command: Command): string | null {
  const bought = attempt(() => buyGas(new Layer(state), context, command))
  if (!('error' in bought)) return null
  return `Attempt to buy gas failed with: "${command.key}" ${buyFaultText(bought.error)}`
}

/** @returns why the code of a command does not parse, or null if it does */
export function codeFault({ payload }: Command): string | null {
  return payload.kind === 'exec' ? payload.code.fault : null
}

/**
 * Tries a command before it becomes pending. Nobody has paid yet, so the code is parsed only if the gas can be bought.
 * @returns why the command is refused, or null
 */
export function trialFault(state: ReadableState, context: BlockContext, command: Command): string | null {
  const fault = gasFault(state, context, command)
  if (fault !== null) return fault
  const unparsed = codeFault(command)
  return unparsed === null ? null : `Pact parse error: ${unparsed}`
}

/**
 * Checks that the payer of the gas exists: the account of the sender, or the contract that pays. A payer with too few
 * coins exists.
 * @returns null if it exists, otherwise why the gas cannot be bought
 */
export function payerFault(state: ReadableState, context: BlockContext, command: Command): string | null {
  const isMissing = (domain: Domain, key: string) => (state.get(domain, key) ?? null) === null
  const payers = [...command.grants.values()].flat().filter(isGasPayer)
  const hasNoContract = payers.some(({ name }) => isMissing('modules', name.slice(0, name.lastIndexOf('.'))))
  if (!hasNoContract && !isMissing('table:coin.coin-table', command.meta.sender)) return null
  return gasFault(state, context, command)
}

/** @returns why a continuation is too late (its pact is finished), or null if it is not, or if the command is not a continuation */
export function pactFault(state: ReadableState, { payload }: Command): string | null {
  if (payload.kind !== 'cont' || state.get<PactState | null>('pacts', payload.pactId) !== null) return null
  return `This transaction is attempting to complete an already-completed defpact ID: ${payload.pactId}`
}

/** @returns JSON text of the result of a command that was stopped: it fails as if it had used all of its gas */
export function outOfGas(command: Command, gasLimit: number): string {
  return failure(command, evalError(`Gas limit "${gasLimit}" exceeded: ${gasLimit}`))
}

function failure({ key, meta }: Command, error: ContractError): string {
  const nothing = { writes: null, events: [], metaData: 'null', pact: null, txId: null }
  return resultText({ gas: meta.gasLimit, result: { error }, key, ...nothing })
}
