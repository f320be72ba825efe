/** Solutions on their way: begins the life of each, counts what becomes of them, and tells every step. */
import { blockHash } from '../core/block-hash.ts'
import { encodeBase64Url } from '../core/bytes.ts'
import type { Clock } from '../core/clock.ts'
import { FREE_NONCE } from '../core/nonce.ts'
import { type LifeStep, noVerdicts, type Verdict, type VerdictCounts, verdictOf } from '../core/solution.ts'
import { workFromBytes } from '../core/work.ts'
import type { Job, Solution, Source } from '../source/source.ts'
import type { Found, SolutionEvent } from './events.ts'
import { lifeAfter, type Unfinished } from './life.ts'
import type { BlockHashOf } from './readiness.ts'

export interface LivesOptions {
  readonly source: Source
  readonly clock: Clock
  readonly onEvent: (event: SolutionEvent) => void
  /** Told of every change of what is counted for a device. */
  readonly onCount: (device: string, verdict: Verdict, change: 1 | -1) => void
  /** Aborts when the miner stops. */
  readonly stopped: AbortSignal
}

/** A solution that was just found. */
export interface FoundSolution {
  readonly job: Job
  /** Hashes that a solution of the job takes on average. */
  readonly difficulty: number
  /** Solved work. */
  readonly bytes: Uint8Array
  /** Makes its block hash; null: nothing was prepared for its work. */
  readonly blockHashOf: BlockHashOf | null
  readonly device: string
  readonly effort: number
  /** A share whose hash also meets the target of its block. */
  readonly isPoolBlock: boolean
  /** How long after the news that ended its work it was found; null: before. */
  readonly lateMs: number | null
}

interface Life {
  readonly job: Job
  readonly hash: string
  readonly device: string
  readonly effort: number
  readonly isPoolBlock: boolean
  readonly lateMs: number | null
  readonly foundAtMs: number
  step: LifeStep
  /** What was last said of it, perhaps in an earlier run; null: nothing yet. */
  verdict: Verdict | null
  /** What it counts as in this run; null: nothing, or it was counted in an earlier run. */
  counted: Verdict | null
  readonly isOfThisRun: boolean
}

/** How long a stop waits for the verdicts of solutions that were handed in. */
const STOP_GRACE_MS = 800

export class Lives {
  readonly #options: LivesOptions
  /** A promise for each that resolves at its end. */
  readonly #lives = new Map<Life, Promise<void>>()
  readonly #counts: Record<Verdict, number> = { ...noVerdicts }
  #accepted = 0
  #poolBlocks = 0
  #isOver = false

  constructor(options: LivesOptions) {
    this.#options = options
  }

