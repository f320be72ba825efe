/** The only loop: newest job -> engines -> judge -> hand in. Knows sources and engines by their ports alone. */
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { withCreationTime, withNonce } from '../core/header.ts'
import { hasFixedBits } from '../core/nonce.ts'
import { meets, powHash } from '../core/pow.ts'
import { difficultyOf } from '../core/target.ts'
import { type Work, workFromBytes } from '../core/work.ts'
import { type Candidate, type DeviceStatus, type Engine, type EngineEvents, noWork } from '../engine/engine.ts'
import type { Job, Source } from '../source/source.ts'
import type { MinerEvent, SolutionEvent } from './events.ts'
import type { Unfinished } from './life.ts'
import { Lives } from './lives.ts'
import { idleReasonOf, Rates, type Snapshot } from './stats.ts'

export interface MinerOptions {
  readonly source: Source
  readonly engines: readonly Engine[]
  readonly clock: Clock
  readonly onEvent: (event: MinerEvent) => void
  /** Stop after this many accepted blocks. */
  readonly blocks?: number | undefined
  /** Stop after this time. */
  readonly durationMs?: number | undefined
  /** Solutions of earlier runs that are to live on. They do not count for `blocks`. */
  readonly unfinished?: readonly Unfinished[] | undefined
}

const SAMPLE_MS = 1000
const SPEED_MS = 60_000
/** How often the creation time of the current work is brought up to the validator's clock. */
const ROLL_MS = 5_000
/** Works kept for judging late claims. A claim for older work is ignored. */
const MAX_ISSUED_WORKS = 256
/** Having nothing to search is reported only after this time. */
const IDLE_MS = 500

/** A job under one sequence number: with one creation time. */
interface Issued {
  readonly work: Work
  readonly pursuit: Pursuit
}

/** A job while it is searched. */
interface Pursuit {
  readonly job: Job
  readonly difficulty: number
  readonly receivedAtMs: number
  /** Its first sequence number: an external worker may search the job as it was then. */
  readonly firstSequence: number
  /** A solution was found and is on its way; no other is wanted. */
  solved: boolean
}

export class Miner {
  readonly #options: MinerOptions
  readonly #rates = new Rates()
  readonly #issued = new Map<number, Issued>()
  readonly #stop = new AbortController()
  readonly #lives: Lives
  /** Engines that started. */
  #engines: readonly Engine[] = []
  #startedAtMs = 0
  #sequence = 0
  #current: Issued | null = null
  #cancelIdle: () => void = () => undefined
  #hardwareErrors = 0
  #preemptions = 0
  /** Expected solutions for the hashes done since the last solution, up to `#effortHashes`. */
  #effort = 0
  #effortHashes = 0

  constructor(options: MinerOptions) {
    this.#options = options
    const { source, clock } = options
    this.#lives = new Lives({ source, clock, onEvent: (event) => this.#onStep(event), stopped: this.#stop.signal })
  }

