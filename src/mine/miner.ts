/** The only loop: newest work -> engines -> judge -> submit. Knows sources and engines by their ports alone. */
import { blockHash } from '../core/block-hash.ts'
import { encodeBase64Url } from '../core/bytes.ts'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { withCreationTime, withNonce } from '../core/header.ts'
import { solves } from '../core/pow.ts'
import { difficultyOf } from '../core/target.ts'
import { type Work, workFromBytes } from '../core/work.ts'
import {
  type Candidate,
  type DeviceStatus,
  type Engine,
  type EngineEvents,
  FREE_NONCE,
  noWork,
} from '../engine/engine.ts'
import type { Source, SourceWork, Verdict } from '../source/source.ts'
import type { MinerEvent } from './events.ts'
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
/** How often the creation time of work that lives long follows the validator's clock. */
const ROLL_MS = 5_000
/** Late claims refer to the current work, or to one of so many changes ago. */
const HISTORY = 256
/** How long a stop waits for submissions under way. */
const STOP_GRACE_MS = 800

/** Work under one sequence number. Rolled variants of the same work share their `origin`. */
interface Issued {
  readonly work: Work
  readonly origin: Origin
}

interface Origin {
  /** Identity of the job for engines. */
  readonly job: string
  readonly difficulty: number
  readonly receivedAtMs: number
  solved: boolean
}

