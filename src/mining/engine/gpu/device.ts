/** One GPU: a child process that is replaced when it fails, until it has failed too often. */
import type { Candidate, DeviceStatus, EngineWork } from '../engine.ts'
import { restartedRange } from '../range.ts'
import { restartPauseMs } from '../restart.ts'
import { type ChildEnd, GpuChild, type LiveReport } from './child-process.ts'
import { type AdapterInfo, type SearchSettings, type Tuning, workCommand } from './messages.ts'

interface GpuDeviceOptions {
  /** `gpu0`, ... */
  readonly name: string
  readonly settings: SearchSettings
  readonly env: Readonly<Record<string, string>>
  readonly program?: URL | undefined
  /** A device with work that returns no batch for this time has failed. */
  readonly silenceMs: number
  /** Upper bound of the backoff before a first restart. It doubles with each consecutive failure. */
  readonly restartMs: number
  /** A search of this length resets the number of failures. */
  readonly settledMs: number
  /** In [0, 1), for the jitter. */
  readonly random: () => number
  readonly onCandidate: (candidate: Candidate) => void
  readonly onWarning: (message: string) => void
  /** The device is ready to search. */
  readonly onUp: () => void
  /** The device has begun the work of this sequence. */
  readonly onTook: (sequence: number) => void
  /** Called with the number of tried nonces, before the candidates among them. */
  readonly onHashes: (nonces: number) => void
  /** The device stopped searching. */
  readonly onDown: () => void
}

/** After this many consecutive failures the device is parked. */
const MAX_FAILURES = 5
/** Timeout for opening a driver, compiling the shader and tuning. */
const MAX_START_MS = 60_000
const WATCH_MS = 250

type State = 'idle' | 'starting' | 'searching' | 'restarting' | 'parked'

export class GpuDevice {
  readonly #options: GpuDeviceOptions
  #state: State = 'idle'
  #child: GpuChild | null = null
  #adapter: AdapterInfo | null = null
  #tuning: Tuning | null = null
  #work: EngineWork | null = null
  #hashes = 0
  #batches = 0
  #serviceMs = 0
  #starts = 0
  /** Consecutive failures, and all failures. */
  #failures = 0
  #faults = 0
  #lastFailure = ''
  /** Total service time of the current child. */
  #searchedMs = 0
  #lastSignMs = 0
  #lastWatchMs = 0
  #watch: NodeJS.Timeout | undefined
  #restart: NodeJS.Timeout | undefined
  /** Resolves the start with null, or with the first child's failure. */
  #resolveStart: (failure: string | null) => void = () => undefined

  constructor(options: GpuDeviceOptions) {
    this.#options = options
  }

  /**
   * Starts the device. Another child may follow a failed one.
   * @returns null when the device is ready, or why its first child failed
   */
  start(): Promise<string | null> {
    this.#watch = setInterval(() => this.#checkSilence(), WATCH_MS).unref()
    return new Promise((resolve) => {
      this.#resolveStart = resolve
      this.#launch()
    })
  }

