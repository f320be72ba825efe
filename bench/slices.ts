/**
 * What each search thread did when, as the threads write it down themselves, into memory that they share with the main
 * thread: no message has to come back. For each thread a ring of entries of four float64:
 *
 *     begin (ms) || end (ms) || sequence of the work || hashes, or -1: it had nothing to search
 *
 * Before the rings, an int32 for each thread counts the entries it has written.
 */

/** What a thread did from one look at the shared sequence to the next. */
export interface Slice {
  readonly thread: number
  /** On the clock that all processes of the machine share, as is the end. */
  readonly fromMs: number
  readonly toMs: number
  readonly sequence: number
  /** null: there was nothing to search. */
  readonly hashes: number | null
}

/** Where threads find the memory: a name of `setEnvironmentData`. */
export const SLICES = 'newcut bench slices'
/** Entries of a thread that nobody has read yet; a slice takes a quarter of a millisecond and more. */
const CAPACITY = 32_768
const FIELDS = 4
const RESTED = -1

export class SliceLog {
  readonly buffer: SharedArrayBuffer
  readonly #written: Int32Array
  readonly #entries: Float64Array
  readonly #read: number[]

  /** `buffer`: that of another one, in a thread. */
  constructor(threads: number, buffer?: SharedArrayBuffer) {
    const countBytes = 8 * Math.ceil(threads / 2)
    this.buffer = buffer ?? new SharedArrayBuffer(countBytes + threads * CAPACITY * FIELDS * 8)
    this.#written = new Int32Array(this.buffer, 0, threads)
    this.#entries = new Float64Array(this.buffer, countBytes)
    this.#read = Array.from({ length: threads }, () => 0)
  }

  /** In the thread itself. */
  write({ thread, fromMs, toMs, sequence, hashes }: Slice): void {
    const number = Atomics.load(this.#written, thread)
    const at = FIELDS * (thread * CAPACITY + (number % CAPACITY))
    this.#entries.set([fromMs, toMs, sequence, hashes ?? RESTED], at)
    Atomics.store(this.#written, thread, number + 1)
  }

  /** All that was written since the last call, thread by thread. Throws when some of it is gone. */
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
