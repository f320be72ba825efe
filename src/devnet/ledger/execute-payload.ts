/** Executes the commands of a payload again, and compares the outputs with those that it names. */
import { equalBytes } from '#ground/base/bytes.ts'
import { describeError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import type { Header } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { MissingEntry } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'
import { CommandFault, readCommandText } from '../command/read.ts'
import type { ExecutedPayload, ExecutionFault } from '../rules/executions.ts'
import type { StoredPayload } from '../store/payload.ts'
import type { AddOutcome, PayloadDraft, RunLater } from './draft.ts'
import { executeRecorded } from './recorded.ts'

/** Checks hash, signatures and chain of a command on top of a block, before it runs. Returns null if it is valid. */
export type CommandCheck = (command: Command, parent: Header) => string | null

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A command to add to a draft; the step gets the outcome. */
interface PayloadStep {
  readonly draft: PayloadDraft
  readonly transaction: { readonly command: Command; readonly bytes: Uint8Array }
  /** Output that the payload names. */
  readonly output: Uint8Array
}

/** How to execute a payload. */
export interface PayloadExecution {
  readonly begin: (miner: MinerAccount) => PayloadDraft
  /** Returns the reason why a command must not run, or null. */
  readonly check: (command: Command) => string | null
}

export function executePayload(execution: PayloadExecution, payload: StoredPayload): ExecutedPayload | ExecutionFault {
  try {
    const steps = payloadSteps(execution, payload)
    let step = steps.next()
    while (!step.done) step = steps.next(step.value.draft.add(step.value.transaction))
    return step.value
  } catch (error) {
    if (error instanceof MissingEntry) throw error
    return { fault: describeError(error) }
  }
}

/** Like executePayload, with the gas and outputs in the payload (recorded.ts). */
export function executePayloadAsRecorded(
  execution: PayloadExecution,
  payload: StoredPayload,
): ExecutedPayload | ExecutionFault {
  try {
    const steps = payloadSteps(execution, payload)
    let step = steps.next()
    while (!step.done) {
      const { draft, transaction, output } = step.value
      step = steps.next(draft.add(transaction, executeRecorded(output)))
    }
    return step.value
  } catch (error) {
    if (error instanceof MissingEntry) throw error
    return { fault: describeError(error) }
  }
}

/** Like executePayload, with another way to execute commands. */
export async function executePayloadLater(
  execution: PayloadExecution,
  payload: StoredPayload,
  run: RunLater,
): Promise<ExecutedPayload | ExecutionFault> {
  try {
    const steps = payloadSteps(execution, payload)
    let step = steps.next()
    while (!step.done) step = steps.next(await step.value.draft.addLater(run, step.value.transaction))
    return step.value
  } catch (error) {
    if (error instanceof MissingEntry) throw error
    return { fault: describeError(error) }
  }
}

/** How to execute a block again up to one of its commands. */
interface PayloadReplay {
  /** Position of the command. */
  readonly index: number
  /** Executes the commands before it. */
  readonly replay: RunLater
  /** Executes the command itself. Its result has no effect. */
  readonly last: RunLater
}

/** Executes the commands of a payload up to one of them. @returns why an earlier one differs, or null */
export async function replayTo(
  begin: PayloadExecution['begin'],
  payload: StoredPayload,
  { index, replay, last }: PayloadReplay,
): Promise<string | null> {
  const steps = payloadSteps({ begin, check: () => null }, payload)
  let step = steps.next()
  for (let i = 0; !step.done; i++) {
    const { draft, transaction } = step.value
    if (i === index) {
      await draft.addLater(last, transaction)
      return null
    }
    step = steps.next(await draft.addLater(replay, transaction))
  }
  return 'fault' in step.value ? step.value.fault : `there is no transaction ${index}`
}

/** The commands of a payload, up to one that does not parse. */
export function* commandsIn({ transactions }: StoredPayload): Generator<Command> {
  for (const { transaction } of transactions) {
    const command = readCommandText(new TextDecoder().decode(transaction))
    if (command instanceof CommandFault) return
    yield command
  }
}

function* payloadSteps(
  { begin, check }: PayloadExecution,
  payload: StoredPayload,
): Generator<PayloadStep, ExecutedPayload | ExecutionFault, AddOutcome> {
  const draft = begin(readMiner(payload.minerData))
  for (const [i, { transaction, output }] of payload.transactions.entries()) {
    const command = readCommandText(decoder.decode(transaction))
    if (command instanceof CommandFault) return { fault: `transaction ${i}: ${command.message}` }
    const fault = check(command)
    if (fault !== null) return { fault: `transaction ${i}: ${fault}` }
    const added = yield { draft, transaction: { command, bytes: transaction }, output }
    if (added !== 'added') return { fault: `transaction ${i}: ${added === 'left' ? 'has no place' : added.refused}` }
  }
  const fault = difference(payload, draft.payload)
  return fault === null ? { writes: draft.writes, printed: draft.printed } : { fault }
}

function difference(given: StoredPayload, made: StoredPayload): string | null {
  if (!equalBytes(given.coinbase, made.coinbase)) return 'the output of its reward is another one'
  for (const [i, { output }] of given.transactions.entries()) {
    if (!equalBytes(output, made.transactions[i].output)) return `the output of its transaction ${i} is another one`
  }
  return equalBytes(given.payloadHash, made.payloadHash) ? null : 'its payload hash is another one'
}

function readMiner(minerData: Uint8Array): MinerAccount {
  const json = parsePlainJson(decoder.decode(minerData)) as Record<string, unknown> | null
  const { account, predicate, 'public-keys': publicKeys } = json ?? {}
  const areKeys = Array.isArray(publicKeys) && publicKeys.every((key) => typeof key === 'string')
  if (typeof account !== 'string' || typeof predicate !== 'string' || !areKeys) {
    throw new TypeError('the miner data names no account')
  }
  return { account, predicate, publicKeys: publicKeys as string[] }
}
