/**
 * Virtual time: it passes only on demand. During a simulation it also replaces the timers and clocks of the process, so
 * that libraries wait on it too.
 */
import type { Clock } from '../../src/ground/base/clock.ts'

/** The owner of a timer. Timers of the miner and its client are bounded, and none may be left over. */
export type Owner = 'miner' | 'world'

/** Start of a simulation, in milliseconds since the UNIX epoch. */
const START_MS = 1_800_000_000_000
/** Rounds of the event loop after every timer. They complete the work of sockets, parsers and promises. */
const ROUNDS = 4

interface Entry {
  readonly dueMs: number
  /** Timers with the same due time run in the order in which they were set. */
  readonly number: number
  readonly owner: Owner
  run: (() => void) | null
}

const real = { setImmediate: globalThis.setImmediate }

export class VirtualTime {
  /** Time since the start. */
  nowMs = 0
  /** How far the clock of the miner is ahead of the true time. */
  minerAheadMs = 0
  /** The owner of timers that are set now. */
  owner: Owner = 'miner'
  /** Binary heap. */
  readonly #heap: Entry[] = []
  readonly #pending: Record<Owner, number> = { miner: 0, world: 0 }
  #number = 0

  pending(owner: Owner): number {
    return this.#pending[owner]
  }

  trueWallMs(): number {
    return START_MS + this.nowMs
  }

  /** The clock of the miner. */
  readonly clock: Clock = {
    wallMs: () => this.trueWallMs() + this.minerAheadMs,
    monotonicMs: () => this.nowMs,
    after: (delayMs, run) => this.#after(delayMs, run, this.owner),
  }

  /** Sets a timer of the world. */
  after(delayMs: number, run: () => void): () => void {
    return this.#after(delayMs, () => this.asWorld(run), 'world')
  }

  /** Runs a function whose timers belong to the world. */
  asWorld<T>(run: () => T): T {
    const before = this.owner
    this.owner = 'world'
    try {
      return run()
    } finally {
      this.owner = before
    }
  }

  #after(delayMs: number, run: () => void, owner: Owner): () => void {
    const entry: Entry = { dueMs: this.nowMs + Math.max(0, delayMs), number: this.#number++, owner, run }
    this.#pending[owner]++
    this.#push(entry)
    return () => {
      if (entry.run === null) return
      entry.run = null
      this.#pending[owner]--
    }
  }

  /**
   * Lets time pass until `endMs`. Calls `onQuiet` whenever nothing runs any more. Calls it again at the due time of the
   * next timer, before that runs: the state has lasted until then.
   */
  async passUntil(endMs: number, onQuiet: () => void): Promise<void> {
    for (;;) {
      await settle()
      onQuiet()
      const entry = this.#next(endMs)
      if (entry === null) break
      if (entry.dueMs > this.nowMs) {
        this.nowMs = entry.dueMs
        onQuiet()
      }
      const { run } = entry
      entry.run = null
      this.#pending[entry.owner]--
      run?.()
    }
    this.nowMs = Math.max(this.nowMs, endMs)
    onQuiet()
  }

  /** Blocks the process: timers that are due meanwhile run late. */
  block(durationMs: number): void {
    this.nowMs += durationMs
  }

  #next(endMs: number): Entry | null {
    for (;;) {
      const [first] = this.#heap
      if (first === undefined || (first.run !== null && first.dueMs > endMs)) return null
      this.#pop()
      if (first.run !== null) return first
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(heap[parent], entry)) break
      heap[at] = heap[parent]
      at = parent
    }
    heap[at] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++
      if (isBefore(last, heap[child])) break
      heap[at] = heap[child]
      at = child
    }
    heap[at] = last
  }

  /** Replaces the timers, clocks and random numbers of the process. @returns a function that restores them */
  install(random: () => number): () => void {
    const before = {
      setTimeout: globalThis.setTimeout,
      clearTimeout: globalThis.clearTimeout,
      setInterval: globalThis.setInterval,
      setImmediate: globalThis.setImmediate,
      dateNow: Date.now,
      performanceNow: performance.now,
      random: Math.random,
    }
    const replaced = globalThis as unknown as Record<string, unknown>
    replaced.setTimeout = (run: (...given: unknown[]) => void, delayMs = 0, ...given: unknown[]) =>
      new Timeout(this.#after(Math.max(1, delayMs), () => run(...given), this.owner))
    // Timers from before the simulation are not its own.
    replaced.clearTimeout = (timer: unknown) => {
      if (timer instanceof Timeout) timer.cancel()
      else before.clearTimeout(timer as NodeJS.Timeout)
    }
    // Immediates of the world belong to the world too.
    replaced.setImmediate = (run: (...given: unknown[]) => void, ...given: unknown[]) =>
      this.owner === 'miner'
        ? real.setImmediate(run, ...given)
        : real.setImmediate(() => this.asWorld(() => run(...given)))
    replaced.setInterval = () => {
      throw new Error('nothing in a simulation may set an interval')
    }
    Date.now = () => this.clock.wallMs()
    performance.now = () => this.nowMs
    Math.random = random
    return () => {
      globalThis.setTimeout = before.setTimeout
      globalThis.clearTimeout = before.clearTimeout
      globalThis.setInterval = before.setInterval
      globalThis.setImmediate = before.setImmediate
      Date.now = before.dateNow
      performance.now = before.performanceNow
      Math.random = before.random
    }
  }
}

/** The result of setTimeout. */
class Timeout {
  readonly cancel: () => void

  constructor(cancel: () => void) {
    this.cancel = cancel
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.number < b.number)
}

/** Runs everything that only waits for its turn in the event loop. */
export async function settle(): Promise<void> {
  for (let i = 0; i < ROUNDS; i++) await new Promise<void>((resolve) => void real.setImmediate(resolve))
}
