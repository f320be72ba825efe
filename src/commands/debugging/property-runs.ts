/** How property tests of a debugged file draw values: at random once, and the same each time the file runs. */
import { randomInt } from 'node:crypto'

const RUNS = 256

export function propertyRuns() {
  return { seed: randomInt(2 ** 32 - 1), runs: RUNS }
}
