/** The newest sensor readings of this machine, read in the background. */
import type { Clock } from '#ground/base/clock.ts'
import { everyAfter } from '#ground/base/signals.ts'
import { MAX_GAP_MS, type TimedReading } from '../mine/energy.ts'
import type { SensorReading } from '../mine/hardware.ts'
import { readHwmon } from './hwmon.ts'
import { askNvidia } from './nvidia.ts'
import { type PackageCounter, problemText, readPackages, wattsBetween } from './powercap.ts'

export interface SensorsOptions {
  readonly clock: Clock
  /** The hwmon folder of Linux. */
  readonly hwmon: string
  /** The powercap folder of Linux. */
  readonly powercap: string
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

type TimedSensorReading = SensorReading & TimedReading

interface PreviousReadings {
  readonly readings: readonly TimedSensorReading[]
  readonly atMs: number
}

const NONE: PreviousReadings = { readings: [], atMs: Number.NEGATIVE_INFINITY }

/** The last power of the CPU packages, or null if it is unknown, and the counters that the next one starts from. */
interface PreviousPackageCounters extends TimedReading {
  readonly watts: number | null
  readonly counters: readonly PackageCounter[] | null
}

const NO_PACKAGES: PreviousPackageCounters = {
  watts: null,
  counters: null,
  readAtMs: Number.NEGATIVE_INFINITY,
  spanMs: 0,
}
const PROCESSOR = { kind: 'cpu', vendor: '', model: null, pci: null, celsius: null, fanPercent: null } as const

export class Sensors {
  readonly #options: SensorsOptions
  readonly #stopped = new AbortController()
  #hwmon = NONE
  #nvidia = NONE
  #packages = NO_PACKAGES
  #powerProblem: string | null = null
  #askAtMs = 0
  /** Place of a sensor -> ends the wait for its next reading. */

  /** Reads at once, and every 5 s until stop(). */
  constructor(options: SensorsOptions) {
    this.#options = options
    this.#repeat(() => this.#readHwmon())
    this.#repeat(async () => {
      if (options.hasCards()) await this.#askNvidia()
    })
    this.#repeat(() => this.#readPackages())
  }

  /** Why the power of the processor cannot be read, and what to do about it; null if it can, or is not read yet. */
  get powerProblem(): string | null {
    return this.#powerProblem
  }

  /** Readings of the last 30 s, perhaps none. The first one of a processor has the power of all packages. */
  get readings(): readonly TimedSensorReading[] {
    const oldestMs = this.#options.clock.monotonicMs() - MAX_AGE_MS
    const recent = [this.#hwmon, this.#nvidia].flatMap(({ readings, atMs }) => (atMs < oldestMs ? [] : readings))
    const { watts, readAtMs, spanMs } = this.#packages
    if (watts === null || readAtMs < oldestMs) return recent
    const first = recent.find(({ kind }) => kind === 'cpu')
    return [{ ...(first ?? PROCESSOR), watts, readAtMs, spanMs }, ...recent.filter((each) => each !== first)]
  }

  stop(): void {
    this.#stopped.abort()
  }

  /** Starts the next read only after the last one ends, so that a hung sensor is read once. */
  #repeat(read: () => Promise<void>): void {
    const { clock } = this.#options
    void read().then(() => everyAfter(clock, READ_MS, this.#stopped.signal, read))
  }

  /** Adds the time of the readings, and since the previous ones of the same devices. */
  #addTimes(readings: readonly SensorReading[], before: PreviousReadings): PreviousReadings {
    const atMs = this.#options.clock.monotonicMs()
    const timed = readings.map((reading) => {
      const last = before.readings.find(({ kind, pci }) => kind === reading.kind && pci === reading.pci)
      return { ...reading, readAtMs: atMs, spanMs: last?.watts == null ? 0 : spanOf(before.atMs, atMs) }
    })
    return { readings: timed, atMs }
  }

  async #readHwmon(): Promise<void> {
    const readings = await readHwmon(this.#options.hwmon)
    this.#hwmon = this.#addTimes(readings, this.#hwmon)
  }

  async #readPackages(): Promise<void> {
    const counters = await readPackages(this.#options.powercap)
    if ('problem' in counters) {
      this.#powerProblem = problemText(counters)
      this.#packages = NO_PACKAGES
      return
    }
    this.#powerProblem = null
    const { counters: before, readAtMs: beforeMs } = this.#packages
    const readAtMs = this.#options.clock.monotonicMs()
    const spanMs = spanOf(beforeMs, readAtMs)
    const watts = before === null || spanMs === 0 ? null : wattsBetween(before, counters, spanMs)
    this.#packages = { watts, counters, readAtMs, spanMs }
  }

  async #askNvidia(): Promise<void> {
    const { clock, env } = this.#options
    if (clock.monotonicMs() < this.#askAtMs) return
    const answer = await askNvidia({ env, timeoutMs: TOOL_MS, signal: this.#stopped.signal })
    this.#nvidia = typeof answer === 'string' ? NONE : this.#addTimes(answer, this.#nvidia)
    if (answer === 'missing') this.#askAtMs = Number.POSITIVE_INFINITY
    if (answer === 'silent') this.#askAtMs = clock.monotonicMs() + SILENCE_MS
  }
}

/** The time between two readings, or 0 if it is a gap. */
const spanOf = (beforeMs: number, nowMs: number) => (nowMs - beforeMs > MAX_GAP_MS ? 0 : nowMs - beforeMs)
