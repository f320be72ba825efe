/**
 * Executes commands in a thread, one after the other, so that no code holds up the node. A command that takes too much
 * processor time or memory ends its thread, and the next command gets a new one.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { ContractError } from '#language/contracts/errors.ts'
import type { SpvSupport } from '#language/contracts/machine/environment.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import { decodeStoredValue, encodeStoredValue } from '#language/contracts/values/keep.ts'
import type { ObjectValue } from '#language/contracts/values/value.ts'
import { encodeEntry } from '../ledger/entry-codec.ts'
import {
  type CommandTask,
  type FromThread,
  type SignatureTask,
  type TaskResult,
  type ThreadAnswer,
  type ThreadQuestion,
  TO_NODE,
  TO_THREAD,
} from './messages.ts'
import type { NodeModules } from './node-modules.ts'
import { measureThread } from './processor-time.ts'
import { ThreadWorker } from './thread-worker.ts'

/** State and proofs for a task. */
export interface TaskSource {
  readonly state: ReadableState
  /** JSON text of a command result that a proof of another chain proves. */
  readonly verify: (proof: string) => { readonly output: string } | { readonly fault: string }
  /** Result of a command of another chain, for `verify-spv`. */
  readonly verifySpv: SpvSupport
}

/**
 * Why a command has no result. `time`, `memory`: it took too much. `unavailable`: it could not begin, because the
 * thread did not load or too many others wait. `closed`: the node is closing.
 */
type StopReason = 'time' | 'memory' | 'unavailable' | 'closed'
export type TaskOutcome = TaskResult | { readonly stopped: StopReason }

/** Whether the command is at fault, so that it would be stopped again. */
export const isAtFault = (stopped: StopReason): boolean => stopped === 'time' || stopped === 'memory'

/** Limits for one command. The node stops a command that exceeds one. */
export interface CommandLimits {
  /** Processor time, in ms. */
  readonly cpuMs: number
  /** Heap of its thread, in MB. */
  readonly memoryMb: number
}

interface ExecutorOptions {
  readonly modules: NodeModules
  /** Module of the thread; default: the one next to this file. */
  readonly thread?: URL | undefined
  /** Maximum time to load the thread, in ms. Default: one minute. */
  readonly maxLoadMs?: number
  /** Default: COMMAND_LIMITS. */
  readonly commandLimits?: CommandLimits | undefined
}

/** Called once with the outcome of a task, or with the error of a node that could not read its state. */
interface TaskSettling {
  readonly resolve: (outcome: TaskOutcome) => void
  readonly reject: (error: unknown) => void
}

interface QueuedTask extends TaskSettling {
  readonly task: CommandTask | SignatureTask
  readonly source: TaskSource
  readonly hasDeadline: boolean
  /** Error with which the node could not answer the thread; null if there is none. */
  failure: unknown
}

const MAX_LOAD_MS = 60_000
/** Maximum queued commands with a deadline. At 2 s each, later ones would wait for minutes. */
export const MAX_WAITING = 256
/** Maximum time of a command by the clock, in ms: a busy machine makes it longer, but not endless. */
const MAX_WALL_MS = 20_000
/** Least time between two looks at the clock. */
const MIN_CHECK_INTERVAL_MS = 50
/** The memory is far above what the memory limit of the language allows. */
const COMMAND_LIMITS: CommandLimits = { cpuMs: 2000, memoryMb: 512 }

export class Executor {
  readonly #options: ExecutorOptions
  readonly #waiting: QueuedTask[] = []
  #thread: Thread | null = null
  #current: QueuedTask | null = null
  #deadline: Deadline | null = null
  #isClosed = false

  constructor(options: ExecutorOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#current === null
  }

  /** Whether a command would begin at once. */
  get isWarm(): boolean {
    return this.#thread?.isReady === true
  }

