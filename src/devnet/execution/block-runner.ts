/** Executes commands of blocks: plain ones at once, all others in a thread. */
import { Layer } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'
import type { RunCommand, RunLater } from '../ledger/draft.ts'
import { decodeEntry } from '../ledger/entry-codec.ts'
import { executeInBlock } from '../ledger/execute.ts'
import { commandsIn } from '../ledger/execute-payload.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ExecutedCommand, ExecuteOptions, ExecutingBlock, RefusedCommand } from '../ledger/transaction.ts'
import { TIMED_OUT } from '../mempool/refusals.ts'
import { isUnverified } from '../mempool/slh-dsa.ts'
import type { StoredPayload } from '../store/payload.ts'
import { taskOf, taskSourceOf, verifyIn } from './calls.ts'
import { ExecutionUnavailable } from './errors.ts'
import { type Executor, isAtFault, type TaskOutcome, type TaskSource } from './executor.ts'
import type { CommandTask } from './messages.ts'
import type { NodeModules } from './node-modules.ts'

/** Time that the node waits for a command. Nearly all take less, and then they are in the block at once. */
const COMMAND_WAIT_MS = 10
/** Time that it waits for the same command again. */
const COMMAND_REWAIT_MS = 2
/** Maximum processor time of a slow command, summed over the blocks that ended before the command did. */
const MAX_SPENT_MS = 4000
/** Maximum commands whose times are kept; the oldest is forgotten, and then has its whole time again. */
const MAX_TIMED_COMMANDS = 1000

interface BlockRunnerOptions {
  readonly ledger: Ledger
  readonly modules: NodeModules
  /** For blocks of this node; a command has a deadline there. */
  readonly own: Executor
  /** For blocks of others. The outcome of a block depends on no clock. */
  readonly others: Executor
  /** For blocks that are executed again to look at them; a command has a deadline there. */
  readonly calls: Executor
  /** How long the node waits for a command. */
  readonly waitMs?: number | undefined
  /** Called when a command that was `running` is done, or another one no longer `busy`. */
  readonly onDone: () => void
}

/** A command in the thread. */
interface RunningCommand {
  readonly layer: Layer
  readonly key: string
}

/** How a command of a simulation runs. */
interface SimulatedRun {
  readonly source: TaskSource
  /** Public keys that sign too. */
  readonly keys: readonly string[]
  readonly isTraced: boolean
}

export interface SimulatedExecution extends ExecutedCommand {
  /** As in `TracedCommand`; null without a trace. */
  readonly trace: string | null
}

type EndedCommand = TaskOutcome | { readonly error: unknown }

export class BlockRunner {
  readonly #options: BlockRunnerOptions
  #running: RunningCommand | null = null
  /** Layer of a draft -> the command that it waited for. */
  readonly #ended = new WeakMap<Layer, { readonly key: string; readonly ended: EndedCommand }>()
  /** Request key -> processor time of the command in blocks that waited for it. */
  readonly #spentMs = new Map<string, number>()

  constructor(options: BlockRunnerOptions) {
    this.#options = options
  }

  /** Executes a command of a block of this node. */
  readonly run: RunCommand = (layer, block, command, options) => {
    const { ledger, own } = this.#options
    if (ledger.isPlain(layer, command)) return executeInBlock(layer, block, command, options)
    const { key } = command
    if (this.#running?.layer === layer) own.serve(COMMAND_REWAIT_MS)
    const known = this.#ended.get(layer)
    if (known?.key === key) {
      this.#ended.delete(layer)
      return this.#executionOf(known.ended, layer)
    }
    if ((this.#spentMs.get(key) ?? 0) >= MAX_SPENT_MS) return { refused: TIMED_OUT, isFinal: true }
    const running = this.#running
    if (running !== null) return running.layer === layer && running.key === key ? 'running' : 'busy'
    const ended = this.#start(layer, key, taskIn(block, command, options), this.#sourceOf(layer, block))
    return ended === null ? 'running' : this.#executionOf(ended, layer)
  }

  /** Starts a command. @returns null if it takes longer */
  #start(layer: Layer, key: string, task: CommandTask, source: TaskSource): EndedCommand | null {
    let first: EndedCommand | null = null
    let isWaiting = true
    const running = { layer, key }
    const spentMs = this.#options.own.measure()
    const end = (ended: EndedCommand) => {
      this.#running = null
      first = ended
      if ('stopped' in ended && isAtFault(ended.stopped)) this.#noteSpent(key, MAX_SPENT_MS)
      if (isWaiting) return
      this.#ended.set(layer, { key, ended })
      this.#noteSpent(key, spentMs())
      this.#options.onDone()
    }
    this.#running = running
    this.#options.own.start(task, source, this.#options.waitMs ?? COMMAND_WAIT_MS, {
      resolve: end,
      reject: (error) => end({ error }),
    })
    isWaiting = false
    return first
  }

