/**
 * Gas of test files.
 *
 * Code is free until the file selects the table of prices and sets a limit, as in the test runner of the network. The
 * prices of free code are summed up too, for `newcut test --gas`.
 */
import type { TextPlace } from '../errors.ts'
import type { GasMeter } from '../machine/environment.ts'
import { type RunBounds, RunEnded } from './test-start.ts'

const MILLIGAS = 1000

/** Gas of one form at the top level of a file. */
export interface FormGas {
  readonly file: string
  readonly place: TextPlace
  /** First line of the form. */
  readonly text: string
  readonly milligas: number
}

export class TestGas {
  /** Milligas, as code sees them. */
  used = 0
  isTable = false
  /** Milligas; null for no limit, and then gas does not count. */
  limit: number | null = null
  /** Milligas of all code so far, counted or not. */
  charged = 0
  /** Work of all code so far. It has no limit of gas, so the meter of an evaluator always begins at 0. */
  work = 0
  /** Charges of more than 0 since the last look at the log, or null before the first one. */
  log: number[] | null = null
  readonly #bounds: RunBounds

  constructor(bounds: RunBounds | null = null) {
    this.#bounds = bounds ?? { milligas: Number.POSITIVE_INFINITY, work: Number.POSITIVE_INFINITY }
  }

  get isCounted(): boolean {
    return this.isTable && this.limit !== null
  }

  /** Gas, rounded up. */
  get gas(): number {
    return Math.ceil(this.used / MILLIGAS)
  }

  /** Forgets what a file set and used. The sums of all code stay. */
  reset(): void {
    this.used = 0
    this.isTable = false
    this.limit = null
  }

  /** The meter of an evaluator. */
  meter(): GasMeter {
    return new TestGasMeter(this)
  }

  /** Counts a charge of code. @throws RunEnded beyond the bounds */
  add(milligas: number): void {
    this.charged += milligas
    if (this.charged > this.#bounds.milligas) throw new RunEnded(null)
    if (!this.isCounted) return
    this.used += milligas
    if (milligas > 0) this.log?.push(milligas)
  }

  /** Counts work of code. @throws RunEnded beyond the bounds */
  addWork(units: number): void {
    this.work += units
    if (this.work > this.#bounds.work) throw new RunEnded(null)
  }
}

/** The gas of a test run as an evaluator sees it. */
class TestGasMeter implements GasMeter {
  readonly #gas: TestGas

  constructor(gas: TestGas) {
    this.#gas = gas
  }

  get used(): number {
    return this.#gas.used
  }

  set used(used: number) {
    this.#gas.add(used - this.#gas.used)
  }

  get limit(): number {
    return this.#gas.isCounted ? (this.#gas.limit ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
  }

  get work(): number {
    return 0
  }

  set work(units: number) {
    this.#gas.addWork(units)
  }
}