  /** By verdict. */
  get counts(): VerdictCounts {
    return { ...this.#counts }
  }

  /** Accepted blocks that were found in this run. */
  get accepted(): number {
    return this.#accepted
  }

  /** Shares of this run that a pool took and that are blocks. */
  get poolBlocks(): number {
    return this.#poolBlocks
  }

  /** Solutions of this run of which nobody knows yet what they come to. */
  get undecided(): number {
    return [...this.#lives.keys()].filter(({ verdict, isOfThisRun }) => isOfThisRun && verdict === null).length
  }

  /** Tells of a solution, for the journal, and then hands it in. */
  begin({ job, difficulty, bytes, blockHashOf, ...found }: FoundSolution): void {
    const { clock, onEvent } = this.#options
    const hash = encodeBase64Url((blockHashOf ?? blockHash)(bytes))
    const foundAtMs = clock.monotonicMs()
    const told = { step: { step: 'handed-in' }, verdict: null, counted: null, isOfThisRun: true } as const
    const life: Life = { job, hash, ...found, foundAtMs, ...told }
    onEvent(this.#eventOf(life, { step: 'found', work: encodeBase64Url(bytes), difficulty }, null, false))
    this.#handIn(life, { job, bytes })
  }

  /**
   * Goes on with a solution of an earlier run: hands it in unless its node took it then, and follows it. However old the
   * clock of this machine says that it is, its node knows better.
   */
  resume({ bytes, issuer, device, effort, foundAtMs: foundAtWallMs, isAcknowledged, verdict }: Unfinished): void {
    const { source, clock, stopped } = this.#options
    const work = workFromBytes(bytes)
    const nowMs = clock.monotonicMs()
    const ageMs = Math.max(0, clock.wallMs() - foundAtWallMs)
    const job: Job = {
      ...{ id: 'unfinished', issuer, work, target: work.fields.target, fixedNonce: FREE_NONCE, manySolutions: false },
      ...{ reason: 'start', noticedAtMs: nowMs },
    }
    const hash = encodeBase64Url(blockHash(bytes))
    // A leader of a fleet may have taken it from a rig meanwhile.
    if ([...this.#lives.keys()].some((life) => life.hash === hash)) return
    const step: LifeStep = { step: isAcknowledged ? 'acknowledged' : 'handed-in' }
    const told = { step, verdict, counted: null, isOfThisRun: false, isPoolBlock: false }
    const life: Life = { job, hash, device, effort, lateMs: null, foundAtMs: nowMs - ageMs, ...told }
    const solution = { job, bytes, wasConfirmed: verdict === 'accepted' }
    if (isAcknowledged) this.#start(life, source.follow(solution, stopped))
    else this.#handIn(life, solution)
  }

  /** Waits for the last verdicts, but not for long, and tells what is known of the others by then. */
  async finish(): Promise<void> {
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

  /** Tells so first: a miner that dies after it hands it in once more. */
  #handIn(life: Life, solution: Solution): void {
    const { source, stopped } = this.#options
    this.#take(life, { step: 'handed-in' })
    this.#start(life, lifeAfter(source.handIn(solution), source, solution, stopped))
  }

  #start(life: Life, steps: AsyncIterable<LifeStep>): void {
    const end = this.#live(life, steps).finally(() => this.#lives.delete(life))
    this.#lives.set(life, end)
  }

  /** Takes the steps of a solution to its end. */
  async #live(life: Life, steps: AsyncIterable<LifeStep>): Promise<void> {
    for await (const step of steps) {
      // It was given up when the miner ended.
      if (this.#isOver) return
      this.#take(life, step)
    }
    // The miner stopped before anybody knew what became of it.
    if (life.verdict === null) this.#giveUp(life)
  }

  /** A verdict counts once; a later one takes its place, as when a confirmed block is orphaned. */
  #take(life: Life, step: LifeStep): void {
    const before = life.verdict
    const verdict = verdictOf(step.step)
    const isNews = verdict !== null && verdict !== life.verdict
    if (isNews) {
      if (life.counted !== null) this.#count(life, life.counted, -1)
      // What an earlier run has counted is not counted once more.
      if (life.counted !== null || life.verdict === null) {
        this.#count(life, verdict, 1)
        life.counted = verdict
      }
      const change = Number(verdict === 'accepted') - Number(life.verdict === 'accepted')
      if (life.isOfThisRun) this.#accepted += change
      if (life.isPoolBlock) this.#poolBlocks += change
      life.verdict = verdict
    }
    life.step = step
    const wasDecided = before !== null && before !== 'unconfirmed'
    this.#options.onEvent(this.#eventOf(life, step, isNews ? verdict : null, wasDecided))
  }

  #count({ device, isOfThisRun }: Life, verdict: Verdict, change: 1 | -1): void {
    this.#counts[verdict] += change
    // Devices of an earlier run may have had other names.
    if (isOfThisRun) this.#options.onCount(device, verdict, change)
  }

  /** The miner ends before a solution has come to its end. What is known by then is told. */
  #giveUp(life: Life): void {
    if (life.step.step === 'handed-in') {
      this.#take(life, { step: 'lost', reason: 'stopped', message: 'the miner stopped before the node answered' })
    } else this.#take(life, { step: 'unconfirmed', message: 'the node took it, and the miner stopped' })
  }

  #eventOf(
    { job, hash, device, effort, isPoolBlock, lateMs, foundAtMs }: Life,
    step: Found | LifeStep,
    verdict: Verdict | null,
    wasDecided: boolean,
  ): SolutionEvent {
    const { id, issuer, work } = job
    const { chainId: chain, height, payloadHash } = work.fields
    return {
      type: 'solution',
      ...step,
      verdict,
      wasDecided,
      job: id,
      issuer,
      chain,
      height: Number(height),
      hash,
      payload: encodeBase64Url(payloadHash),
      device,
      effort,
      isPoolBlock,
      lateMs,
      elapsedMs: this.#options.clock.monotonicMs() - foundAtMs,
      counts: this.counts,
    }
  }
}
