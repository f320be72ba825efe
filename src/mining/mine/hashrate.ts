/** Hashrates over 10 s, 60 s and 15 minutes, the usual windows of miners. */

const WINDOWS_MS = { '10s': 10_000, '60s': 60_000, '15m': 900_000 } as const
type WindowName = keyof typeof WINDOWS_MS
/** Hashes per second over each window, or null until the window is full. */
export type Hashrates = Readonly<Record<WindowName, number | null>>

/** Hashrates, and the highest 10-second rate so far, or null until that window was full once. */
export interface RateWindows extends Hashrates {
  readonly highest: number | null
}

export const NO_RATES: Hashrates = { '10s': null, '60s': null, '15m': null }

/** Sampling interval of each window. The time that a rate covers exceeds its window by at most one interval. */
const STEPS_MS: Readonly<Record<WindowName, number>> = { '10s': 1000, '60s': 5000, '15m': 60_000 }

export const NO_WINDOWS: RateWindows = { ...NO_RATES, highest: null }

/** Uses constant memory: 12 + 14 + 17 samples, however often and long it is sampled. */
export class HashrateMeter {
  readonly #windows = {
    '10s': new Samples(WINDOWS_MS['10s'], STEPS_MS['10s']),
    '60s': new Samples(WINDOWS_MS['60s'], STEPS_MS['60s']),
    '15m': new Samples(WINDOWS_MS['15m'], STEPS_MS['15m']),
  }
  #highest: number | null = null

  /** Records the total number of hashes. Times must not decrease. A lower total means that the device restarted. */
  sample(atMs: number, hashes: number): void {
    for (const window of Object.values(this.#windows)) window.add(atMs, hashes)
    const rate = this.#windows['10s'].rate()
    if (rate !== null && rate > (this.#highest ?? 0)) this.#highest = rate
  }

  get highest(): number | null {
    return this.#highest
  }

  rates(): Hashrates {
    const { '10s': short, '60s': middle, '15m': long } = this.#windows
    return { '10s': short.rate(), '60s': middle.rate(), '15m': long.rate() }
  }
}

/** Ring of samples, one per interval, plus the newest sample. */
class Samples {
  readonly #windowMs: number
  readonly #stepMs: number
  readonly #times: Float64Array
  readonly #hashes: Float64Array
  /** Samples ever added. */
  #count = 0
  #newestMs = 0
  #newestHashes = 0

  constructor(windowMs: number, stepMs: number) {
    this.#windowMs = windowMs
    this.#stepMs = stepMs
    // Two extra samples: the oldest may be one interval older than the window, and the newest is its end.
    const capacity = windowMs / stepMs + 2
    this.#times = new Float64Array(capacity)
    this.#hashes = new Float64Array(capacity)
  }

  add(atMs: number, hashes: number): void {
    if (hashes < this.#newestHashes) this.#count = 0
    const last = this.#times[(this.#count - 1) % this.#times.length]
    if (this.#count === 0 || Math.floor(atMs / this.#stepMs) > Math.floor(last / this.#stepMs)) {
      const index = this.#count++ % this.#times.length
      this.#times[index] = atMs
      this.#hashes[index] = hashes
    }
    this.#newestMs = atMs
    this.#newestHashes = hashes
  }

  /** The rate since the latest sample that is at least one window old, or null if there is none. */
  rate(): number | null {
    const edgeMs = this.#newestMs - this.#windowMs
    const oldest = Math.max(0, this.#count - this.#times.length)
    for (let sample = this.#count - 1; sample >= oldest; sample--) {
      const index = sample % this.#times.length
      const fromMs = this.#times[index]
      if (fromMs <= edgeMs) return ((this.#newestHashes - this.#hashes[index]) * 1000) / (this.#newestMs - fromMs)
    }
    return null
  }
}
