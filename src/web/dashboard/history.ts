/** The rates of the last two hours, so that a page that is opened later shows the past. Memory does not grow. */
import type { Snapshot } from '../../mine/snapshot.ts'
import { MAX_LINES, ratesOf, rounded } from './lines.ts'
import type { RateHistory, RateSample } from './state.ts'

/** Time between two samples: they are rates over 10 s, so every hash is in one of them. */
export const SAMPLE_EVERY_MS = 10_000
/** Two hours. */
const MAX_SAMPLES = 720

interface TimedSample extends RateSample {
  /** On the clock that never jumps. */
  readonly monotonicMs: number
}

export class RateRing {
  #samples: TimedSample[] = []

  /** Takes the present rates. Times must not decrease. Returns what was kept. */
  sample({ devices, hashrates }: Pick<Snapshot, 'devices' | 'hashrates'>, at: Times): RateSample {
    const sample = { atMs: at.wallMs, total: rounded(hashrates['10s']), lines: ratesOf(devices) }
    this.#samples.push({ ...sample, monotonicMs: at.monotonicMs })
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift()
    return sample
  }

  /** All samples. Their times are told by the present wall clock, so that a clock that was set leaves no knot. */
  history(now: Times): RateHistory {
    const names = new Set(this.#samples.flatMap(({ lines }) => Object.keys(lines)))
    return {
      atMs: this.#samples.map(({ monotonicMs }) => Math.round(now.wallMs - (now.monotonicMs - monotonicMs))),
      total: this.#samples.map(({ total }) => total),
      // The newest lines, where devices came and went.
      lines: [...names].slice(-MAX_LINES).map((name) => {
        return { name, rates: this.#samples.map(({ lines }) => lines[name] ?? null) }
      }),
    }
  }
}

/** One moment on both clocks. */
export interface Times {
  readonly wallMs: number
  readonly monotonicMs: number
}
