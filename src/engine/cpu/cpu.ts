/** The CPU engine: a Piscina pool with one long search task per thread, steered through shared memory. */
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { describeError, NewcutError } from '../../core/errors.ts'
import type { DeviceStatus, Engine, EngineEvents, EngineWork } from '../engine.ts'
import type { NonceRange } from '../range.ts'
import type { KernelPreference } from './kernels.ts'
import type { Priority } from './priority.ts'
import { SharedWork } from './shared.ts'
import type { SearchTask, ThreadMessage } from './thread.ts'

export interface CpuEngineOptions {
  /** Where each thread searches; there are as many threads. */
  readonly ranges: readonly NonceRange[]
  readonly kernel: KernelPreference
  readonly priority: Priority
}

interface Thread {
  readonly range: NonceRange
  kernel: string
  note: string | null
  took: number
  faults: number
}

const RESTART_PAUSE_MS = 1000
/** The compiled thread lies beside this file under the same ending. */
const THREAD_FILE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url).href

export class CpuEngine implements Engine {
  readonly name = 'cpu'
  readonly #options: CpuEngineOptions
  readonly #shared: SharedWork
  readonly #threads: Thread[]
  readonly #pool: Piscina
  readonly #warned = new Set<string>()
  #events: EngineEvents | null = null
  readonly #tasks = new Set<Promise<void>>()
  /** The newest work, while not every thread has taken it. */
  #taken: { readonly sequence: number; readonly resolve: (all: boolean) => void } | null = null

  constructor(options: CpuEngineOptions) {
    this.#options = options
    this.#shared = new SharedWork(options.ranges.length)
    this.#threads = options.ranges.map((range) => ({
      range,
      kernel: 'n/a',
      note: null,
      took: -1,
      faults: 0,
    }))
    this.#pool = new Piscina({
      filename: THREAD_FILE,
      name: 'search',
      minThreads: options.ranges.length,
      maxThreads: options.ranges.length,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: 1,
    })
  }

  async start(workBytes: number, events: EngineEvents): Promise<void> {
    this.#events = events
    try {
      await Promise.all(this.#threads.map((_, thread) => this.#launch(thread, workBytes)))
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  setWork(work: EngineWork): Promise<boolean> {
    this.#taken?.resolve(false)
    return new Promise((resolve) => {
      this.#taken = { sequence: work.sequence, resolve }
      this.#shared.publish(work)
    })
  }

  devices(): readonly DeviceStatus[] {
    return this.#threads.map(({ kernel, note, faults }, thread) => ({
      device: `thread${thread}`,
      kernel,
      faults,
      ...(note !== null && { note }),
      hashes: this.#shared.hashesOf(thread),
    }))
  }

  async stop(): Promise<void> {
    this.#events = null
    this.#taken?.resolve(false)
    this.#shared.stop()
    await Promise.all(this.#tasks)
    await this.#pool.destroy()
  }

  /** Starts a thread's task. Resolves when its kernel is ready, rejects when no kernel passes. */
  #launch(thread: number, workBytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { port1, port2 } = new MessageChannel()
      port1.on('message', (message: ThreadMessage) => {
        this.#receive(thread, message)
        if (message.type === 'ready') resolve()
        if (message.type === 'failed') reject(refusal(message.refused))
      })
      const task: SearchTask = {
        thread,
        threads: this.#threads.length,
        shared: this.#shared.buffer,
        range: this.#threads[thread].range,
        kernel: this.#options.kernel,
        priority: this.#options.priority,
        workBytes,
        port: port2,
      }
      const ended = this.#pool.run(task, { transferList: [port2] }).then(
        () => port1.close(),
        (error: unknown) => {
          port1.close()
          reject(error)
          this.#relaunch(thread, workBytes, error)
        },
      )
      this.#tasks.add(ended)
      void ended.finally(() => this.#tasks.delete(ended))
    })
  }

  /** A thread that died is replaced after a pause, and takes up the present work; its nonce range stays its own. */
  #relaunch(thread: number, workBytes: number, error: unknown): void {
    if (this.#events === null) return
    this.#threads[thread].faults++
    this.#warn(`search thread ${thread} died and is started again: ${describeError(error)}`)
    const timer = setTimeout(() => {
      if (this.#events === null) return
      this.#launch(thread, workBytes).catch((failure) => this.#warn(describeError(failure)))
    }, RESTART_PAUSE_MS)
    timer.unref()
  }

  #receive(thread: number, message: ThreadMessage): void {
    switch (message.type) {
      case 'ready':
        this.#threads[thread].kernel = message.kernel
        this.#threads[thread].note = message.note
        for (const sentence of message.refused) this.#warnOnce(sentence)
        return
      case 'failed':
        for (const sentence of message.refused) this.#warnOnce(sentence)
        return
      case 'retired':
        this.#threads[thread].faults++
        this.#warn(`thread ${thread}: ${message.sentence}`)
        return
      case 'took':
        this.#threads[thread].took = message.sequence
        if (this.#taken !== null && this.#threads.every(({ took }) => took === this.#taken?.sequence)) {
          this.#taken.resolve(true)
          this.#taken = null
        }
        return
      case 'candidate': {
        const { sequence, nonce } = message
        this.#events?.onCandidate({ sequence, nonce, device: `thread${thread}` })
      }
    }
  }

  #warn(message: string): void {
    this.#events?.onWarning(message)
  }

  /** All threads refuse the same kernels for the same reason. */
  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.#warn(message)
  }
}

function refusal(refused: readonly string[]): NewcutError {
  return new NewcutError('KERNEL_REFUSED', `no search kernel works here: ${refused.join('; ')}`, {
    hint: '--kernel auto takes whatever works here',
  })
}
