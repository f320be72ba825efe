/**
 * Execution of contract code in threads: one for calls, one for blocks of this node, one for blocks of others. So no
 * call delays a block. A thread starts with its first command.
 */
import type { CopiedBase } from '../ledger/copied-base.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { BlockStore } from '../store/block-store.ts'
import { BlockRunner } from './block-runner.ts'
import { Calls } from './calls.ts'
import { type CommandLimits, Executor } from './executor.ts'
import { NodeModules } from './node-modules.ts'
import { Traces } from './traces.ts'

interface ExecutionOptions {
  /** Module of the threads; default: that of the node. */
  readonly executionThread?: URL | undefined
  /** How long a block waits for a command before it goes on without it, in ms. */
  readonly commandWaitMs?: number | undefined
  /** Default: COMMAND_LIMITS of executor.ts. */
  readonly commandLimits?: CommandLimits | undefined
}

export class Execution {
  /** Read-only calls, and trials of commands. */
  readonly calls: Calls
  readonly traces: Traces
  /** Executes commands of blocks of this node. */
  readonly run: BlockRunner['run']
  /** Executes commands of temporary blocks. */
  readonly simulate: BlockRunner['simulate']
  readonly #executors: readonly Executor[]
  #onDone: () => void = () => undefined

  /**
   * @param fork state below the first blocks, if the network was forked
   */
  constructor(ledger: Ledger, store: BlockStore, options: ExecutionOptions = {}, fork: CopiedBase | null = null) {
    const { executionThread: thread, commandWaitMs: waitMs, commandLimits } = options
    const modules = new NodeModules(ledger.genesis.state)
    const shared = { modules, thread, commandLimits }
    const [calls, own, others] = Array.from({ length: 3 }, () => new Executor(shared))
    const runner = new BlockRunner({ ledger, modules, own, others, calls, waitMs, onDone: () => this.#onDone() })
    this.calls = new Calls(ledger, calls, own, fork)
    this.traces = new Traces({ ledger, store, executor: calls, replay: runner.replay, fork })
    this.run = runner.run
    this.simulate = (...run) => runner.simulate(...run)
    this.#executors = [calls, own, others]
    ledger.runOthersBy({ run: runner.runLater, verify: runner.verify })
  }

  /** Calls `listener` when the thread of blocks is done with a command that a block waits for. */
  onDone(listener: () => void): void {
    this.#onDone = listener
  }

  /** Ends the threads, and all commands in them. */
  close(): void {
    for (const executor of this.#executors) executor.close()
  }
}
