/**
 * Gas of test files.
 *
 * Code is free until the file selects the table of prices and sets a limit, as in the test runner of the network. The
 * prices of free code are summed up too, for `newcut test --gas`.
 */
import type { TextPlace } from '../errors.ts'
import type { GasCharge, GasMeter } from '../machine/environment.ts'
import { ofConstant, SILENT } from '../machine/gas/cost-names.ts'
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

/** A line of the gas log, without its milligas. */
interface LoggedCharge {
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
  /** Charges since the last look at the log, or null before the first one. */
  log: LoggedCharge[] | null = null
  /** Milligas of parts of the next cost. */
  #parts = 0
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
  meter(whereOf: (charge: GasCharge) => string): GasMeter {
    return new TestGasMeter(this, whereOf)
  }

  /** Counts a charge of code. @throws RunEnded beyond the bounds */
  add(milligas: number): void {
    this.charged += milligas
    if (this.charged > this.#bounds.milligas) throw new RunEnded(null)
    if (!this.isCounted) return
    this.used += milligas
  }

  /** Notes a charge for the log. @param where file and place of the code */
  note({ milligas, name }: GasCharge, where: () => string): void {
    if (this.log === null || !this.isCounted) return
    const sum = this.#parts + milligas
    this.#parts = name === SILENT ? sum : 0
    if (name !== SILENT) this.log.push({ text: `${(name ?? ofConstant)(sum)} ${where()}`, milligas: sum })
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
  readonly #whereOf: (charge: GasCharge) => string

  constructor(gas: TestGas, whereOf: (charge: GasCharge) => string) {
    this.#gas = gas
    this.#whereOf = whereOf
  }

  note(charge: GasCharge): void {
    this.#gas.note(charge, () => this.#whereOf(charge))
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
