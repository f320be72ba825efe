/** The main loop: newest job -> engines -> check -> submit. Knows sources and engines only by their ports. */
import { readU256LE } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { after, every, untilAborted } from '#ground/base/signals.ts'
import { meets, solves } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { type Candidate, type Engine, type EngineEvents, noWork } from '../engine/engine.ts'
import type { AdoptedSolution } from '../engine/leader.ts'
import type { ForkVote, Job, JobReason, Source } from '../source/source.ts'
import { BlockEffort } from './effort.ts'
import { EnergyMeter, type PowerPort } from './energy.ts'
import { EngineSet } from './engine-set.ts'
import type { MinerEvent, SolutionEvent } from './events.ts'
import { claimOf, type IssuedWork, IssuedWorks, issueJob, jobOfSolvedWork, rollCreationTime } from './issued.ts'
import { type PauseCause, Pauses } from './pauses.ts'
import { Rates } from './rates.ts'
import { prepareSolutions } from './readiness.ts'
import { minerSnapshotOf, type ServerParts, type Snapshot } from './snapshot.ts'
import type { UnfinishedSolution } from './solution-steps.ts'
import { SolutionTracker } from './solution-tracker.ts'
import { Tally } from './tally.ts'

interface MinerOptions {
  readonly source: Source
  /** The first engines; exchange() replaces them. */
  readonly engines: readonly Engine[]
  readonly clock: Clock
  readonly onEvent: (event: MinerEvent) => void
  /** Stop after this many accepted blocks. */
  readonly blocks?: number | undefined
  /** Stop after this time. */
  readonly durationMs?: number | undefined
  /** Sensors of this machine, and what the user states of its power. Default: none. */
  readonly power?: PowerPort | undefined
  /** Rigs or a fleet that search for this miner, and its money. Default: none. */
  readonly serverParts?: (() => ServerParts) | undefined
}

/** Interval at which hashrates and energy are sampled. */
const SAMPLE_MS = 1000
/** Delay before the first report of the hashrate. The shortest window is full by then. */
const FIRST_SPEED_MS = 10_500
/** Interval between reports of the hashrate. */
const SPEED_MS = 60_000
/** Interval at which the creation time of the current work follows the validator's clock. */
const ROLL_MS = 5_000
/** Delay before the lack of a job is reported. */
const IDLE_MS = 500

