/**
 * Workers that execute contract code. Loading the language takes about a quarter of a second of processor time. So the
 * worker of a closed network waits a while for the next network of this process.
 */
import { Worker } from 'node:worker_threads'
import type { ThreadData } from './messages.ts'

/** The compiled module of a worker is next to this file, with the same extension. */
const MODULE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
/** Part of a worker's heap for new objects, in MB. */
const YOUNG_MB = 64
/** Maximum number of idle workers: a network has up to three, and a reset closes one network and opens another. */
export const MAX_IDLE_WORKERS = 6
/** How long a worker waits for a network. */
export const IDLE_WORKER_MS = 60_000

/** Workers without a network, the longest waiting first. */
const idle: ThreadWorker[] = []

interface WorkerOptions {
  /** Heap of the worker, in MB. */
  readonly memoryMb: number
  /** Called when the worker ends without a control request: all its memory is in use, or it did not load. */
  readonly onEnd: () => void
  /** Module of the worker; default: the one next to this file. */
  readonly thread?: URL | undefined
}

export class ThreadWorker {
  /** Module and memory: workers that differ in neither replace each other. */
  readonly #kind: string
  readonly #worker: Worker
  /** Called when the worker ends without an order. */
  #onEnd: () => void = () => undefined
  #expiry: NodeJS.Timeout | undefined

  private constructor(kind: string, data: ThreadData, module: URL, memoryMb: number) {
    this.#kind = kind
    const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB }
    this.#worker = new Worker(module, { workerData: data, transferList: [data.port], resourceLimits })
    this.#worker.on('error', () => this.#onEnd())
    this.#worker.on('exit', () => this.#onEnd())
    this.#worker.unref()
  }

  /** Gives a network a worker: one that waits, or else a new one. */
  static acquire(data: ThreadData, { memoryMb, onEnd, thread = MODULE }: WorkerOptions): ThreadWorker {
    const kind = `${memoryMb} ${thread.href}`
    const place = idle.findLastIndex((each) => each.#kind === kind)
    const worker = place < 0 ? new ThreadWorker(kind, data, thread, memoryMb) : idle.splice(place, 1)[0]
    worker.#onEnd = onEnd
    if (place >= 0) worker.#serve(data)
    return worker
  }

  #serve(data: ThreadData): void {
    clearTimeout(this.#expiry)
    this.#worker.postMessage(data, [data.port])
  }

  /** Takes an idle worker back from its network, which has closed its port. */
  release(): void {
    this.#onEnd = () => this.#drop()
    this.#expiry = setTimeout(() => this.#drop(), IDLE_WORKER_MS).unref()
    idle.push(this)
    if (idle.length > MAX_IDLE_WORKERS) idle[0].#drop()
  }

  #drop(): void {
    const place = idle.indexOf(this)
    if (place >= 0) idle.splice(place, 1)
    this.end()
  }

  /** Ends the worker, whatever it does. */
  end(): void {
    clearTimeout(this.#expiry)
    this.#onEnd = () => undefined
    void this.#worker.terminate()
  }
}
