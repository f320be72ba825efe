/** Pending solutions: hands them in, follows them, counts their verdicts and reports every step. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { FREE_NONCE } from '#ground/chain/nonce.ts'
import { type LifeStep, noVerdicts, type Verdict, type VerdictCounts, verdictOf } from '#ground/chain/solution.ts'
import { workFromBytes } from '#ground/chain/work.ts'
import type { Job, Solution, Source } from '../source/source.ts'
import type { Found, SolutionEvent } from './events.ts'
import { lifeAfter, type Unfinished } from './life.ts'
import type { BlockHashOf } from './readiness.ts'

interface LivesOptions {
  readonly source: Source
  readonly clock: Clock
  readonly onEvent: (event: SolutionEvent) => void
  /** Called when the verdict counter of a device changes. */
  readonly onCount: (device: string, verdict: Verdict, change: 1 | -1) => void
  /** Aborts when the miner stops. */
  readonly stopped: AbortSignal
}

/** A solution that was just found. */
interface FoundSolution {
  readonly job: Job
  /** Mean number of hashes per solution of the job. */
  readonly difficulty: number
  /** Solved work. */
  readonly bytes: Uint8Array
  /** Computes its block hash, or null if nothing was prepared for its work. */
  readonly blockHashOf: BlockHashOf | null
  readonly device: string
  readonly effort: number
  /** Whether a share also meets the target of its block. */
  readonly isPoolBlock: boolean
  /** Delay in milliseconds after the news that ended its work, or null if it was found before. */
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
  /** Last reported verdict, perhaps of an earlier run, or null. */
  verdict: Verdict | null
  /** Verdict under which this run counts it. Null if it has none, or if an earlier run counted it. */
  counted: Verdict | null
  readonly isOfThisRun: boolean
}

/** Maximum wait for pending verdicts at shutdown. */
const STOP_GRACE_MS = 800

export class Lives {
  readonly #options: LivesOptions
  /** Pending solutions, each with a promise that resolves when its life ends. */
  readonly #lives = new Map<Life, Promise<void>>()
  readonly #counts: Record<Verdict, number> = { ...noVerdicts }
  #accepted = 0
  #poolBlocks = 0
  #isOver = false

  constructor(options: LivesOptions) {
    this.#options = options
  }

  /** Solutions by verdict. */
  get counts(): VerdictCounts {
    return { ...this.#counts }
  }

  /** Accepted blocks of this run. */
  get accepted(): number {
    return this.#accepted
  }

  /** Accepted shares of this run that are also blocks. */
  get poolBlocks(): number {
    return this.#poolBlocks
  }

  /** Solutions of this run without a verdict. */
  get undecided(): number {
    return [...this.#lives.keys()].filter(({ verdict, isOfThisRun }) => isOfThisRun && verdict === null).length
  }

  /** Reports a solution, so that the journal has it, and then hands it in. */
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
   * Resumes a solution of an earlier run: hands it in unless its issuer acknowledged it, and follows it. Its age by
   * this machine's clock does not matter: the node decides whether it is too old.
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
    // In a fleet, the leader may already have it from a rig.
    if ([...this.#lives.keys()].some((life) => life.hash === hash)) return
    const step: LifeStep = { step: isAcknowledged ? 'acknowledged' : 'handed-in' }
    const told = { step, verdict, counted: null, isOfThisRun: false, isPoolBlock: false }
    const life: Life = { job, hash, device, effort, lateMs: null, foundAtMs: nowMs - ageMs, ...told }
    const solution = { job, bytes, wasConfirmed: verdict === 'accepted' }
    if (isAcknowledged) this.#start(life, source.follow(solution, stopped))
    else this.#handIn(life, solution)
  }

  /** Waits briefly for pending verdicts, then reports the rest as lost or unconfirmed. */
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

  /** Reports the step first: a miner that dies after it submits the solution again at the next start. */
  #handIn(life: Life, solution: Solution): void {
    const { source, stopped } = this.#options
    this.#take(life, { step: 'handed-in' })
    this.#start(life, lifeAfter(source.handIn(solution), source, solution, stopped))
  }

  #start(life: Life, steps: AsyncIterable<LifeStep>): void {
    const end = this.#live(life, steps).finally(() => this.#lives.delete(life))
    this.#lives.set(life, end)
  }

  /** Processes the steps of a solution until the last one. */
  async #live(life: Life, steps: AsyncIterable<LifeStep>): Promise<void> {
    for await (const step of steps) {
      // finish() has already settled it.
      if (this.#isOver) return
      this.#take(life, step)
    }
    // The miner stopped before the verdict was known.
    if (life.verdict === null) this.#giveUp(life)
  }

  /** Records a step. A later verdict replaces the counted one, as when a confirmed block is orphaned. */
  #take(life: Life, step: LifeStep): void {
    const before = life.verdict
    const verdict = verdictOf(step.step)
    const isNews = verdict !== null && verdict !== life.verdict
    if (isNews) {
      if (life.counted !== null) this.#count(life, life.counted, -1)
      // Do not count again what an earlier run counted.
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

  /** Settles a solution when the miner ends before its verdict. */
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
