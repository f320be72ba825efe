/**
 * The memory that the main thread and the search threads share. New work reaches a running thread through it, without
 * a message and without ending the thread's task:
 *
 *     int32[0] sequence of the work   int32[1] write lock (odd while written)   int32[2] stop   int32[3] work bytes
 *     work (WORK_CAPACITY bytes) || hashes tried, i64 per thread
 */
const SEQUENCE = 0
const LOCK = 1
const STOP = 2
const LENGTH = 3
const HEADER_BYTES = 16
/** Room for work of the largest known graph (degree 7: 430 bytes). */
const WORK_CAPACITY = 512

/** One writer, any number of readers. */
export class SharedWork {
  readonly buffer: SharedArrayBuffer
  readonly #control: Int32Array
  readonly #work: Uint8Array
  readonly #hashes: BigInt64Array

  constructor(threads: number, buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(HEADER_BYTES + WORK_CAPACITY + 8 * threads)
    this.#control = new Int32Array(this.buffer, 0, HEADER_BYTES / 4)
    this.#work = new Uint8Array(this.buffer, HEADER_BYTES, WORK_CAPACITY)
    this.#hashes = new BigInt64Array(this.buffer, HEADER_BYTES + WORK_CAPACITY, threads)
  }

  /** Main thread: publishes work (null: none) under a sequence and wakes threads that wait. */
  publish(sequence: number, bytes: Uint8Array | null): void {
    if (bytes !== null && bytes.length > WORK_CAPACITY) throw new RangeError(`work of ${bytes.length} bytes`)
    Atomics.add(this.#control, LOCK, 1)
    if (bytes !== null) this.#work.set(bytes)
    Atomics.store(this.#control, LENGTH, bytes?.length ?? 0)
    Atomics.store(this.#control, SEQUENCE, sequence)
    Atomics.add(this.#control, LOCK, 1)
    Atomics.notify(this.#control, SEQUENCE)
  }

  /** Main thread: tells all threads to end their task. */
  stop(): void {
    Atomics.store(this.#control, STOP, 1)
    Atomics.add(this.#control, SEQUENCE, 1)
    Atomics.notify(this.#control, SEQUENCE)
  }

  hashesOf(thread: number): number {
    return Number(Atomics.load(this.#hashes, thread))
  }

  /** The sequence of the present work: one atomic load, read by threads between slices. */
  get sequence(): number {
    return Atomics.load(this.#control, SEQUENCE)
  }

  get stopped(): boolean {
    return Atomics.load(this.#control, STOP) !== 0
  }

  /** A consistent copy of sequence and work; null bytes when there is none. */
  read(): { sequence: number; bytes: Uint8Array | null } {
    for (;;) {
      const before = Atomics.load(this.#control, LOCK)
      const sequence = this.sequence
      const length = Atomics.load(this.#control, LENGTH)
      const bytes = length === 0 ? null : this.#work.slice(0, length)
      if (before % 2 === 0 && Atomics.load(this.#control, LOCK) === before) return { sequence, bytes }
    }
  }

  /** Search thread: sleeps until the sequence is no longer this one, at most `timeoutMs`. */
  wait(sequence: number, timeoutMs: number): void {
    Atomics.wait(this.#control, SEQUENCE, sequence, timeoutMs)
  }

  /** Search thread: counts nonces it has tried. */
  count(thread: number, hashes: number): void {
    Atomics.add(this.#hashes, thread, BigInt(hashes))
  }
}
