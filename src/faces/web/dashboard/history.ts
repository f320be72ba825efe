/** Keeps the hashrates of the last two hours for pages that open later. Memory is bounded. */
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { MAX_LINES, ratesOf, roundRate } from './lines.ts'
import type { RateHistory, RateSample } from './state.ts'

/** Sampling interval. Samples are 10 s averages, so they cover every hash. */
export const SAMPLE_EVERY_MS = 10_000
/** Two hours. */
const MAX_SAMPLES = 720

interface TimedSample extends RateSample {
  /** Monotonic time in milliseconds. */
  readonly monotonicMs: number
}

export class RateRing {
  #samples: TimedSample[] = []

  /** Records the current hashrates. Times must not decrease. @returns the recorded sample */
  sample({ devices, hashrates }: Pick<Snapshot, 'devices' | 'hashrates'>, at: Times): RateSample {
    const sample = { atMs: at.wallMs, total: roundRate(hashrates['10s']), lines: ratesOf(devices) }
    this.#samples.push({ ...sample, monotonicMs: at.monotonicMs })
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift()
    return sample
  }

  /** All samples. Times derive from the current wall clock, so a clock change leaves no gap or overlap. */
  history(now: Times): RateHistory {
    const names = new Set(this.#samples.flatMap(({ lines }) => Object.keys(lines)))
    return {
      atMs: this.#samples.map(({ monotonicMs }) => Math.round(now.wallMs - (now.monotonicMs - monotonicMs))),
      total: this.#samples.map(({ total }) => total),
      // The newest lines, if devices came and went.
      lines: [...names].slice(-MAX_LINES).map((name) => {
        return { name, rates: this.#samples.map(({ lines }) => lines[name] ?? null) }
      }),
    }
  }
}

/** One moment on the wall clock and the monotonic clock. */
export interface Times {
  readonly wallMs: number
  readonly monotonicMs: number
}
