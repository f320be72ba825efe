/** Traces: executes transactions again in the thread of calls, on the kept state before them. Nothing is written. */

import { equalBytes } from '#ground/base/bytes.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'
import { type CopiedBase, textsOf } from '../ledger/copied-base.ts'
import { replayTo } from '../ledger/execute-payload.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { TracedCommand } from '../ledger/trace.ts'
import type { Block, BlockStore } from '../store/block-store.ts'
import type { BlockRunner } from './block-runner.ts'
import { taskOf, taskSourceOf } from './calls.ts'
import { ExecutionUnavailable } from './errors.ts'
import { type Executor, isAtFault, type TaskOutcome, type TaskSource } from './executor.ts'
import type { CommandTask } from './messages.ts'
import { applyOverrides, NO_OVERRIDES, type Overrides } from './overrides.ts'
import { type EntryRequest, type Recording, RecordingSource } from './recording.ts'

/** Why a transaction has no trace. */
export type MissingTrace =
  | { readonly kind: 'genesis' }
  /** It took too much processor time, or too much memory. */
  | { readonly kind: 'stopped'; readonly by: 'time' | 'memory' }
  /** An earlier transaction of the block does not execute as it did. */
  | { readonly kind: 'changed'; readonly why: string }

interface TracesOptions {
  readonly ledger: Ledger
  readonly store: BlockStore
  readonly executor: Executor
  /** Executes the earlier transactions of a block. */
  readonly replay: BlockRunner['replay']
  /** State below the first blocks, if the network was forked. */
  readonly fork: CopiedBase | null
}

const encoder = new TextEncoder()

export class Traces {
  readonly #options: TracesOptions

  constructor(options: TracesOptions) {
    this.#options = options
  }

  /** Executes a transaction of a block again, after those before it in the block. */
  traceInBlock(block: Block, index: number): Promise<TracedCommand | MissingTrace> {
    return this.#complete([], () => this.#traceBlock(block, index))
  }

  /**
   * Executes a transaction of a block again, and records what it reads.
   * @param wanted entries that are recorded too
   */
  recordInBlock(block: Block, index: number, wanted: readonly EntryRequest[]): Promise<Recording | MissingTrace> {
    return this.#complete([], () =>
      this.#runInBlock(block, index, (...command) => this.#recordCommand(wanted, ...command)),
    )
  }

  /** Runs until nothing of a forked network is missing. */
  async #complete<T>(texts: readonly string[], run: () => Promise<T>): Promise<T> {
    const { fork } = this.#options
    return fork === null ? run() : fork.complete(run, texts)
  }

  async #traceBlock(block: Block, index: number): Promise<TracedCommand | MissingTrace> {
    const found = await this.#runInBlock(block, index, (...command) => this.#traceCommand(...command))
    if ('kind' in found || equalBytes(block.payload.transactions[index].output, encoder.encode(found.output))) {
      return found
    }
    return { ...found, note: 'the block has another result: other rules made it, or its code took too long here' }
  }

  /** Executes the transactions of a block before one of them, and has `run` execute that one. */
  async #runInBlock<T>(
    block: Block,
    index: number,
    run: (...command: Parameters<BlockRunner['replay']>) => Promise<T | MissingTrace>,
  ): Promise<T | MissingTrace> {
    const { ledger, store, replay } = this.#options
    const parent = store.parentOf(block)
    if (parent === undefined) return { kind: 'genesis' }
    const found: (T | MissingTrace)[] = []
    const last: BlockRunner['replay'] = async (...command) => {
      found.push(await run(...command))
      return { refused: 'traced', isFinal: true }
    }
    const isPrintAllowed = ledger.hasPrints(block)
    const begin = (miner: MinerAccount) => ledger.begin(parent.header, miner, { isPrintAllowed })
    const fault = await replayTo(begin, block.payload, { index, replay, last })
    if (fault !== null) return { kind: 'changed', why: fault }
    return found[0] ?? { kind: 'changed', why: 'it has no place in its block' }
  }

  /**
   * Executes a command on top of a chain, as preflight does. Without a payer, only its code runs.
   * @param read reads what the command finds instead of what the chain has
   */
  traceAtHead(
    chain: number,
    command: Command,
    read: (state: ReadableState) => Overrides = () => NO_OVERRIDES,
  ): Promise<TracedCommand | MissingTrace> {
    const { ledger, executor } = this.#options
    return this.#complete(textsOf(command), async () => {
      const { context, state } = ledger.base(chain, 0)
      const found = applyOverrides({ context, state }, read(state))
      const task = { ...taskOf('trace', command, found.context), keys: found.keys }
      return traceFrom(await executor.run(task, taskSourceOf(ledger, context, found.state)))
    })
  }

  async #traceCommand(...command: Parameters<BlockRunner['replay']>): Promise<TracedCommand | MissingTrace> {
    const { executor } = this.#options
    const { task, source } = this.#taskIn(...command)
    return traceFrom(await executor.run(task, source))
  }

  async #recordCommand(
    wanted: readonly EntryRequest[],
    ...command: Parameters<BlockRunner['replay']>
  ): Promise<Recording | MissingTrace> {
    const { executor } = this.#options
    const { task, source } = this.#taskIn(...command)
    const recording = new RecordingSource(source)
    const traced = traceFrom(await executor.run(task, recording))
    // A command that takes too long is recorded as far as it came: the debugger may stop before.
    if ('kind' in traced && traced.kind !== 'stopped') return traced
    recording.readAlso(wanted)
    return recording.recordingOf(task)
  }

  #taskIn(
    ...[layer, { context, miner, isPrivileged }, command, { txId, gasLimit }]: Parameters<BlockRunner['replay']>
  ): { readonly task: CommandTask; readonly source: TaskSource } {
    const block = { miner, txId, gasLimit, isPrivileged: isPrivileged?.(command.key) ?? false }
    const source = taskSourceOf(this.#options.ledger, context, layer)
    return { task: { ...taskOf('trace', command, context), block }, source }
  }
}

function traceFrom(outcome: TaskOutcome): TracedCommand | MissingTrace {
  if ('trace' in outcome) return outcome
  if ('refused' in outcome) return { kind: 'changed', why: outcome.refused }
  if (!('stopped' in outcome) || !isAtFault(outcome.stopped)) throw new ExecutionUnavailable()
  return { kind: 'stopped', by: outcome.stopped === 'memory' ? 'memory' : 'time' }
}