  /** Executes a command of a block of others. */
  readonly runLater: RunLater = (...command) => this.#runInThread(this.#options.others, false, command)

  /** Executes a command of a block again. */
  readonly replay: RunLater = (...command) => this.#runInThread(this.#options.calls, true, command)

  /** Verifies signatures of a block that take long, so that its check knows the verdicts. */
  readonly verify = async (chain: number, payload: StoredPayload): Promise<void> => {
    const { ledger, others } = this.#options
    const { context, state } = ledger.base(chain, 0)
    for (const command of commandsIn(payload)) {
      if (isUnverified(command)) await verifyIn(others, command, taskSourceOf(ledger, context, state), false)
    }
  }

  /** Executes a command of a temporary block, in the thread of calls. @throws ExecutionUnavailable */
  async simulate(
    [layer, block, command, options]: Parameters<RunLater>,
    { source, keys, isTraced }: SimulatedRun,
  ): Promise<SimulatedExecution | RefusedCommand> {
    const task = { ...taskIn(block, command, options), keys, isTraced }
    const outcome = await this.#options.calls.run(task, source)
    if ('stopped' in outcome && !isAtFault(outcome.stopped)) throw new ExecutionUnavailable()
    const executed = this.#applyOutcome(layer, outcome)
    return 'refused' in executed
      ? executed
      : { ...executed, trace: 'traceText' in outcome ? (outcome.traceText ?? null) : null }
  }

  async #runInThread(
    executor: Executor,
    hasDeadline: boolean,
    [layer, block, command, options]: Parameters<RunLater>,
  ): Promise<ExecutedCommand | RefusedCommand> {
    if (this.#options.ledger.isPlain(layer, command)) return executeInBlock(layer, block, command, options)
    const task = taskIn(block, command, options)
    const outcome = await executor.run(task, this.#sourceOf(layer, block), hasDeadline)
    // The block is not at fault if the thread does not load.
    if ('stopped' in outcome && outcome.stopped === 'unavailable') throw new ExecutionUnavailable()
    return this.#applyOutcome(layer, outcome)
  }

  #executionOf(ended: EndedCommand, layer: Layer): ExecutedCommand | RefusedCommand {
    if ('error' in ended) throw ended.error
    return this.#applyOutcome(layer, ended)
  }

  /** The outcome as a layer on top of that of the draft. */
  #applyOutcome(below: Layer, outcome: TaskOutcome): ExecutedCommand | RefusedCommand {
    // A command is refused for lack of time or memory only if it is in no block.
    if ('stopped' in outcome) return { refused: TIMED_OUT, isFinal: isAtFault(outcome.stopped) }
    if ('refused' in outcome) return outcome
    if (!('writes' in outcome)) throw new Error('the thread has executed another kind of task')
    const { output, gas, hasFailed, writes, printed } = outcome
    const modules = this.#options.modules.loadCreated(outcome.modules)
    const layer = new Layer(below)
    for (const { domain, key, json } of writes) layer.put(domain, key, decodeEntry(domain, json, modules))
    return { output, gas, hasFailed, layer, ...(printed !== undefined && { printed }) }
  }

  #sourceOf(state: Layer, { context }: ExecutingBlock): TaskSource {
    return taskSourceOf(this.#options.ledger, context, state)
  }

  #noteSpent(key: string, ms: number): void {
    this.#spentMs.set(key, (this.#spentMs.get(key) ?? 0) + ms)
    const [oldest] = this.#spentMs.keys()
    if (this.#spentMs.size > MAX_TIMED_COMMANDS) this.#spentMs.delete(oldest)
  }
}

function taskIn(
  { context, miner, isPrivileged }: ExecutingBlock,
  command: Command,
  { txId, gasLimit, limits }: ExecuteOptions,
): CommandTask {
  const block = { miner, txId, gasLimit, isPrivileged: isPrivileged?.(command.key) ?? false }
  return { ...taskOf('execute', command, context), block: { ...block, ...(limits && { limits }) } }
}