  /** Mines until the signal aborts, enough blocks are accepted, or the time is up. Throws NewcutError. */
  async run(signal: AbortSignal): Promise<Snapshot> {
    const { onEvent } = this.#options
    const stop = () => this.#stop.abort()
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const events = {
        onCandidate: (candidate: Candidate) => this.#judge(candidate),
        onWarning: (message: string) => onEvent({ type: 'warning', message }),
      }
      // A driver may take long to start. A stop does not wait for it.
      await Promise.race([this.#startEngines(events), aborted(this.#stop.signal)])
      if (!this.#stop.signal.aborted) await this.#mine()
    } finally {
      this.#stop.abort()
      this.#cancelIdle()
      signal.removeEventListener('abort', stop)
      await Promise.all(this.#options.engines.map((engine) => engine.stop()))
      await this.#lives.finish()
    }
    this.#sample()
    return this.snapshot()
  }

  async #mine(): Promise<void> {
    const { source, clock, durationMs, onEvent } = this.#options
    this.#startedAtMs = clock.monotonicMs()
    onEvent({ type: 'ready', devices: this.snapshot().devices })
    this.#every(SAMPLE_MS, () => this.#sample())
    this.#every(SPEED_MS, () => onEvent({ type: 'speed', snapshot: this.snapshot() }))
    this.#every(ROLL_MS, () => this.#roll())
    this.#sample()
    if (durationMs !== undefined) {
      const cancel = clock.after(durationMs, () => this.#stop.abort())
      this.#stop.signal.addEventListener('abort', cancel, { once: true })
    }
    const events = {
      onTrouble: (message: string) => onEvent({ type: 'trouble', message }),
      onRecovered: (message: string) => onEvent({ type: 'recovered', message }),
    }
    let unfinished = this.#options.unfinished ?? []
    for await (const job of source.jobs(this.#stop.signal, events)) {
      this.#take(job)
      for (const solution of unfinished) this.#lives.resume(solution)
      unfinished = []
    }
  }

  /** Mines with the engines that start. Throws the first failure when none does. */
  async #startEngines(events: EngineEvents): Promise<void> {
    const { engines, source } = this.#options
    const results = await Promise.allSettled(engines.map((engine) => engine.start(source.workBytes, events)))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    this.#engines = engines.filter((_, index) => results[index].status === 'fulfilled')
    if (this.#engines.length === 0) throw failures[0]
    for (const failure of failures) events.onWarning(describeError(failure))
  }

  snapshot(): Snapshot {
    const { source, clock } = this.#options
    const nowMs = clock.monotonicMs()
    const devices = this.#devices()
    const hashes = this.#hashes()
    const uptimeMs = this.#startedAtMs === 0 ? 0 : nowMs - this.#startedAtMs
    const idleReason = idleReasonOf(devices)
    const current = this.#current
    return {
      source: source.description,
      connected: source.connected,
      nodes: source.nodes?.() ?? [],
      ...(source.chains && { chains: source.chains() }),
      uptimeMs,
      hashes,
      hashrates: this.#rates.total(idleReason === null),
      meanHashrate: uptimeMs > 0 ? (hashes * 1000) / uptimeMs : 0,
      idleReason,
      devices: devices.map((device) => ({ ...device, hashrates: this.#rates.of(device) })),
      solutions: this.#lives.counts,
      hardwareErrors: this.#hardwareErrors,
      preemptions: this.#preemptions,
      work: current && {
        chain: current.work.fields.chainId,
        height: Number(current.work.fields.height),
        difficulty: current.pursuit.difficulty,
        ageMs: nowMs - current.pursuit.receivedAtMs,
      },
    }
  }

  /** The newest job of the source: whatever was searched before is dropped. */
  #take(job: Job | null): void {
    const { clock, onEvent } = this.#options
    this.#countEffort()
    this.#cancelIdle()
    if (job === null) {
      this.#rest()
      return
    }
    const { work, reason, noticedAtMs } = job
    const { chainId: chain, height } = work.fields
    const difficulty = Number(difficultyOf(job.target) ?? 0n)
    if (reason === 'newCut') this.#preemptions++
    const firstSequence = this.#sequence + 1
    const pursuit = { job, difficulty, receivedAtMs: clock.monotonicMs(), firstSequence, solved: false }
    void this.#issue({ work, pursuit }).then((taken) => {
      if (!taken || this.#stop.signal.aborted) return
      const preemptMs = clock.monotonicMs() - noticedAtMs
      const { id, issuer } = job
      onEvent({ type: 'work', job: id, issuer, chain, height: Number(height), difficulty, reason, preemptMs })
    })
  }

  /** There is nothing to search: engines stop at once, and it is reported if it lasts. */
  #rest(): void {
    const { clock, onEvent } = this.#options
    this.#current = null
    this.#sequence++
    for (const engine of this.#engines) void engine.setWork(noWork(this.#sequence))
    this.#cancelIdle = clock.after(IDLE_MS, () => {
      if (!this.#stop.signal.aborted) onEvent({ type: 'idle' })
    })
  }

  /** Gives work to all engines under the next sequence number. True when nearly all devices searched it. */
  async #issue(issued: Issued): Promise<boolean> {
    this.#current = issued
    const sequence = ++this.#sequence
    this.#issued.set(sequence, issued)
    const { pursuit } = issued
    for (const [old, { pursuit: earlier }] of this.#issued) {
      if (this.#issued.size <= MAX_ISSUED_WORKS) break
      if (earlier !== pursuit || old !== pursuit.firstSequence) this.#issued.delete(old)
    }
    const { id, target, fixedNonce } = pursuit.job
    const work = { sequence, job: id, bytes: issued.work.bytes, target, fixedNonce }
    const taken = await Promise.all(this.#engines.map((engine) => engine.setWork(work)))
    return taken.every((all) => all)
  }

  /**
   * Moves the creation time of the current work to the validator's time, so that a block found late has a recent one.
   */
  #roll(): void {
    const current = this.#current
    const time = this.#options.source.validatorTime()
    if (current === null || current.pursuit.solved || time === null) return
    if (time <= current.work.fields.creationTime) return
    this.#countEffort()
    void this.#issue({ pursuit: current.pursuit, work: workFromBytes(withCreationTime(current.work.bytes, time)) })
  }

  /** Hashes a claim in full before it counts: the node forgets the work when a wrong solution is submitted. */
  #judge({ sequence, nonce, device }: Candidate): void {
    const issued = this.#issued.get(sequence)
    if (issued === undefined) return
    const { work, pursuit } = issued
    const bytes = withNonce(work.bytes, nonce)
    if (!hasFixedBits(nonce, pursuit.job.fixedNonce) || !meets(powHash(bytes), pursuit.job.target)) {
      this.#hardwareErrors++
      this.#options.onEvent({ type: 'hardwareError', device, nonce: nonce.toString(16).padStart(16, '0') })
      return
    }
    const { blocks = Number.POSITIVE_INFINITY } = this.#options
    // A solution on its way may be the last one asked for. If it is not accepted, another candidate will follow.
    if (pursuit.solved || this.#lives.accepted + this.#lives.undecided >= blocks) return
    this.#countEffort()
    pursuit.solved = !pursuit.job.manySolutions
    const effort = this.#effort
    this.#effort = 0
    const { job, difficulty } = pursuit
    this.#lives.begin({ job, difficulty, bytes, device, effort })
  }

  #onStep(event: SolutionEvent): void {
    this.#options.onEvent(event)
    if (this.#lives.accepted === this.#options.blocks) this.#stop.abort()
  }

  /** Adds the hashes since the last call to the effort, at the difficulty of the job they were spent on. */
  #countEffort(): void {
    const hashes = this.#hashes()
    const pursuit = this.#current?.pursuit
    if (pursuit !== undefined && !pursuit.solved && pursuit.difficulty > 0) {
      this.#effort += (hashes - this.#effortHashes) / pursuit.difficulty
    }
    this.#effortHashes = hashes
  }

  /** Hashes of all engines since the start. */
  #hashes(): number {
    return this.#engines.reduce((sum, engine) => sum + engine.hashes(), 0)
  }

  #devices(): (DeviceStatus & { readonly engine: string })[] {
    return this.#engines.flatMap((engine) => engine.devices().map((status) => ({ ...status, engine: engine.name })))
  }

  #sample(): void {
    this.#rates.sample(this.#options.clock.monotonicMs(), this.#devices(), this.#hashes())
  }

  /** Runs a function at an interval until the miner stops. */
  #every(intervalMs: number, run: () => void): void {
    const { clock } = this.#options
    let cancel: () => void = () => undefined
    const schedule = () => {
      cancel = clock.after(intervalMs, () => {
        if (this.#stop.signal.aborted) return
        run()
        schedule()
      })
    }
    schedule()
    this.#stop.signal.addEventListener('abort', () => cancel(), { once: true })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
