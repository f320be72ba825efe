/**
 * A search thread: one Piscina task for the whole life of the engine. It sweeps slices of its nonce range, and checks
 * the shared sequence between them for new work.
 */
import { randomBytes, randomInt } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import { finish, type Midstate, midstate } from '#ground/chain/blake2s.ts'
import { type FixedNonce, FREE_NONCE } from '#ground/chain/nonce.ts'
import { meetsWords } from '#ground/chain/pow.ts'
import {
  type FreeMiddles,
  freeLows,
  freeMiddles,
  lowWith,
  middleAt,
  type NonceRange,
  nextLow,
  nonceOf,
} from '../range.ts'
import { type Kernel, SWEEP_NONCES, tailLayout } from './kernel.ts'
import { chooseKernel } from './kernels.ts'
import type { KernelName, KernelPreference } from './names.ts'
import { loadChosen, type NativeChoice } from './native-choice.ts'
import { isNativeKernel } from './native-kernel.ts'
import { lowerThreadPriority, type Priority } from './priority.ts'
import { CHECKED_NONCES, Recheck } from './recheck.ts'
import { type DeviceRates, raceMsOf, ScheduleRace } from './schedule-race.ts'
import { type SharedContent, SharedWork } from './shared.ts'
import { hasSchedules, testedSchedules } from './tested-schedules.ts'

export interface SearchTask {
  readonly thread: number
  readonly threads: number
  readonly shared: SharedArrayBuffer
  readonly range: NonceRange
  readonly kernel: KernelPreference
  readonly native: NativeChoice
  readonly priority: Priority
  /** Length of the work to prepare for. */
  readonly workBytes: number
  readonly port: MessagePort
}

/** A message of a search thread to the main thread. */
export type ThreadMessage =
  | {
      readonly type: 'ready'
      readonly kernel: string
      readonly refused: readonly string[]
      readonly note: string | null
    }
  | { readonly type: 'failed'; readonly refused: readonly string[] }
  /** The thread has the work of this sequence. `searches` is false if no kernel can search it. */
  | { readonly type: 'took'; readonly sequence: number; readonly searches: boolean }
  /** All nonces of this work have been tried; the thread rests until other work arrives. */
  | { readonly type: 'done'; readonly sequence: number }
  /** `hashes`: of all threads when it was found. */
  | { readonly type: 'candidate'; readonly sequence: number; readonly nonce: bigint; readonly hashes: number }
  /** A kernel computed a wrong result during the search; the next best takes over. */
  | { readonly type: 'retired'; readonly sentence: string }
  /** The thread has measured the orders of its kernel. `refused`: why some were not, a sentence each. */
  | {
      readonly type: 'raced'
      readonly race: number
      readonly name: KernelName
      readonly paces: DeviceRates
      readonly refused: readonly string[]
    }

/** After this many candidates for one work, a thread slows down: the target is trivial, and one candidate is enough. */
const MAX_CANDIDATE_BURST = 8
const CANDIDATE_PAUSE_MS = 5
const IDLE_WAIT_MS = 1000
/** Pause after each slice, for tests that only wait while a miner searches (test/pace.ts). */
const PACE_MS = Number(process.env.TEST_SEARCH_PACE_MS ?? 0)
/** Slices between checks of a kernel: one every second or two at most. */
const CHECK_EVERY_SLICES = 2_500

/** The Piscina task. Returns when the engine stops. */
export function search(task: SearchTask): void {
  new SearchThread(task).run()
}

class SearchThread {
  readonly #task: SearchTask
  readonly #shared: SharedWork
  /** Length of work -> its kernel, or null if none works. */
  readonly #kernels = new Map<number, Kernel | null>()
  readonly #retired = new Set<KernelName>()
  /** `low` before the fixed bits are inserted; `#low` includes them. */
  #freeLow: number
  #fixed: FixedNonce = FREE_NONCE
  #middles: FreeMiddles
  /** Middles completed with the current `low`. */
  #middlesDone = 0
  /** The current header including its nonce, and how many pairs of low and middle are completed for it. */
  #searched: Uint8Array | null = null
  #completed = 0
  /** The next nonce. */
  #low: number
  #middle: number
  #high = 0
  #slicesUntilCheck = randomInt(CHECK_EVERY_SLICES)
  readonly #recheck = new Recheck()
  /** Tested kernels of all orders, once a race has begun. */
  #ordered: ReturnType<typeof testedSchedules> | null = null
  #race: ScheduleRace | null = null
  #raceNumber = 0

