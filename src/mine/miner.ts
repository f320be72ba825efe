/** The only loop: newest job -> engines -> judge -> hand in. Knows sources and engines by their ports alone. */
import { blockHash } from '../core/block-hash.ts'
import { encodeBase64Url } from '../core/bytes.ts'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { withCreationTime, withNonce } from '../core/header.ts'
import { hasFixedBits } from '../core/nonce.ts'
import { meets, powHash } from '../core/pow.ts'
import { difficultyOf } from '../core/target.ts'
import { type Work, workFromBytes } from '../core/work.ts'
import { type Candidate, type DeviceStatus, type Engine, type EngineEvents, noWork } from '../engine/engine.ts'
import type { Job, LifeStep, Source } from '../source/source.ts'
import type { MinerEvent } from './events.ts'
import { liveThrough, type Verdict, verdictOf } from './life.ts'
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
}

const SAMPLE_MS = 1000
const SPEED_MS = 60_000
/** How often the creation time of the current work is brought up to the validator's clock. */
const ROLL_MS = 5_000
/** Works kept for judging late claims. A claim for older work is ignored. */
const MAX_ISSUED_WORKS = 256
/** How long a stop waits for the verdicts of solutions that were handed in. */
const STOP_GRACE_MS = 800
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

/** A solution on its way. */
interface Life {
  readonly pursuit: Pursuit
  readonly bytes: Uint8Array
  readonly hash: string
  readonly device: string
  readonly effort: number
  readonly foundAtMs: number
  step: LifeStep
  /** What it has been counted as; null: nothing yet. */
  verdict: Verdict | null
}

export class Miner {
  readonly #options: MinerOptions
  readonly #rates = new Rates()
  readonly #issued = new Map<number, Issued>()
  /** Solutions on their way -> a promise that resolves at their end. */
  readonly #lives = new Map<Life, Promise<void>>()
  readonly #stop = new AbortController()
  readonly #solutions: Record<Verdict, number> = { accepted: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 }
  /** Engines that started. */
  #engines: readonly Engine[] = []
  #startedAtMs = 0
  #sequence = 0
  #current: Issued | null = null
  #cancelIdle: () => void = () => undefined
  #hardwareErrors = 0
  #isOver = false
  #preemptions = 0
  /** Expected solutions for the hashes done since the last solution, up to `#effortHashes`. */
  #effort = 0
  #effortHashes = 0

  constructor(options: MinerOptions) {
    this.#options = options
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
      await this.#finishLives()
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
    for await (const job of source.jobs(this.#stop.signal, events)) this.#take(job)
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
      uptimeMs,
      hashes,
      hashrates: this.#rates.total(idleReason === null),
      meanHashrate: uptimeMs > 0 ? (hashes * 1000) / uptimeMs : 0,
      idleReason,
      devices: devices.map((device) => ({ ...device, hashrates: this.#rates.of(device) })),
      solutions: { ...this.#solutions },
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
    if (pursuit.solved || this.#solutions.accepted + this.#undecided >= blocks) return
    this.#countEffort()
    pursuit.solved = !pursuit.job.manySolutions
    const effort = this.#effort
    this.#effort = 0
    const foundAtMs = this.#options.clock.monotonicMs()
    const hash = encodeBase64Url(blockHash(bytes))
    const life: Life = { pursuit, bytes, hash, device, effort, foundAtMs, step: { step: 'handed-in' }, verdict: null }
    const end = this.#live(life).finally(() => this.#lives.delete(life))
    this.#lives.set(life, end)
  }

  /** Solutions of which nobody knows yet what they come to. */
  get #undecided(): number {
    return [...this.#lives.keys()].filter(({ verdict }) => verdict === null).length
  }

  /** Hands a solution in and follows it to its end. */
  async #live(life: Life): Promise<void> {
    const { job } = life.pursuit
    for await (const step of liveThrough(this.#options.source, { job, bytes: life.bytes }, this.#stop.signal)) {
      // When the miner ended, this solution was counted as lost (#giveUp).
      if (this.#isOver) return
      this.#count(life, step)
    }
    // The miner stopped before anybody knew what became of it.
    if (life.verdict === null) this.#giveUp(life)
  }

  /** Takes a step. A verdict counts once; a later one takes its place, as when a confirmed block is orphaned. */
  #count(life: Life, step: LifeStep): void {
    const verdict = verdictOf(step)
    const isNews = verdict !== null && verdict !== life.verdict
    if (isNews) {
      if (life.verdict !== null) this.#solutions[life.verdict]--
      this.#solutions[verdict]++
      life.verdict = verdict
    }
    life.step = step
    this.#options.onEvent(this.#solutionEvent(life, isNews ? verdict : null))
    if (this.#solutions.accepted === this.#options.blocks) this.#stop.abort()
  }

  #solutionEvent(life: Life, verdict: Verdict | null): MinerEvent {
    const { pursuit, step, hash, device, effort, foundAtMs } = life
    const { id: job, issuer, work } = pursuit.job
    return {
      type: 'solution',
      ...step,
      verdict,
      job,
      issuer,
      chain: work.fields.chainId,
      height: Number(work.fields.height),
      hash,
      device,
      effort,
      elapsedMs: this.#options.clock.monotonicMs() - foundAtMs,
      counts: { ...this.#solutions },
    }
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

  async #finishLives(): Promise<void> {
    if (this.#lives.size === 0) return
    let cancel: () => void = () => undefined
    const grace = new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(STOP_GRACE_MS, resolve)
    })
    await Promise.race([Promise.all(this.#lives.values()), grace])
    cancel()
    this.#isOver = true
    for (const life of this.#lives.keys()) if (life.verdict === null) this.#giveUp(life)
  }

  /** The miner ends before a solution has come to its end. */
  #giveUp(life: Life): void {
    this.#count(life, { step: 'lost', reason: 'stopped', message: 'the miner stopped' })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
