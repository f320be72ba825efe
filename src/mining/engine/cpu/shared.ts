/**
 * Shared memory of the main thread and the search threads. It delivers new work to running threads without messages,
 * and without ending their tasks:
 *
 *     int32[0] sequence of the work   int32[1] write lock (odd while written)   int32[2] stop   int32[3] work bytes
 *     int32[4] fixed bits of the nonce   int32[5] their value   int32[6] number of the race
 *     int32[7] its winner: 1 for the first schedule
 *     target (u256 LE) || work (WORK_CAPACITY bytes) || hashes tried, i64 per thread
 */
import { readU256LE, writeU256LE } from '#ground/base/bytes.ts'
import { MAX_WORK_BYTES } from '#ground/chain/header.ts'
import type { EngineWork } from '../engine.ts'
import { type ScheduleName, scheduleNames } from './names.ts'

const SEQUENCE = 0
const LOCK = 1
const STOP = 2
const LENGTH = 3
const FIXED_BITS = 4
const FIXED_VALUE = 5
const RACE = 6
const ORDER = 7
const CONTROL_BYTES = 32
const TARGET_BYTES = 32
/** Space for the longest work that the decoder accepts, rounded up so that the counters after it are 8-byte aligned. */
const WORK_CAPACITY = 8 * Math.ceil(MAX_WORK_BYTES / 8)
const WORK_AT = CONTROL_BYTES + TARGET_BYTES
const HASHES_AT = WORK_AT + WORK_CAPACITY

/** The content that threads search. */
export type SharedContent = Pick<EngineWork, 'sequence' | 'bytes' | 'target' | 'fixedNonce'>

/** One writer, any number of readers. */
export class SharedWork {
  readonly buffer: SharedArrayBuffer
  readonly #control: Int32Array
  readonly #target: Uint8Array
  readonly #work: Uint8Array
  readonly #hashes: BigInt64Array

  constructor(threads: number, buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(HASHES_AT + 8 * threads)
    this.#control = new Int32Array(this.buffer, 0, CONTROL_BYTES / 4)
    this.#target = new Uint8Array(this.buffer, CONTROL_BYTES, TARGET_BYTES)
    this.#work = new Uint8Array(this.buffer, WORK_AT, WORK_CAPACITY)
    this.#hashes = new BigInt64Array(this.buffer, HASHES_AT, threads)
  }

  /** Main thread: publishes work of at most MAX_WORK_BYTES, and wakes waiting threads. */
  publish({ sequence, bytes, target, fixedNonce }: SharedContent): void {
    if (bytes !== null && bytes.length > WORK_CAPACITY)
      throw new RangeError(`work of ${bytes.length} bytes is too long`)
    Atomics.add(this.#control, LOCK, 1)
    if (bytes !== null) this.#work.set(bytes)
    writeU256LE(this.#target, 0, target)
    Atomics.store(this.#control, LENGTH, bytes?.length ?? 0)
    Atomics.store(this.#control, FIXED_BITS, fixedNonce.bits)
    Atomics.store(this.#control, FIXED_VALUE, fixedNonce.value)
    Atomics.store(this.#control, SEQUENCE, sequence)
    Atomics.add(this.#control, LOCK, 1)
    Atomics.notify(this.#control, SEQUENCE)
  }

  /** Main thread: ends the tasks of all threads. */
  stop(): void {
    Atomics.store(this.#control, STOP, 1)
    Atomics.add(this.#control, SEQUENCE, 1)
    Atomics.notify(this.#control, SEQUENCE)
  }

  /** Main thread: lets all threads measure the orders of their kernel. Returns the number of this race. */
  startRace(): number {
    return Atomics.add(this.#control, RACE, 1) + 1
  }

  /** Number of the latest race, 0 before the first. */
  get race(): number {
    return Atomics.load(this.#control, RACE)
  }

  /** The order that won the latest race, or null before the first. */
  get order(): ScheduleName | null {
    return scheduleNames[Atomics.load(this.#control, ORDER) - 1] ?? null
  }

  set order(order: ScheduleName) {
    Atomics.store(this.#control, ORDER, scheduleNames.indexOf(order) + 1)
  }

  hashesOf(thread: number): number {
    return Number(Atomics.load(this.#hashes, thread))
  }

  /** Hashes of all threads. */
  totalHashes(): number {
    let total = 0
    for (let thread = 0; thread < this.#hashes.length; thread++) total += this.hashesOf(thread)
    return total
  }

  /** Sequence of the current work: one atomic load, which threads read between slices. */
  get sequence(): number {
    return Atomics.load(this.#control, SEQUENCE)
  }

  get stopped(): boolean {
    return Atomics.load(this.#control, STOP) !== 0
  }

  /** Reads a consistent copy. */
  read(): SharedContent {
    for (;;) {
      const before = Atomics.load(this.#control, LOCK)
      const sequence = this.sequence
      const length = Atomics.load(this.#control, LENGTH)
      const bytes = length === 0 ? null : this.#work.slice(0, length)
      const target = readU256LE(this.#target, 0)
      const fixedNonce = {
        bits: Atomics.load(this.#control, FIXED_BITS),
        value: Atomics.load(this.#control, FIXED_VALUE) >>> 0,
      }
      const isConsistent = before % 2 === 0 && Atomics.load(this.#control, LOCK) === before
      if (isConsistent) return { sequence, bytes, target, fixedNonce }
    }
  }

  /** Search thread: sleeps until the sequence changes, at most `timeoutMs`. */
  wait(sequence: number, timeoutMs: number): void {
    Atomics.wait(this.#control, SEQUENCE, sequence, timeoutMs)
  }

  /** Search thread: adds tried nonces. */
  count(thread: number, hashes: number): void {
    Atomics.add(this.#hashes, thread, BigInt(hashes))
  }
}