export class Miner {
  readonly #options: MinerOptions
  readonly #rates = new Rates()
  readonly #issued = new Map<number, Issued>()
  readonly #submissions = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  readonly #solutions: Record<Verdict['kind'], number> = { accepted: 0, stale: 0, rejected: 0, failed: 0 }
  /** Those that started. */
  #engines: readonly Engine[] = []
  #startedAtMs = 0
  #sequence = 0
  #current: Issued | null = null
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
      // A driver may take its time: nobody who stops waits for it.
      await Promise.race([this.#startEngines(events), aborted(this.#stop.signal)])
      if (!this.#stop.signal.aborted) await this.#mine()
    } finally {
      this.#stop.abort()
      signal.removeEventListener('abort', stop)
      await Promise.all(this.#options.engines.map((engine) => engine.stop()))
      await this.#finishSubmissions()
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
    const onTrouble = (message: string, retryInMs: number) => onEvent({ type: 'trouble', message, retryInMs })
    for await (const item of source.works(this.#stop.signal, { onTrouble })) this.#take(item)
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
    const current = this.#current
    return {
      source: source.description,
      connected: source.connected,
      uptimeMs,
      hashes,
      hashrates: this.#rates.total(),
      meanHashrate: uptimeMs > 0 ? (hashes * 1000) / uptimeMs : 0,
      idleReason: idleReasonOf(devices),
      devices: devices.map((device) => ({ ...device, hashrates: this.#rates.of(device.engine, device.device) })),
      solutions: { ...this.#solutions },
      hardwareErrors: this.#hardwareErrors,
      preemptions: this.#preemptions,
      work: current && {
        chain: current.work.fields.chainId,
        height: Number(current.work.fields.height),
        difficulty: current.origin.difficulty,
        ageMs: nowMs - current.origin.receivedAtMs,
      },
    }
  }

  /** New work from the source: whatever was searched before is dropped. */
  #take(item: SourceWork | null): void {
    const { clock, onEvent } = this.#options
    this.#countEffort()
    if (item === null) {
      this.#current = null
      this.#sequence++
      for (const engine of this.#options.engines) void engine.setWork(noWork(this.#sequence))
      onEvent({ type: 'idle' })
      return
    }
    const { work, reason, noticedAtMs } = item
    const difficulty = Number(difficultyOf(work.fields.target) ?? 0n)
    if (reason === 'newCut') this.#preemptions++
    const origin = { job: `job ${this.#sequence + 1}`, difficulty, receivedAtMs: clock.monotonicMs(), solved: false }
    void this.#issue({ work, origin }).then((taken) => {
      if (!taken || this.#stop.signal.aborted) return
      const { chainId: chain, height } = work.fields
      const preemptMs = clock.monotonicMs() - noticedAtMs
      onEvent({ type: 'work', chain, height: Number(height), difficulty, reason, preemptMs })
    })
  }

  /** Gives work to all engines under the next sequence number. True when all devices searched it. */
  async #issue(issued: Issued): Promise<boolean> {
    this.#current = issued
    const sequence = ++this.#sequence
    this.#issued.set(sequence, issued)
    for (const [old, { origin }] of this.#issued) {
      if (this.#issued.size <= HISTORY) break
      // An external worker may still search the current work as it was when it started.
      if (origin !== issued.origin) this.#issued.delete(old)
    }
    const { bytes, fields } = issued.work
    const work = { sequence, job: issued.origin.job, bytes, target: fields.target, fixedNonce: FREE_NONCE }
    const taken = await Promise.all(this.#engines.map((engine) => engine.setWork(work)))
    return taken.every((all) => all)
  }

  /** Moves the creation time of the current work to the validator's time, so that a late solution tells the truth. */
  #roll(): void {
    const current = this.#current
    const time = this.#options.source.validatorTime()
    if (current === null || current.origin.solved || time === null) return
    if (time <= current.work.fields.creationTime) return
    this.#countEffort()
    void this.#issue({ origin: current.origin, work: workFromBytes(withCreationTime(current.work.bytes, time)) })
  }

  /** A claim is hashed in full before it counts: a wrong submission would burn the work at the node. */
  #judge({ sequence, nonce, device }: Candidate): void {
    const issued = this.#issued.get(sequence)
    if (issued === undefined) return
    const solution = withNonce(issued.work.bytes, nonce)
    if (!solves(solution)) {
      this.#hardwareErrors++
      this.#options.onEvent({ type: 'hardwareError', device, nonce: nonce.toString(16).padStart(16, '0') })
      return
    }
    const { blocks = Number.POSITIVE_INFINITY } = this.#options
    // A submission under way may be the last one asked for; if it fails, there will be another candidate.
    if (issued.origin.solved || this.#solutions.accepted + this.#submissions.size >= blocks) return
    this.#countEffort()
    issued.origin.solved = true
    const effort = this.#effort
    this.#effort = 0
    const submission = this.#submit(issued, solution, device, effort)
    this.#submissions.add(submission)
    void submission.finally(() => this.#submissions.delete(submission))
  }

  async #submit({ work }: Issued, solution: Uint8Array, device: string, effort: number): Promise<void> {
    const { source, clock, onEvent } = this.#options
    const sentAtMs = clock.monotonicMs()
    const verdict = await source.submit(solution)
    // After the end nobody listens; it was counted as failed then.
    if (this.#isOver) return
    this.#solutions[verdict.kind]++
    onEvent({
      type: 'solution',
      verdict,
      chain: work.fields.chainId,
      height: Number(work.fields.height),
      hash: encodeBase64Url(blockHash(solution)),
      device,
      effort,
      submitMs: clock.monotonicMs() - sentAtMs,
      counts: { ...this.#solutions },
    })
    if (this.#solutions.accepted === this.#options.blocks) this.#stop.abort()
  }

  /** Adds the hashes since the last call to the effort, at the difficulty of the work they were spent on. */
  #countEffort(): void {
    const hashes = this.#hashes()
    const origin = this.#current?.origin
    if (origin !== undefined && !origin.solved && origin.difficulty > 0) {
      this.#effort += (hashes - this.#effortHashes) / origin.difficulty
    }
    this.#effortHashes = hashes
  }

  /** Of all engines since the start. */
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

  async #finishSubmissions(): Promise<void> {
    if (this.#submissions.size === 0) return
    let cancel: () => void = () => undefined
    const grace = new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(STOP_GRACE_MS, resolve)
    })
    await Promise.race([Promise.all(this.#submissions), grace])
    cancel()
    this.#isOver = true
    this.#solutions.failed += this.#submissions.size
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
