/**
 * Finds the fastest order of a native kernel while all threads search. Each thread takes the orders in turn on the
 * slices of its work, so a race costs no hashes but those that slower orders do not do. A thread that shares its core
 * with another one favours other orders than a thread alone, so every thread measures, and one order serves all.
 */
import { type Kernel, SWEEP_NONCES, tailLayout } from './kernel.ts'
import type { OrderName } from './names.ts'
import { createNativeKernel, type NativeAddon, type NativeName, ordersIn } from './native-kernel.ts'
import { agreementTest } from './self-test.ts'

/** Least slices of each order in a race. */
const SLICES = 24
/** Least time of a race, so that a short pause of a neighbour does not decide. */
const RACE_MS = 150
/** An order replaces the current one only if it is faster by this factor. */
const MARGIN = 1.02

/** Nanoseconds per nonce of each order in one thread: the median of its slices. */
export type Paces = Readonly<Partial<Record<OrderName, number>>>

/** Length of work on networks with ten or more chains. Other work has only one order. */
const WORK_BYTES = 286

/** The race of one thread. */
export class OrderRace {
  readonly #slices: ReadonlyMap<OrderName, number[]>
  #measuredMs = 0

  constructor(orders: readonly OrderName[]) {
    this.#slices = new Map(orders.map((order) => [order, []]))
  }

  get isOver(): boolean {
    return this.#measuredMs >= RACE_MS && this.#countOf(this.turn) >= SLICES
  }

  /** The order of the next slice: the one with the fewest. */
  get turn(): OrderName {
    return [...this.#slices.keys()].reduce((a, b) => (this.#countOf(b) < this.#countOf(a) ? b : a))
  }

  /** Adds a slice of the order whose turn it is. */
  add(nonces: number, milliseconds: number): void {
    this.#slices.get(this.turn)?.push((1e6 * milliseconds) / nonces)
    this.#measuredMs += milliseconds
  }

  paces(): Paces {
    return Object.fromEntries([...this.#slices].map(([order, slices]) => [order, medianOf(slices)]))
  }

  #countOf(order: OrderName): number {
    return this.#slices.get(order)?.length ?? 0
  }
}

const medianOf = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

/**
 * The order that hashes most in all threads together.
 * @param threads what each thread measured
 */
export function fastestOrder(current: OrderName, threads: readonly Paces[]): OrderName {
  const rate = (order: OrderName) =>
    threads.reduce((sum, paces) => sum + (paces[order] === undefined ? 0 : 1 / paces[order]), 0)
  const orders = Object.keys(threads[0] ?? {}) as OrderName[]
  const best = orders.reduce((a, b) => (rate(b) > rate(a) ? b : a), current)
  return rate(best) > MARGIN * rate(current) ? best : current
}

/** The orders of a kernel that agree with `halves`, and why others do not, a sentence each. */
export function testedOrders(
  name: NativeName,
  addon: NativeAddon,
  random: (bytes: number) => Uint8Array,
): { readonly kernels: ReadonlyMap<OrderName, Kernel>; readonly refused: readonly string[] } {
  const layout = tailLayout(WORK_BYTES)
  const plain = createNativeKernel(name, layout, addon)
  const kernels = new Map<OrderName, Kernel>([['halves', plain]])
  const refused: string[] = []
  for (const order of ordersIn(addon, name).filter((each) => each !== 'halves')) {
    const kernel = createNativeKernel(name, layout, addon, order)
    const failure = agreementTest(kernel, plain, layout, random)
    if (failure === null) kernels.set(order, kernel)
    else refused.push(`the order ${order} of kernel ${name} is not used: ${failure}`)
  }
  return { kernels, refused }
}

/** A race in this thread alone. */
export function raceHere(kernels: ReadonlyMap<OrderName, Kernel>, nowMs: () => number): Paces {
  for (const kernel of kernels.values()) kernel.setWork(new Uint32Array(8), new Uint32Array(16), 0)
  const race = new OrderRace([...kernels.keys()])
  for (let middle = 0; !race.isOver; middle++) {
    const startMs = nowMs()
    kernels.get(race.turn)?.sweep(0, middle, 0, SWEEP_NONCES)
    race.add(SWEEP_NONCES, nowMs() - startMs)
  }
  return race.paces()
}

/** Whether a kernel has several orders for work of this length. */
export const hasOrders = (name: NativeName, workBytes: number, addon: NativeAddon): boolean =>
  workBytes === WORK_BYTES && ordersIn(addon, name).length > 1
