/** How much JavaScript a program runs, counted: a number that no machine and no neighbour changes. */
import { Session } from 'node:inspector'

/** Compiled files of the project. */
const OWN = /\/dist\/src\//

/** The counts of a run with coverage belong to its report. */
export const canCount = process.env.NODE_V8_COVERAGE === undefined

interface Counts {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
  }[]
}

/** Counts how often the blocks of the project's compiled files run: bodies of functions and loops, and branches. */
export class WorkCount {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Blocks that ran since the last call. */
  take(): number {
    let sum = 0
    this.#session.post('Profiler.takePreciseCoverage', (_error, counts: Counts | undefined) => {
      for (const { url, functions } of counts?.result ?? []) {
        if (!OWN.test(url)) continue
        for (const { ranges } of functions) for (const { count } of ranges) sum += count
      }
    })
    return sum
  }

  stop(): void {
    this.#session.disconnect()
  }
}
