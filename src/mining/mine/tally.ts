/** Verdict counters of each device. */
import { noVerdicts, type Verdict, type VerdictCounts } from '#ground/chain/solution.ts'

export interface DeviceTally {
  readonly solutions: VerdictCounts
  /** Claimed nonces that are not solutions. */
  readonly hardwareErrors: number
}

/** Maximum number of devices, which bounds the memory: those of a fleet come and go. The oldest entries are evicted. */
const MAX_DEVICES = 10_000

const NOTHING: DeviceTally = { solutions: noVerdicts, hardwareErrors: 0 }

export class Tally {
  readonly #devices = new Map<string, DeviceTally>()

  /** Adds 1 to the device's counter of this verdict, or subtracts 1. */
  count(device: string, verdict: Verdict, change: 1 | -1): void {
    const { solutions, hardwareErrors } = this.#tallyOf(device)
    // An evicted device starts at zero again, with nothing to subtract from.
    const count = Math.max(0, solutions[verdict] + change)
    this.#set(device, { solutions: { ...solutions, [verdict]: count }, hardwareErrors })
  }

  error(device: string): void {
    const before = this.#tallyOf(device)
    this.#set(device, { ...before, hardwareErrors: before.hardwareErrors + 1 })
  }

  /** Sums the counters of several devices. */
  sum(devices: Iterable<string>): DeviceTally {
    const solutions = { ...noVerdicts }
    let hardwareErrors = 0
    for (const device of devices) {
      const own = this.#tallyOf(device)
      for (const verdict of Object.keys(solutions) as Verdict[]) solutions[verdict] += own.solutions[verdict]
      hardwareErrors += own.hardwareErrors
    }
    return { solutions, hardwareErrors }
  }

  #tallyOf(device: string): DeviceTally {
    return this.#devices.get(device) ?? NOTHING
  }

  #set(device: string, tally: DeviceTally): void {
    this.#devices.set(device, tally)
    const [first] = this.#devices.keys()
    if (this.#devices.size > MAX_DEVICES) this.#devices.delete(first)
  }
}