export class Miner {
  readonly #options: MinerOptions
  readonly #rates = new Rates()
  readonly #issued = new IssuedWorks()
  readonly #stop = new AbortController()
  readonly #solutions: SolutionTracker
  readonly #tally = new Tally()
  readonly #energy: EnergyMeter
  readonly #engines: EngineSet
  readonly #engineEvents: EngineEvents
  #resolveReady: () => void = () => undefined
  /** Resolves when the first engines are ready or the miner stops. */
  readonly #ready = new Promise<void>((resolve) => {
    this.#resolveReady = resolve
  })
  #startedAtMs = 0
  #sequence = 0
  #current: IssuedWork | null = null
  readonly #pauses = new Pauses()
  /** Solutions of earlier runs that wait for the first job, or null once it has arrived. */
  #unfinished: UnfinishedSolution[] | null = []
  /** Work that waits for the end of a pause. */
  #held: IssuedWork | null = null
  /** Issuer of the newest work. */
  #issuer: string | null = null
  #forkVote: ForkVote | null = null
  #cancelIdle: () => void = () => undefined
  #hardwareErrors = 0
  #preemptions = 0
  readonly #effort: BlockEffort

  constructor(options: MinerOptions) {
    this.#options = options
    const { source, clock, onEvent } = options
    this.#engines = new EngineSet(clock)
    this.#energy = new EnergyMeter(this.#rates, options.power)
    this.#effort = new BlockEffort(() => this.#engines.hashes())
    this.#engineEvents = {
      onCandidate: (candidate) => this.#judge(candidate),
      onWarning: (message) => onEvent({ type: 'warning', message }),
    }
    this.#solutions = new SolutionTracker({
      source,
      clock,
      onEvent: (event) => this.#onSolution(event),
      onCount: (device, verdict, change) => this.#tally.count(device, verdict, change),
      stopped: this.#stop.signal,
    })
  }

  /**
   * Mines until the signal aborts, enough blocks are accepted, or the time is up.
   * @throws NewcutError
   */
  async run(signal: AbortSignal): Promise<Snapshot> {
    const { engines, source } = this.#options
    const stop = () => this.#stop.abort()
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      // A driver may take long to start; a stop does not wait for it.
      const started = this.#engines.start(engines, source.workBytes, this.#engineEvents)
      await Promise.race([started, untilAborted(this.#stop.signal)])
      if (!this.#stop.signal.aborted) await this.#mine()
    } finally {
      this.#stop.abort()
      this.#resolveReady()
      this.#cancelIdle()
      signal.removeEventListener('abort', stop)
      await this.#engines.stop()
      await this.#solutions.finish()
    }
    this.#sample()
    return this.snapshot()
  }

  async #mine(): Promise<void> {
    const { source, clock, durationMs, onEvent } = this.#options
    this.#startedAtMs = clock.monotonicMs()
    this.#resolveReady()
    onEvent({ type: 'ready', devices: this.snapshot().devices })
    const reportSpeed = () => onEvent({ type: 'speed', snapshot: this.snapshot() })
    every(clock, SAMPLE_MS, this.#stop.signal, () => this.#sample())
    after(clock, FIRST_SPEED_MS, this.#stop.signal, reportSpeed)
    every(clock, SPEED_MS, this.#stop.signal, reportSpeed)
    every(clock, ROLL_MS, this.#stop.signal, () => this.#roll())
    this.#sample()
    if (durationMs !== undefined) after(clock, durationMs, this.#stop.signal, () => this.#stop.abort())
    const events = {
      onTrouble: (message: string) => onEvent({ type: 'trouble', message }),
      onRecovered: (message: string) => onEvent({ type: 'recovered', message }),
      onNotice: (message: string) => onEvent({ type: 'notice', message }),
    }
    for await (const job of source.jobs(this.#stop.signal, events)) {
      this.#replaceJob(job)
      const waiting = this.#unfinished ?? []
      this.#unfinished = null
      this.resumeUnfinished(waiting)
    }
  }

  /**
   * Replaces engines while mining, one exchange at a time. Starts the new ones first and switches work over at once, so
   * that there is no gap. Claims and hashes of the old ones still count. No-op after the miner has ended.
   * @returns a promise that resolves when the old engines have stopped
   * @throws the error of a new engine that does not start; nothing has changed then
   */
  async exchange(leaving: readonly Engine[], coming: readonly Engine[]): Promise<void> {
    const { signal } = this.#stop
    await this.#ready
    if (signal.aborted) return
    await this.#engines.prepare(coming, this.#options.source.workBytes, this.#engineEvents)
    if (signal.aborted) {
      await Promise.all(coming.map((engine) => engine.stop()))
      return
    }
    const out = this.#engines.exchange(leaving, coming)
    if (this.#current === null) this.#giveNoWork()
    else void this.#issue(this.#current)
    const dismissed = this.#engines.dismiss(out, ++this.#sequence, signal)
    this.#options.onEvent({ type: 'ready', devices: this.snapshot().devices })
    await dismissed
  }

  /** Hashes since the start. Never decreases. */
  get hashes(): number {
    return this.#engines.hashes()
  }

  get paused(): boolean {
    return this.#pauses.list.length > 0
  }

  /**
   * User pause: engines search nothing until resume(). The source and pending solutions continue; late claims count.
   * No-op after the miner has ended.
   */
  pause(): void {
    this.#changePauses(() => this.#pauses.pause())
  }

  /** User resume: overrides all current pause causes and searches the newest job. */
  resume(): void {
    this.#changePauses(() => this.#pauses.resume())
  }

  /**
   * Sets or clears an automatic pause cause. The causes are independent.
   * @param text text of the pause (`Pause.text`), or null to clear the cause
   */
  hold(by: Exclude<PauseCause, 'user'>, text: string | null): void {
    this.#changePauses(() => this.#pauses.hold(by, text))
  }

  /** Applies a change and reports only the foremost cause: under a user pause, other causes change silently. */
  #changePauses(change: () => void): void {
    if (this.#stop.signal.aborted) return
    const [before] = this.#pauses.list
    change()
    const [now] = this.#pauses.list
    if (now === undefined && before !== undefined) this.#continueMining()
    if (now === undefined) return
    if (before === undefined) this.#halt()
    if (before?.by !== now.by) this.#options.onEvent({ type: 'paused', ...now })
  }

  #halt(): void {
    this.#cancelIdle()
    this.#held = this.#current
    this.#giveNoWork()
  }

  #continueMining(): void {
    const held = this.#held
    this.#held = null
    this.#options.onEvent({ type: 'resumed' })
    if (held === null) this.#idle()
    else
      this.#searchJob(
        rollCreationTime(held, this.#options.source.validatorTime()),
        'start',
        this.#options.clock.monotonicMs(),
      )
  }

  snapshot(): Snapshot {
    const { source, clock, serverParts: beside } = this.#options
    return minerSnapshotOf({
      source,
      engines: this.#engines,
      rates: this.#rates,
      tally: this.#tally,
      solutions: this.#solutions,
      nowMs: clock.monotonicMs(),
      startedAtMs: this.#startedAtMs,
      current: this.#current,
      pauses: this.#pauses.list,
      energy: this.#energy,
      serverParts: beside?.() ?? {},
      counts: { hardwareErrors: this.#hardwareErrors, preemptions: this.#preemptions },
      issuer: this.#issuer,
      results: this.#effort.snapshot(),
      forkVote: this.#forkVote,
    })
  }

  /** Reads the fork vote of the source's work and reports a change. */
  #readForkVote(): void {
    const [before, now] = [this.#forkVote, this.#options.source.forkVote()]
    if (now === null || (before?.fork === now.fork && before.isFor === now.isFor)) return
    this.#forkVote = now
    this.#options.onEvent({ type: 'forkVote', ...now })
  }

  /** Takes the newest job of the source, or none, in place of the current one. */
  #replaceJob(job: Job | null): void {
    this.#cancelIdle()
    this.#issuer = job?.issuer ?? this.#issuer
    const former = this.#current?.search
    if (former !== undefined && (job === null || job.reason === 'newCut'))
      former.endedAtMs = job?.noticedAtMs ?? this.#options.clock.monotonicMs()
    const issued = job && issueJob(job, this.#options.clock.monotonicMs())
    if (this.paused) this.#held = issued
    else if (job === null || issued === null) this.#idle()
    else {
      if (job.reason === 'newCut') this.#preemptions++
      this.#searchJob(issued, job.reason, job.noticedAtMs)
    }
  }

  /** Searches a job, and reports when nearly all devices do. */
  #searchJob(issued: IssuedWork, reason: JobReason, noticedAtMs: number): void {
    const { clock, onEvent } = this.#options
    const { job, difficulty } = issued.search
    const { id, issuer, work } = job
    const { chainId: chain, height } = work.fields
    issued.search.firstSequence = this.#sequence + 1
    void this.#issue(issued).then((taken) => {
      if (!taken || this.#stop.signal.aborted) return
      const preemptMs = clock.monotonicMs() - noticedAtMs
      onEvent({ type: 'work', job: id, issuer, chain, height: Number(height), difficulty, reason, preemptMs })
    })
  }

  /** Clears the work: engines stop at once. Reports `idle` if it lasts, unless the source waits on purpose. */
  #idle(): void {
    const { source, clock, onEvent } = this.#options
    this.#giveNoWork()
    if (source.waitReason !== null) return
    this.#cancelIdle = clock.after(IDLE_MS, () => {
      if (!this.#stop.signal.aborted) onEvent({ type: 'idle' })
    })
  }

  #giveNoWork(): void {
    this.#current = null
    this.#effort.attributeTo(null)
    this.#sequence++
    void this.#engines.setWork(noWork(this.#sequence))
  }

  /**
   * Gives work to all engines under the next sequence number.
   * @returns true if nearly all devices searched it
   */
  async #issue(issued: IssuedWork): Promise<boolean> {
    this.#current = issued
    this.#effort.attributeTo(issued.search)
    const sequence = ++this.#sequence
    this.#issued.add(sequence, issued)
    const { id: job, issuer, reason, target, fixedNonce, headers } = issued.search.job
    const { bytes } = issued.work
    const taken = this.#engines.setWork({ sequence, job, issuer, reason, bytes, target, fixedNonce, headers })
    issued.blockHashOf = prepareSolutions(bytes)
    return taken
  }

  /** Advances the creation time of the current work, so that a block found late has a recent one. */
  #roll(): void {
    if (this.#current === null || this.#current.search.solved) return
    const rolled = rollCreationTime(this.#current, this.#options.source.validatorTime())
    if (rolled === this.#current) return
    void this.#issue(rolled)
  }

  #judge(candidate: Candidate): void {
    const { sequence, nonce, device, creationTime, hashesSince = 0 } = candidate
    const issued = this.#issued.find(sequence)
    if (issued === undefined) return
    const { work, search: pursuit } = issued
    const { bytes, hash, isRight } = claimOf(issued, candidate)
    const { clock, onEvent, blocks = Number.POSITIVE_INFINITY } = this.#options
    if (!isRight) {
      this.#hardwareErrors++
      this.#tally.error(device)
      onEvent({ type: 'hardwareError', device, nonce: nonce.toString(16).padStart(16, '0') })
      return
    }
    if (pursuit.solved) return
    // A pending solution may be the last one needed. If it is not accepted, another candidate follows.
    if (this.#solutions.accepted + this.#solutions.undecided >= blocks) {
      this.#effort.recordSurplus(pursuit, hashesSince)
      return
    }
    const { job, difficulty, endedAtMs } = pursuit
    const { chainId: chain, height } = work.fields
    const share = { difficulty: Number(difficultyOf(readU256LE(hash, 0)) ?? 0n), chain, height: Number(height), device }
    const effort = this.#effort.recordSolution(pursuit, share, hashesSince)
    pursuit.solved = !job.manySolutions
    const lateMs = endedAtMs === null ? null : clock.monotonicMs() - endedAtMs
    const blockHashOf = creationTime === undefined ? issued.blockHashOf : null
    const isPoolBlock = job.manySolutions && meets(hash, work.fields.target)
    this.#solutions.begin({ job, difficulty, bytes, blockHashOf, device, effort, isPoolBlock, lateMs })
  }

  /**
   * Resumes solutions of earlier runs once there is work. They do not count for `blocks`. No-op after the miner has
   * ended.
   */
  resumeUnfinished(unfinished: readonly UnfinishedSolution[]): void {
    if (this.#stop.signal.aborted) return
    if (this.#unfinished !== null) this.#unfinished.push(...unfinished)
    else for (const solution of unfinished) this.#solutions.resume(solution)
  }

  /**
   * Submits and follows solved work that was not issued here, such as that of a previous leader. Ignores work that is
   * not solved. No-op after the miner has ended.
   */
  adopt({ bytes, issuer, device }: AdoptedSolution): void {
    if (this.#stop.signal.aborted || !solves(bytes)) return
    const job = jobOfSolvedWork('adopted', issuer, bytes, this.#options.clock.monotonicMs())
    const difficulty = Number(difficultyOf(job.target) ?? 0n)
    const solution = { difficulty, bytes, blockHashOf: null, device, effort: 0, isPoolBlock: false, lateMs: null }
    this.#solutions.begin({ job, ...solution })
  }

  #onSolution(event: SolutionEvent): void {
    this.#readForkVote()
    this.#options.onEvent(event)
    if (this.#solutions.accepted === this.#options.blocks) this.#stop.abort()
  }

  #sample(): void {
    this.#readForkVote()
    const nowMs = this.#options.clock.monotonicMs()
    const devices = this.#engines.devices()
    this.#rates.sample(nowMs, devices, this.#engines.hashes(), this.#engines.goneDevices())
    this.#energy.sample(nowMs, devices, this.paused)
  }
}