  setWork(work: EngineWork): void {
    // The silence starts here only if there was no work before: frequent new work must not hide a hung device.
    if (this.#work === null || this.#work.bytes === null) this.#lastSignMs = performance.now()
    this.#work = work
    this.#child?.send(workCommand(work))
  }

  get isParked(): boolean {
    return this.#state === 'parked'
  }

  get adapter(): AdapterInfo | null {
    return this.#adapter
  }

  get tuning(): Tuning | null {
    return this.#tuning
  }

  /** Process id of the current child. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Number of batches, and the total service time of the device. */
  get batches(): { readonly count: number; readonly serviceMs: number } {
    return { count: this.#batches, serviceMs: this.#serviceMs }
  }

  status(): DeviceStatus {
    const state = this.#state
    return {
      device: this.#options.name,
      kernel: 'wgsl',
      ...(this.#adapter !== null && { model: this.#adapter.name, vendor: this.#adapter.vendor }),
      hashes: this.#hashes,
      faults: this.#faults,
      ...((state === 'restarting' || state === 'parked') && { state, reason: this.#lastFailure }),
    }
  }

  /** A parked or restarting device keeps that state. */
  async stop(): Promise<void> {
    if (this.#state !== 'parked' && this.#state !== 'restarting') this.#state = 'idle'
    clearInterval(this.#watch)
    clearTimeout(this.#restart)
    this.#resolveStart('stopped')
    await this.#child?.kill()
    this.#child = null
  }

  #launch(): void {
    const { settings, env, program } = this.#options
    this.#state = this.#starts === 0 ? 'starting' : 'restarting'
    this.#lastSignMs = performance.now()
    this.#searchedMs = 0
    this.#child = new GpuChild({
      env,
      program,
      onReport: (report) => this.#receive(report),
      onEnd: (end) => this.#fail(end),
    })
    const range = restartedRange(settings.range, this.#starts++)
    this.#child.send({ type: 'search', settings: { ...settings, range } })
    if (this.#work !== null) this.#child.send(workCommand(this.#work))
  }

  #receive(report: LiveReport): void {
    this.#lastSignMs = performance.now()
    const newest = this.#work?.sequence ?? -1
    switch (report.type) {
      case 'ready':
        this.#state = 'searching'
        this.#adapter = report.adapter
        this.#tuning = report.tuning
        this.#resolveStart(null)
        this.#options.onUp()
        return
      case 'began':
        // A higher number is invalid: no such work was issued.
        if (report.sequence <= newest) this.#options.onTook(report.sequence)
        return
      case 'batch': {
        const { sequence, nonces, serviceMs, candidates } = report
        if (sequence > newest) return
        this.#hashes += nonces
        this.#options.onHashes(nonces)
        this.#batches++
        this.#serviceMs += serviceMs
        this.#searchedMs += serviceMs
        if (this.#searchedMs > this.#options.settledMs) this.#failures = 0
        const device = this.#options.name
        for (const hex of candidates) this.#options.onCandidate({ sequence, nonce: BigInt(`0x${hex}`), device })
        return
      }
      case 'warning':
        this.#options.onWarning(`${this.#options.name}: ${report.message}`)
    }
  }

  /** Checks whether the child is silent for too long. */
  #checkSilence(): void {
    const nowMs = performance.now()
    // This process was suspended or busy, so reports of the child may be waiting.
    if (nowMs - this.#lastWatchMs > 4 * WATCH_MS) this.#lastSignMs = nowMs
    this.#lastWatchMs = nowMs
    if (this.#child === null) return
    const isStarting = this.#state !== 'searching'
    if (!isStarting && (this.#work === null || this.#work.bytes === null)) return
    const patienceMs = isStarting ? MAX_START_MS : this.#options.silenceMs
    if (nowMs - this.#lastSignMs > patienceMs) {
      this.#fail({ reason: `no batch for ${Math.round(patienceMs / 100) / 10} s`, hopeless: false })
    }
  }

  #fail({ reason, hopeless }: ChildEnd): void {
    const { name, restartMs, random, onWarning, onDown } = this.#options
    void this.#child?.kill()
    this.#child = null
    this.#failures++
    this.#faults++
    this.#lastFailure = reason
    // A device that has searched may do so again: a removed card may come back.
    const isHopeless = hopeless && this.#adapter === null
    if (isHopeless || this.#failures >= MAX_FAILURES) {
      this.#state = 'parked'
      const tries = this.#failures === 1 ? '' : ` after ${this.#failures} failures in a row`
      onWarning(`${name} is parked${tries}: ${reason}`)
    } else {
      this.#state = 'restarting'
      const pauseMs = restartPauseMs(this.#failures, restartMs, random)
      onWarning(`${name} failed and is started again in ${pauseMs / 1000} s: ${reason}`)
      this.#restart = setTimeout(() => this.#launch(), pauseMs).unref()
    }
    this.#resolveStart(reason)
    onDown()
  }
}
