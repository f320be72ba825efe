/** The debugger's side of a program in a thread. */
import { once } from 'node:events'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import {
  type AnswerOf,
  type Breakpoints,
  type FromProgram,
  type Move,
  type ProgramQuestion,
  type RowBreakpoint,
  type Stopped,
  TO_PROGRAM,
  type ToProgram,
} from './messages.ts'

export type {
  FailureFilters,
  LineBreakpoint,
  Move,
  RowBreakpoint,
  ScopeName,
  ShownFrame,
  ShownVariable,
  StopReason,
} from './messages.ts'
export { hitRuleOf } from './messages.ts'

/** The thread of a test file is the module next to this one, with the same extension. */
export const testFileThread = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)

/** Stack of the thread, in MB. A followed expression takes more of it than others. */
const STACK_MB = 32

/** How a program pauses or ends. */
export type Halt =
  | { readonly stopped: Stopped }
  | { readonly ended: { readonly text: string; readonly hasFailed: boolean } }

export interface DebuggerEvents {
  onLine(line: string): void
  onTest(test: { readonly name: string; readonly at: string; readonly what: string | null }): void
  onHalt(halt: Halt): void
  /** Answers what the program needs; null for no answer. Default: there is none. */
  onNeed?(needs: unknown): Promise<unknown>
  /** The thread has ended by itself. */
  onBroken(why: string): void
}

export class Debugger {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #signals = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #answers = new Map<number, (answer: unknown) => void>()
  #next = 0
  #isClosed = false

  /**
   * @param thread main module of the thread
   * @param data what the program is, besides its port
   */
  constructor(thread: URL, data: object, events: DebuggerEvents) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(thread, {
      workerData: { ...data, port: port2, signals: this.#signals },
      transferList: [port2],
      resourceLimits: { stackSizeMb: STACK_MB },
    })
    port1.on('message', (message: FromProgram) => this.#take(message, events))
    const onEnd = (why: string) => {
      if (this.#isClosed) return
      this.#isClosed = true
      this.#release()
      events.onBroken(why)
    }
    this.#worker.on('error', ({ message }) => onEnd(message))
    this.#worker.on('exit', () => onEnd('its thread has ended'))
  }

  #take(message: FromProgram, events: DebuggerEvents): void {
    if ('id' in message) {
      this.#answers.get(message.id)?.(message.answer)
      this.#answers.delete(message.id)
    } else if ('line' in message) events.onLine(message.line)
    else if ('test' in message) events.onTest(message.test)
    else if ('needs' in message) void this.#supply(message.needs, events)
    else if ('broken' in message) events.onBroken(message.broken)
    else events.onHalt(message)
  }

  async #supply(needs: unknown, events: DebuggerEvents): Promise<void> {
    this.#send({ supplied: (await events.onNeed?.(needs)) ?? null })
  }

  #send(message: ToProgram): void {
    this.#port.postMessage(message)
    Atomics.add(this.#signals, TO_PROGRAM, 1)
    Atomics.notify(this.#signals, TO_PROGRAM)
  }

  setBreakpoints(breakpoints: Breakpoints): void {
    this.#send({ breakpoints })
  }

  /** @param row for `toWrite`: the row whose last write it is; default: any row */
  move(move: Move, row?: RowBreakpoint): void {
    this.#send({ move, row })
  }

  /** Pauses the program at its next expression. */
  pause(): void {
    this.#send({ pause: true })
  }

  ask<Q extends ProgramQuestion>(question: Q): Promise<AnswerOf[Q['ask']]> {
    const id = ++this.#next
    return new Promise((resolve) => {
      this.#answers.set(id, resolve as (answer: unknown) => void)
      this.#send({ id, question })
    })
  }

  /** Ends the program, wherever it is. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const ended = once(this.#worker, 'exit')
    await this.#worker.terminate()
    await ended
    this.#release()
  }

  #release(): void {
    this.#port.close()
    for (const resolve of this.#answers.values()) resolve(null)
    this.#answers.clear()
  }
}
