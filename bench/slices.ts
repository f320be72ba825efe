/**
 * Records the slices of each search thread in memory shared with the main thread, without messages. Each thread has a ring
 * of entries of four float64:
 *
 *     begin (ms) || end (ms) || sequence of the work || hashes, or -1 without work
 *
 * An int32 per thread before the rings counts its entries.
 */

/** A slice of a thread, between two reads of the shared sequence. */
export interface Slice {
  readonly thread: number
  /** Start on the shared clock of all processes, like the end. */
  readonly fromMs: number
  readonly toMs: number
  readonly sequence: number
  /** Hashes of the slice, or null without work. */
  readonly hashes: number | null
}

/** Name of the memory in `setEnvironmentData`. */
export const SLICES = 'newcut bench slices'
/** Capacity of a thread's ring; a slice takes at least a quarter of a millisecond. */
const CAPACITY = 32_768
const FIELDS = 4
const RESTED = -1

export class SliceLog {
  readonly buffer: SharedArrayBuffer
  readonly #written: Int32Array
  readonly #entries: Float64Array
  readonly #read: number[]

  /** @param buffer the shared memory, in a thread */
  constructor(threads: number, buffer?: SharedArrayBuffer) {
    const countBytes = 8 * Math.ceil(threads / 2)
    this.buffer = buffer ?? new SharedArrayBuffer(countBytes + threads * CAPACITY * FIELDS * 8)
    this.#written = new Int32Array(this.buffer, 0, threads)
    this.#entries = new Float64Array(this.buffer, countBytes)
    this.#read = Array.from({ length: threads }, () => 0)
  }

  /** Records a slice, in the thread itself. */
  write({ thread, fromMs, toMs, sequence, hashes }: Slice): void {
    const number = Atomics.load(this.#written, thread)
    const at = FIELDS * (thread * CAPACITY + (number % CAPACITY))
    this.#entries.set([fromMs, toMs, sequence, hashes ?? RESTED], at)
    Atomics.store(this.#written, thread, number + 1)
  }

  /**
   * All slices since the last call, thread by thread.
   * @throws if some were overwritten
   */
  take(): Slice[] {
    const slices: Slice[] = []
    for (const [thread, read] of this.#read.entries()) {
      const written = Atomics.load(this.#written, thread)
      for (let number = read; number < written; number++) {
        const at = FIELDS * (thread * CAPACITY + (number % CAPACITY))
        const [fromMs, toMs, sequence, hashes] = this.#entries.subarray(at, at + FIELDS)
        slices.push({ thread, fromMs, toMs, sequence, hashes: hashes === RESTED ? null : hashes })
      }
      this.#read[thread] = written
      if (Atomics.load(this.#written, thread) - read > CAPACITY) throw new Error('slices were not read in time')
    }
    return slices
  }
}
