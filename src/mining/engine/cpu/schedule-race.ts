/**
 * Finds the fastest order of a kernel while all threads search. Each thread takes the orders in turn on the
 * slices of its work, so a race costs no hashes but those that slower orders do not do. A thread that shares its core
 * with another one favours other orders than a thread alone, so every thread measures, and one order serves all.
 */
import type { KernelName, ScheduleName } from './names.ts'
import { isNativeKernel } from './native-kernel.ts'

/** Least slices of each order in a race. */
const SLICES = 24
/** Least time of a race, so that a short pause of a neighbour does not decide. */
export const RACE_MS = 150
/** Least time of the first race of WebAssembly: V8 optimises both orders within its first 0.3 to 0.6 s. */
const FIRST_WASM_RACE_MS = 2_000

/** @param isFirst whether this thread has no earlier race of this kernel */
export const raceMsOf = (name: KernelName, isFirst: boolean): number =>
  isFirst && !isNativeKernel(name) ? FIRST_WASM_RACE_MS : RACE_MS
/** An order replaces the current one only if it is faster by this factor. */
const MARGIN = 1.02

/** Nanoseconds per nonce of each order in one thread: the median of its slices. */
export type DeviceRates = Readonly<Partial<Record<ScheduleName, number>>>

/** The race of one thread. */
export class ScheduleRace {
  readonly #slices: ReadonlyMap<ScheduleName, number[]>
  readonly #raceMs: number
  #measuredMs = 0

  constructor(orders: readonly ScheduleName[], raceMs: number) {
    this.#raceMs = raceMs
    this.#slices = new Map(orders.map((order) => [order, []]))
  }

  get isOver(): boolean {
    return this.#measuredMs >= this.#raceMs && this.#countOf(this.turn) >= SLICES
  }

  /** The order of the next slice: the one with the fewest. */
  get turn(): ScheduleName {
    return [...this.#slices.keys()].reduce((a, b) => (this.#countOf(b) < this.#countOf(a) ? b : a))
  }

  /** Adds a slice of the order whose turn it is. */
  add(nonces: number, milliseconds: number): void {
    this.#slices.get(this.turn)?.push((1e6 * milliseconds) / nonces)
    this.#measuredMs += milliseconds
  }

  paces(): DeviceRates {
    return Object.fromEntries([...this.#slices].map(([order, slices]) => [order, medianOf(slices)]))
  }

  #countOf(order: ScheduleName): number {
    return this.#slices.get(order)?.length ?? 0
  }
}

const medianOf = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

/**
 * The order that hashes most in all threads together.
 * @param threads what each thread measured
 */
export function fastestSchedule(current: ScheduleName, threads: readonly DeviceRates[]): ScheduleName {
  const rate = (order: ScheduleName) =>
    threads.reduce((sum, paces) => sum + (paces[order] === undefined ? 0 : 1 / paces[order]), 0)
  const orders = Object.keys(threads[0] ?? {}) as ScheduleName[]
  const best = orders.reduce((a, b) => (rate(b) > rate(a) ? b : a), current)
  return rate(best) > MARGIN * rate(current) ? best : current
}
