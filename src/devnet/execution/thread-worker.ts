/**
 * Workers that execute contract code. A worker has loaded the language and the first block after about half a second of
 * processor time, so the worker of a closed network waits a while for the next network of this process.
 */
import { Worker } from 'node:worker_threads'
import type { ThreadData } from './messages.ts'

/** The compiled module of a worker is next to this file, with the same extension. */
const MODULE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
/** Memory of a worker. Far above what the memory limit of the language allows. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 }
/** Most workers that wait for a network. A network has up to three, and a reset closes one network for another. */
export const MAX_SPARE = 6
/** How long a worker waits for a network. */
export const SPARE_MS = 60_000

/** Workers without a network, the longest waiting first. */
const spare: ThreadWorker[] = []

export class ThreadWorker {
  readonly #module: string
  readonly #worker: Worker
  /** Called when the worker ends without an order. */
  #onEnd: () => void = () => undefined
  #expiry: NodeJS.Timeout | undefined

  private constructor(module: URL, data: ThreadData) {
    this.#module = module.href
    this.#worker = new Worker(module, { workerData: data, transferList: [data.port], resourceLimits: RESOURCE_LIMITS })
    this.#worker.on('error', () => this.#onEnd())
    this.#worker.on('exit', () => this.#onEnd())
    this.#worker.unref()
  }

  /**
   * Gives a network a worker: one that waits, or else a new one.
   * @param onEnd called when the worker ends without an order: all its memory is in use, or it did not load
   * @param module module of the worker; default: the one next to this file
   */
  static for(data: ThreadData, onEnd: () => void, module: URL = MODULE): ThreadWorker {
    const place = spare.findLastIndex((each) => each.#module === module.href)
    const worker = place < 0 ? new ThreadWorker(module, data) : spare.splice(place, 1)[0]
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
    this.#expiry = setTimeout(() => this.#drop(), SPARE_MS).unref()
    spare.push(this)
    if (spare.length > MAX_SPARE) spare[0].#drop()
  }

  #drop(): void {
    const place = spare.indexOf(this)
    if (place >= 0) spare.splice(place, 1)
    this.end()
  }

  /** Ends the worker, whatever it does. */
  end(): void {
    clearTimeout(this.#expiry)
    this.#onEnd = () => undefined
    void this.#worker.terminate()
  }
}