  /** Starts to measure the processor time of the thread, or of this process while no thread is loaded. */
  measure(): () => number {
    return measureThread(this.#thread?.threadId ?? null)
  }

  /** Loads the thread before there is a command. Resolves when it is loaded, or has ended. */
  async warm(): Promise<void> {
    if (this.#isClosed) return
    this.#thread ??= this.#startThread()
    await this.#thread.loaded
  }

  /** Answers the thread for up to `waitMs`, until it has no more commands. Blocks the node. */
  serve(waitMs: number): void {
    const endMs = performance.now() + waitMs
    while (this.#current !== null && this.#thread !== null) {
      const leftMs = endMs - performance.now()
      if (leftMs <= 0) return
      this.#thread.receive(leftMs)
    }
  }

  /**
   * Executes a command once all earlier ones are done. Rejects if the node cannot read its state.
   * @param hasDeadline without, the command may take any time, and waits for any number of others
   */
  run(task: CommandTask | SignatureTask, source: TaskSource, hasDeadline = true): Promise<TaskOutcome> {
    return new Promise((resolve, reject) => {
      if (hasDeadline && this.#waiting.length >= MAX_WAITING) {
        resolve({ stopped: 'unavailable' })
        return
      }
      this.#waiting.push({ task, source, hasDeadline, resolve, reject, failure: null })
      this.#runNext()
    })
  }

  /**
   * Executes a command, and blocks the node for up to `waitMs`, so that a short command is settled on return.
   * @throws Error if another command is running
   */
  start(task: CommandTask, source: TaskSource, waitMs: number, settle: TaskSettling): void {
    if (!this.isIdle) throw new Error('the thread executes another command')
    this.#waiting.push({ task, source, hasDeadline: true, ...settle, failure: null })
    this.#runNext()
    if (this.isWarm) this.serve(waitMs)
  }

  close(): void {
    this.#isClosed = true
    if (this.isIdle && this.isWarm) {
      this.#thread?.leave()
      this.#thread = null
    }
    this.#endAll('closed')
  }

  #endAll(stopped: StopReason): void {
    const waiting = this.#waiting.splice(0)
    this.#endThread({ stopped })
    for (const { resolve } of waiting) resolve({ stopped })
  }

  #runNext(): void {
    if (this.#current !== null) return
    const entry = this.#waiting.shift()
    if (entry === undefined) return
    if (this.#isClosed) {
      entry.resolve({ stopped: 'closed' })
      return
    }
    this.#current = entry
    this.#thread ??= this.#startThread()
    this.#thread.send(entry.task)
    if (!entry.hasDeadline) return
    // The time to load the thread is none of the command.
    if (this.isWarm) this.#setDeadline(entry)
    else void this.#thread.loaded.then(() => this.#setDeadline(entry))
  }

  #setDeadline(entry: QueuedTask): void {
    const { cpuMs } = this.#options.commandLimits ?? COMMAND_LIMITS
    if (this.#current === entry)
      this.#deadline = new Deadline(cpuMs, this.measure(), () => this.#endThread({ stopped: 'time' }))
  }

  #startThread(): Thread {
    const thread: Thread = new Thread(this.#options, {
      onMessage: (message) => this.#take(message),
      onEnd: (reason) => {
        if (this.#thread === thread) this.#endThread({ stopped: reason })
      },
    })
    const timer = setTimeout(() => {
      if (this.#thread === thread) this.#endAll('unavailable')
    }, this.#options.maxLoadMs ?? MAX_LOAD_MS).unref()
    void thread.loaded.then(() => clearTimeout(timer))
    return thread
  }

  /** Ends the thread, and with it the current command. */
  #endThread(outcome: TaskOutcome): void {
    this.#thread?.end()
    this.#thread = null
    this.#settle((entry) => entry.resolve(outcome))
  }

  #settle(settle: (entry: QueuedTask) => void): void {
    const entry = this.#current
    this.#current = null
    this.#deadline?.cancel()
    this.#deadline = null
    if (entry !== null) settle(entry)
    this.#runNext()
  }

