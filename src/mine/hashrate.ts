/** Hash rates over the windows people expect: 10 s, 60 s and 15 minutes; none before a window is full. */

export const WINDOWS_MS = { '10s': 10_000, '60s': 60_000, '15m': 900_000 } as const
export type WindowName = keyof typeof WINDOWS_MS
/** Hashes per second over each window, or null while it is not full. */
export type Hashrates = Readonly<Record<WindowName, number | null>>

const LONGEST_MS = WINDOWS_MS['15m']

interface Sample {
  readonly atMs: number
  readonly hashes: number
}

export class HashrateMeter {
  /** Oldest first; about one a second, so at most some 900. */
  readonly #samples: Sample[] = []

  /** Notes the count of hashes so far. Times must not decrease. */
  sample(atMs: number, hashes: number): void {
    this.#samples.push({ atMs, hashes })
    // One sample at or beyond the longest window stays, as the far end of its full width.
    while (this.#samples.length > 2 && this.#samples[1].atMs <= atMs - LONGEST_MS) this.#samples.shift()
  }

  rates(): Hashrates {
    return { '10s': this.#rate('10s'), '60s': this.#rate('60s'), '15m': this.#rate('15m') }
  }

  #rate(window: WindowName): number | null {
    const newest = this.#samples[this.#samples.length - 1]
    if (newest === undefined) return null
    const edge = newest.atMs - WINDOWS_MS[window]
    const from = this.#samples.findLast(({ atMs }) => atMs <= edge)
    if (from === undefined) return null
    return ((newest.hashes - from.hashes) * 1000) / (newest.atMs - from.atMs)
  }
}
