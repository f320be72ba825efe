/** Executes one command of a block: buys its gas, runs it, and redeems the gas (PROTOCOL.md E.4). */

import { sizeGas } from '#ground/chain/gas.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { type ContractError, evalError } from '#language/contracts/errors.ts'
import type { PactRun, PactState, Run } from '#language/contracts/machine/ast.ts'
import type { EmittedEvent } from '#language/contracts/machine/environment.ts'
import { Layer, type ReadableState } from '#language/contracts/machine/state.ts'
import { asValue, continuePact, type ExpandingRun, runForms, startTransaction } from '#language/contracts/run.ts'
import type { PrintOutput } from '#language/contracts/trace/print-log.ts'
import type { Value } from '#language/contracts/values/value.ts'
import type { Command, Cont } from '../command/command.ts'
import type { BlockContext } from './block-context.ts'
import { OUTPUT_LIMITS, type OutputLimits, resultText } from './command-result.ts'
import type { CommandFollower } from './command-trace.ts'
import { buyGas, environmentOf, redeemGas } from './gas.ts'
import { attempt } from './runner.ts'
import { runVerifiers } from './verifiers/run.ts'

/** Transaction ids that each paid command takes; its result names the middle one. */
export const TX_IDS = 3

/** Returns the pact that a proof of another chain proves. @throws ContractError */
export type ProofReader = (run: Run, context: BlockContext, proof: string) => PactState

export interface ExecutingBlock {
  readonly context: BlockContext
  readonly miner: MinerAccount
  readonly readProof: ProofReader
  /** Whether the command with this request key runs with privileges. Default: none does. */
  readonly isPrivileged?: (key: string) => boolean
}

export interface ExecutedCommand {
  /** JSON text of the result. */
  readonly output: string
  readonly gas: number
  readonly hasFailed: boolean
  /** All writes of the command, gas included. */
  readonly layer: Layer
  /** The printed texts. Absent if none of it names or calls `print`. */
  readonly printed?: PrintOutput
}

/** A command that is not in the block, and why. `isFinal` if the command is at fault, not the miner or the block. */
export interface RefusedCommand {
  readonly refused: string
  readonly isFinal: boolean
}

export interface ExecuteOptions {
  /** Transaction id of the next write. */
  readonly txId: number
  /** Gas left in the block, at most that of the command. */
  readonly gasLimit: number
  /** JSON text. */
  readonly metaData?: string
  /** Default: those of the network. */
  readonly limits?: OutputLimits
  /** Follows the execution. */
  readonly trace?: CommandFollower
}

/** Executes a command on top of a state without changing the state. */
export function executeCommand(
  state: ReadableState,
  block: ExecutingBlock,
  command: Command,
  options: ExecuteOptions,
): ExecutedCommand | RefusedCommand {
  const { context } = block
  const { gasLimit, trace } = options
  const sizeCost = sizeGas(command.size, context.rules.gasModel)
  if (sizeCost > gasLimit) {
    const refused = `Gas limit "${gasLimit}" exceeded by the size of the command: ${sizeCost}`
    return { refused, isFinal: gasLimit === command.meta.gasLimit }
  }
  const layer = new Layer(state)
  const bought = buyOrRefuse(layer, context, command, trace)
  if ('refused' in bought) return bought
  const own = new Layer(layer)
  const gas = { used: bought.milligas, limit: gasLimit * 1000 }
  const evaluator = startTransaction(environmentOf(context, command), own, gas, trace?.tracer)
  trace?.line('payload size', sizeCost * 1000)
  const run = attempt(() => {
    evaluator.charge(sizeCost * 1000)
    // Verified before, in more time than that of other schemes.
    evaluator.work((command.size.slhDsaGas ?? 0) * 1000)
    const execute = () => runPayload(evaluator, context, command, block.readProof)
    return trace === undefined ? execute() : trace.part(partName(command), gas, execute)
  })
  if ('error' in run) return settleTransaction(layer, block, command, failureOf(command, run.error), options)
  own.mergeInto(layer)
  const { events } = evaluator.transaction
  const success = { run, gas: Math.ceil(gas.used / 1000), events, pact: evaluator.program.pact }
  const settled = attempt(() => settleTransaction(layer, block, command, success, options))
  if ('value' in settled) return settled.value
  // Its output is too large, so it fails after all. The layer has its writes already: begin a new one.
  const clean = new Layer(state)
  const again = buyOrRefuse(clean, context, command)
  return 'refused' in again
    ? again
    : settleTransaction(clean, block, command, failureOf(command, settled.error), options)
}

