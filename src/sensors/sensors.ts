/** The newest readings of the sensors of this machine, read beside all else. */
import type { Clock } from '../core/clock.ts'
import type { Reading } from '../mine/hardware.ts'
import { readHwmon } from './hwmon.ts'
import { askNvidia } from './nvidia.ts'

export interface SensorsOptions {
  readonly clock: Clock
  /** Folder of Linux's readings. */
  readonly hwmon: string
  /** Environment of tools, with the PATH in which they are looked for. */
  readonly env: NodeJS.ProcessEnv
  /** Whether there are cards now to ask the tools of their drivers for. */
  readonly hasCards: () => boolean
}

/** Readings are this old at most, and read no more often. */
const READ_MS = 5000
/** A tool that takes longer is not waited for. */
const TOOL_MS = 4000
/** How long a tool that hung is left alone. */
const SILENCE_MS = 300_000
/** Older readings are no longer told: the sensors hang. */
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

  /** The newest; empty until there are some. */
  get readings(): readonly Reading[] {
    const oldestMs = this.#options.clock.monotonicMs() - MAX_AGE_MS
    return [this.#hwmon, this.#nvidia].flatMap(({ readings, atMs }) => (atMs < oldestMs ? [] : readings))
  }

  stop(): void {
    this.#stopped.abort()
    for (const cancel of this.#cancels) cancel()
  }

  /** The next time comes when the last is over: a sensor that hangs is asked once. */
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