  constructor(task: SearchTask) {
    this.#task = task
    this.#shared = new SharedWork(task.threads, task.shared)
    this.#freeLow = task.range.low
    this.#low = task.range.low
    this.#middles = freeMiddles(task.range, FREE_NONCE)
    this.#middle = middleAt(this.#middles, this.#middles.start)
  }

  run(): void {
    // Run the self-test first: at low priority it would take half a minute on a busy machine.
    this.#kernelFor(this.#task.workBytes)
    if (this.#task.priority === 'low') lowerThreadPriority()
    while (!this.#shared.stopped) {
      const content = this.#shared.read()
      const { sequence, bytes } = content
      const kernel = bytes === null ? null : this.#kernelFor(bytes.length)
      this.#send({ type: 'took', sequence, searches: bytes === null || kernel !== null })
      if (bytes === null || kernel === null) this.#rest(sequence)
      else this.#searchWork(kernel, bytes, content)
    }
  }

  /** Sleeps until there is other work or the engine stops. */
  #rest(sequence: number): void {
    while (this.#shared.sequence === sequence && !this.#shared.stopped) this.#shared.wait(sequence, IDLE_WAIT_MS)
  }

  #send(message: ThreadMessage): void {
    this.#task.port.postMessage(message)
  }

  #kernelFor(workBytes: number): Kernel | null {
    const known = this.#kernels.get(workBytes)
    if (known !== undefined) return known
    const { kernel: preference, native } = this.#task
    const load = () => loadChosen(native)
    const { kernel, refused, note } = chooseKernel(workBytes, preference, randomBytes, this.#retired, load)
    this.#kernels.set(workBytes, kernel)
    this.#send(kernel === null ? { type: 'failed', refused } : { type: 'ready', kernel: kernel.name, refused, note })
    return kernel
  }