/** Outcome of the code of a command, before its gas is settled. */
export interface PayloadOutcome {
  readonly run: { readonly value: Value } | { readonly error: ContractError }
  readonly gas: number
  readonly events: readonly EmittedEvent[]
  readonly pact: PactRun | null
}

/** A command that fails pays its whole gas limit. */
const failureOf = ({ meta }: Command, error: ContractError): PayloadOutcome => ({
  run: { error },
  gas: meta.gasLimit,
  events: [],
  pact: null,
})

/** Buys the gas of a command. @returns the milligas of the purchase, or the reason for a refusal */
export function buyOrRefuse(
  layer: Layer,
  context: BlockContext,
  command: Command,
  trace: CommandFollower | null = null,
): RefusedCommand | { readonly milligas: number } {
  const bought = attempt(() => buyGas(layer, context, command, trace))
  if ('error' in bought) return { refused: buyFaultText(bought.error), isFinal: true }
  return { milligas: bought.value }
}

/** Redeems the gas, and prints the result. @throws ContractError if the result is too large */
export function settleTransaction(
  layer: Layer,
  { context, miner }: ExecutingBlock,
  command: Command,
  { run, gas, events, pact }: PayloadOutcome,
  { txId, metaData = 'null', limits = OUTPUT_LIMITS, trace }: ExecuteOptions,
): ExecutedCommand | RefusedCommand {
  trace?.settle(gas, run)
  const redeemed = attempt(() => redeemGas(layer, context, command, { miner, gas, trace }))
  if ('error' in redeemed) return { refused: `Failed to redeem gas: ${redeemed.error.wireMessage}`, isFinal: false }
  const hasFailed = 'error' in run
  const result = {
    gas,
    result: run,
    key: command.key,
    writes: layer.entries(),
    metaData,
    pact,
    events: [...events, ...redeemed.value],
    txId: hasFailed ? null : txId + 1,
  }
  return { output: resultText(result, limits), gas, hasFailed, layer }
}

export function buyFaultText({ wireMessage }: ContractError): string {
  return `Failed to buy gas: ${wireMessage}`
}

/** Runs the verifiers, then the code or the step of a pact. @throws ContractError */
export function runPayload(
  run: ExpandingRun,
  context: BlockContext,
  { payload, verifiers }: Command,
  readProof: ProofReader,
): Value {
  runVerifiers(run, verifiers, context.rules.verifiers)
  const term =
    payload.kind === 'exec'
      ? runForms(run, payload.code.forms, payload.code.text)
      : runStep(run, context, payload, readProof)
  return asValue(term)
}

function partName({ payload }: Command): string {
  return payload.kind === 'exec' ? 'code' : `continuation of ${payload.pactId}`
}

function runStep(run: ExpandingRun, context: BlockContext, cont: Cont, readProof: ProofReader) {
  const { pactId, step, isRollback, proof } = cont
  if (proof === null) return continuePact(run, { id: pactId, step, isRollback })
  const proven = readProof(run, context, proof)
  if (proven.id !== pactId) throw evalError(`the proof is of the defpact ${proven.id}, not of ${pactId}`)
  return continuePact(run, { id: pactId, step, isRollback, resumed: proven.yielded, proven })
}