  #take(message: Exclude<FromThread, { readonly ready: true }>): void {
    const entry = this.#current
    if (entry === null) return
    if ('question' in message) this.#thread?.send(this.#answer(message.question, entry))
    else if ('result' in message) this.#settle(({ resolve }) => resolve(message.result))
    else this.#settle(({ reject, failure }) => reject(failure ?? new Error(message.broken)))
  }

  #answer(question: ThreadQuestion, entry: QueuedTask): ThreadAnswer {
    try {
      return { answer: this.#answerTo(question, entry.source) }
    } catch (error) {
      if (error instanceof ContractError) return { refused: error.wireMessage }
      entry.failure = error
      return { failed: true }
    }
  }

  #answerTo(question: ThreadQuestion, { state, verify, verifySpv }: TaskSource): unknown {
    const { modules } = this.#options
    switch (question.ask) {
      case 'entry': {
        const value = state.get(question.domain, question.key)
        return value === undefined ? undefined : encodeEntry(question.domain, value, modules)
      }
      case 'keys':
        return state.keys(question.domain)
      case 'module':
        return modules.encodedModuleOf(question.id)
      case 'proof':
        return verify(question.proof)
      case 'spv': {
        const verified = verifySpv(question.type, decodeStoredValue(question.object) as ObjectValue)
        return 'fault' in verified ? verified : { kept: encodeStoredValue(verified.value) }
      }
    }
  }
}

interface ThreadEvents {
  readonly onMessage: (message: Exclude<FromThread, { readonly ready: true }>) => void
  readonly onEnd: (reason: 'memory') => void
}

/** A running thread. */
class Thread {
  isReady = false
  /** Its Linux id; null on other systems, and until it is loaded. */
  threadId: number | null = null
  /** Resolves when the thread is loaded, or has ended. */
  readonly loaded: Promise<void>
  #load: () => void = () => undefined
  readonly #worker: ThreadWorker
  readonly #port: MessagePort
  readonly #signals = new Int32Array(new SharedArrayBuffer(8))
  readonly #events: ThreadEvents

  constructor({ modules, thread, commandLimits = COMMAND_LIMITS }: ExecutorOptions, events: ThreadEvents) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#events = events
    this.loaded = new Promise((resolve) => {
      this.#load = resolve
    })
    const data = { port: port2, signals: this.#signals, genesis: modules.genesis }
    const onEnd = () => {
      this.#load()
      // An error or an exit without a control request to end is a lack of memory: the thread catches all others.
      events.onEnd('memory')
    }
    this.#worker = ThreadWorker.acquire(data, { memoryMb: commandLimits.memoryMb, onEnd, thread })
    port1.on('message', (message: FromThread) => this.#take(message))
    port1.unref()
  }

  send(message: CommandTask | SignatureTask | ThreadAnswer): void {
    this.#port.postMessage(message)
    Atomics.add(this.#signals, TO_THREAD, 1)
    Atomics.notify(this.#signals, TO_THREAD)
  }

  /** Waits for a message, and handles it. */
  receive(waitMs: number): void {
    const seen = Atomics.load(this.#signals, TO_NODE)
    const received = receiveMessageOnPort(this.#port) as { readonly message: FromThread } | undefined
    if (received === undefined) Atomics.wait(this.#signals, TO_NODE, seen, waitMs)
    else this.#take(received.message)
  }

  #take(message: FromThread): void {
    if (!('ready' in message)) {
      this.#events.onMessage(message)
      return
    }
    this.isReady = true
    this.threadId = message.threadId
    this.#load()
  }

  /** Leaves the idle thread to another network. */
  leave(): void {
    this.#port.close()
    this.#worker.release()
  }

  end(): void {
    this.#port.close()
    this.#worker.end()
    this.#load()
  }
}

/** Calls `onOver` after some processor time of a command. */
class Deadline {
  readonly #onOver: () => void
  readonly #cpuMs: number
  readonly #spentMs: () => number
  readonly #startMs = performance.now()
  #timer: NodeJS.Timeout

  constructor(cpuMs: number, spentMs: () => number, onOver: () => void) {
    this.#cpuMs = cpuMs
    this.#spentMs = spentMs
    this.#onOver = onOver
    this.#timer = this.#startTimer(cpuMs)
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }

  #startTimer(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#checkTime(), ms).unref()
  }

  #checkTime(): void {
    const leftMs = this.#cpuMs - this.#spentMs()
    if (leftMs <= 0 || performance.now() - this.#startMs >= MAX_WALL_MS) this.#onOver()
    else this.#timer = this.#startTimer(Math.max(MIN_CHECK_INTERVAL_MS, leftMs / 2))
  }
}