  /** Sweeps until the sequence changes or the kernel is retired. */
  #searchWork(kernel: Kernel, bytes: Uint8Array, { sequence, target, fixedNonce }: SharedContent): void {
    const mid = midstate(bytes)
    this.#begin(bytes, fixedNonce)
    const bound = Number(target >> 224n)
    let candidates = 0
    const prepared = new Set<Kernel>()
    while (this.#shared.sequence === sequence) {
      if (this.#isExhausted) {
        this.#send({ type: 'done', sequence })
        this.#rest(sequence)
        return
      }
      const from = this.#high
      const to = Math.min(from + kernel.sliceNonces, SWEEP_NONCES)
      const race = this.#raceOf(kernel, bytes.length)
      const order = race?.turn ?? this.#shared.order
      const current = (order !== null && this.#ordered?.kernels.get(order)) || kernel
      if (!prepared.has(current)) current.setWork(mid.state, mid.tail, bound)
      prepared.add(current)
      if (!this.#isTrusted(current, mid, bound)) return
      const startMs = race === null ? 0 : performance.now()
      const chunk = current.sweep(this.#low, this.#middle, from, to)
      // A slice that ends early measures little.
      if (race !== null && chunk === to) race.add(to - from, performance.now() - startMs)
      const end = chunk < to ? chunk + current.lanes : to
      // Count before reporting a candidate: its receiver must find its hash counted.
      this.#shared.count(this.#task.thread, end - from)
      for (let high = chunk; high < end && chunk < to; high++) {
        if (!this.#solvesFully(mid, high, target)) continue
        const nonce = nonceOf(this.#low, this.#middle, high)
        this.#send({ type: 'candidate', sequence, nonce, hashes: this.#shared.totalHashes() })
        if (++candidates > MAX_CANDIDATE_BURST) this.#shared.wait(sequence, CANDIDATE_PAUSE_MS)
      }
      this.#advance(end)
      if (PACE_MS > 0) this.#shared.wait(sequence, PACE_MS)
    }
  }

  /** The race of the orders of this kernel, while there is one. Reports it when it is over. */
  #raceOf(kernel: Kernel, workBytes: number): ScheduleRace | null {
    const { race: number } = this.#shared
    const { name } = kernel
    if (number !== this.#raceNumber) {
      this.#raceNumber = number
      this.#race = null
      const addon = isNativeKernel(name) ? loadChosen(this.#task.native) : { sweeps: {}, obstacle: null }
      if (!hasSchedules(name, workBytes, addon)) return null
      const raceMs = raceMsOf(name, this.#ordered === null)
      this.#ordered ??= testedSchedules(name, addon, randomBytes)
      this.#race = new ScheduleRace([...this.#ordered.kernels.keys()], raceMs)
    }
    if (this.#race?.isOver) {
      const { refused = [] } = this.#ordered ?? {}
      this.#send({ type: 'raced', race: number, name, paces: this.#race.paces(), refused })
      this.#race = null
    }
    return this.#race
  }

  /** Continues at the current position, with these fixed bits. */
  #begin(bytes: Uint8Array, fixed: FixedNonce): void {
    const isSame = this.#searched !== null && Buffer.compare(this.#searched, bytes) === 0
    const isAsFixed = this.#fixed.bits === fixed.bits && this.#fixed.value === fixed.value
    if (!isSame || !isAsFixed) this.#completed = 0
    this.#searched = bytes
    this.#fixed = fixed
    this.#low = lowWith(this.#freeLow, fixed)
    this.#middles = freeMiddles(this.#task.range, fixed)
    this.#middlesDone %= this.#middles.count
    this.#middle = this.#nextMiddle()
  }

  /** Whether all nonces of this header have been tried; a pool may leave so few that this takes seconds. */
  get #isExhausted(): boolean {
    return this.#completed >= this.#middles.count * freeLows(this.#fixed)
  }

  #nextMiddle(): number {
    const { start, count } = this.#middles
    return middleAt(this.#middles, (start + this.#middlesDone) % count)
  }

  /** The order is that of range.ts. */
  #advance(high: number): void {
    this.#high = high
    if (high < SWEEP_NONCES) return
    this.#high = 0
    this.#completed++
    this.#middlesDone = (this.#middlesDone + 1) % this.#middles.count
    this.#middle = this.#nextMiddle()
    if (this.#middlesDone > 0) return
    this.#freeLow = nextLow(this.#freeLow, this.#fixed)
    this.#low = lowWith(this.#freeLow, this.#fixed)
  }

  /**
   * Checks the kernel once in CHECK_EVERY_SLICES.
   * @returns false if the kernel was wrong and is retired
   */
  #isTrusted(kernel: Kernel, mid: Midstate, bound: number): boolean {
    if (this.#slicesUntilCheck-- > 0) return true
    this.#slicesUntilCheck = CHECK_EVERY_SLICES
    const from = this.#high - (this.#high % CHECKED_NONCES)
    const sentence = this.#recheck.findDisagreement(kernel, mid, bound, { low: this.#low, middle: this.#middle, from })
    if (sentence === null) return true
    this.#retired.add(kernel.name)
    this.#kernels.clear()
    this.#ordered = null
    this.#send({ type: 'retired', sentence: `${sentence}; another kernel takes over` })
    return false
  }

  /** Compares the whole hash of one lane with the whole target; kernels compare only top words. */
  #solvesFully(mid: Midstate, high: number, target: bigint): boolean {
    const { nonceWord } = tailLayout(mid.totalBytes)
    const tail = Uint32Array.from(mid.tail)
    tail[nonceWord] = (tail[nonceWord] & 0xffff) | (this.#low << 16)
    tail[nonceWord + 1] = this.#middle
    tail[nonceWord + 2] = high
    return meetsWords(finish(mid, tail), target)
  }
}
