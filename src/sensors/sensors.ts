/** The newest sensor readings of this machine, read in the background. */
import type { Clock } from '../core/clock.ts'
import type { Reading } from '../mine/hardware.ts'
import { readHwmon } from './hwmon.ts'
import { askNvidia } from './nvidia.ts'

export interface SensorsOptions {
  readonly clock: Clock
  /** The hwmon folder of Linux. */
  readonly hwmon: string
  /** Environment of tools, with the PATH to find them. */
  readonly env: NodeJS.ProcessEnv
  /** Whether the machine currently has cards to query. */
  readonly hasCards: () => boolean
}

/** Interval between readings. */
const READ_MS = 5000
/** Timeout of a tool. */
const TOOL_MS = 4000
/** Pause after a tool hung. */
const SILENCE_MS = 300_000
/** Maximum age: older readings are hidden, because the sensors hang. */
const MAX_AGE_MS = 30_000

interface LastReadings {
  readonly readings: readonly Reading[]
  readonly atMs: number
}

const NONE: LastReadings = { readings: [], atMs: 0 }

export class Sensors {
  readonly #options: SensorsOptions
  readonly #stopped = new AbortController()
  #hwmon = NONE
  #nvidia = NONE
  #askAtMs = 0
  readonly #cancels: (() => void)[] = [() => undefined, () => undefined]

  /** Reads at once, and every 5 s until stop(). */
  constructor(options: SensorsOptions) {
    this.#options = options
    this.#repeat(0, () => this.#readHwmon())
    this.#repeat(1, async () => {
      if (options.hasCards()) await this.#askNvidia()
    })
  }

  /** Readings of the last 30 s, perhaps none. */
  get readings(): readonly Reading[] {
    const oldestMs = this.#options.clock.monotonicMs() - MAX_AGE_MS
    return [this.#hwmon, this.#nvidia].flatMap(({ readings, atMs }) => (atMs < oldestMs ? [] : readings))
  }

  stop(): void {
    this.#stopped.abort()
    for (const cancel of this.#cancels) cancel()
  }

  /** Starts the next read only after the last one ends, so that a hung sensor is read once. */
  #repeat(place: number, read: () => Promise<void>): void {
    void read().then(() => {
      if (this.#stopped.signal.aborted) return
      this.#cancels[place] = this.#options.clock.after(READ_MS, () => this.#repeat(place, read))
    })
  }

  #kept(readings: readonly Reading[]): LastReadings {
    return { readings, atMs: this.#options.clock.monotonicMs() }
  }

  async #readHwmon(): Promise<void> {
    this.#hwmon = this.#kept(await readHwmon(this.#options.hwmon))
  }

  async #askNvidia(): Promise<void> {
    const { clock, env } = this.#options
    if (clock.monotonicMs() < this.#askAtMs) return
    const answer = await askNvidia({ env, timeoutMs: TOOL_MS, signal: this.#stopped.signal })
    this.#nvidia = typeof answer === 'string' ? NONE : this.#kept(answer)
    if (answer === 'missing') this.#askAtMs = Number.POSITIVE_INFINITY
    if (answer === 'silent') this.#askAtMs = clock.monotonicMs() + SILENCE_MS
  }
}
