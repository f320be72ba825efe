/** Pending solutions: submits them, follows them, counts their verdicts and reports every step. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { type LifeStep, noVerdicts, type Verdict, type VerdictCounts, verdictOf } from '#ground/chain/solution.ts'
import type { Job, Solution, Source } from '../source/source.ts'
import type { FoundStep, SolutionEvent } from './events.ts'
import { jobOfSolvedWork } from './issued.ts'
import type { BlockHasher } from './readiness.ts'
import { stepsAfterSubmission, type UnfinishedSolution } from './solution-steps.ts'

interface SolutionTrackerOptions {
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
  readonly blockHashOf: BlockHasher | null
  readonly device: string
  readonly effort: number
  /** Whether a share also meets the target of its block. */
  readonly isPoolBlock: boolean
  /** Delay in milliseconds after the news that ended its work, or null if it was found before. */
  readonly lateMs: number | null
}

/**
 * A solution on its way to a verdict:
 *
 * 1. `found`: its line with the solved work is in the journal before anything else happens.
 * 2. `handed-in`: it is being submitted to the issuer of its job, repeatedly until the issuer answers.
 * 3. `acknowledged`: the issuer took it, which says nothing about its block. Or it ends here: `rejected`, `stale`, `lost`.
 * 4. `confirmed`: its chain has the block. `credited`: a pool or the leader of a fleet accepted it. Or it ends as `stale`
 *    (another block has its place), or stays `unconfirmed` until a node knows more.
 * 5. `confirmed` again at greater depths, and `orphaned` if another branch wins. Both may follow each other until one of
 *    the branches is deep enough; then it is settled.
 *
 * A verdict counts once: a later one replaces it (`counted`).
 */
interface TrackedSolution {
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

export class SolutionTracker {
  readonly #options: SolutionTrackerOptions
  /** Pending solutions, each with a promise that resolves after its last step. */
  readonly #pending = new Map<TrackedSolution, Promise<void>>()
  readonly #counts: Record<Verdict, number> = { ...noVerdicts }
  #accepted = 0
  #poolBlocks = 0
  #isOver = false

  constructor(options: SolutionTrackerOptions) {
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
    return [...this.#pending.keys()].filter(({ verdict, isOfThisRun }) => isOfThisRun && verdict === null).length
  }

  /** Reports a solution, so that the journal has it, and then submits it. */
  begin({ job, difficulty, bytes, blockHashOf, ...found }: FoundSolution): void {
    const { clock, onEvent } = this.#options
    const hash = encodeBase64Url((blockHashOf ?? blockHash)(bytes))
    const foundAtMs = clock.monotonicMs()
    const tracked: TrackedSolution = {
      job,
      hash,
      foundAtMs,
      step: { step: 'handed-in' },
      verdict: null,
      counted: null,
      isOfThisRun: true,
      ...found,
    }
    onEvent(this.#eventOf(tracked, { step: 'found', work: encodeBase64Url(bytes), difficulty }, null, false))
    this.#submit(tracked, { job, bytes })
  }

  /**
   * Resumes a solution of an earlier run: submits it unless its issuer acknowledged it, and follows it. Its age by
   * this machine's clock does not matter: the node decides whether it is too old.
   */
  resume({
    bytes,
    issuer,
    device,
    effort,
    foundAtMs: foundAtWallMs,
    isAcknowledged,
    verdict,
  }: UnfinishedSolution): void {
    const { source, clock, stopped } = this.#options
    const nowMs = clock.monotonicMs()
    const ageMs = Math.max(0, clock.wallMs() - foundAtWallMs)
    const job = jobOfSolvedWork('unfinished', issuer, bytes, nowMs)
    const hash = encodeBase64Url(blockHash(bytes))
    // In a fleet, the leader may already have it from a rig.
    if ([...this.#pending.keys()].some((tracked) => tracked.hash === hash)) return
    const step: LifeStep = { step: isAcknowledged ? 'acknowledged' : 'handed-in' }
    const tracked: TrackedSolution = {
      job,
      hash,
      device,
      effort,
      isPoolBlock: false,
      lateMs: null,
      foundAtMs: nowMs - ageMs,
      step,
      verdict,
      counted: null,
      isOfThisRun: false,
    }
    const solution = { job, bytes, wasConfirmed: verdict === 'accepted' }
    if (isAcknowledged) this.#start(tracked, source.follow(solution, stopped))
    else this.#submit(tracked, solution)
  }

  /** Waits briefly for pending verdicts, then reports the rest as lost or unconfirmed. */
  async finish(): Promise<void> {
    if (this.#pending.size === 0) return
    let cancel: () => void = () => undefined
    const grace = new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(STOP_GRACE_MS, resolve)
    })
    await Promise.race([Promise.all(this.#pending.values()), grace])
    cancel()
    this.#isOver = true
    for (const tracked of this.#pending.keys()) if (tracked.verdict === null) this.#giveUp(tracked)
  }

  /** Reports the step first: a miner that dies after it submits the solution again at the next start. */
  #submit(tracked: TrackedSolution, solution: Solution): void {
    const { source, stopped } = this.#options
    this.#recordStep(tracked, { step: 'handed-in' })
    this.#start(tracked, stepsAfterSubmission(source.submit(solution), source, solution, stopped))
  }

  #start(tracked: TrackedSolution, steps: AsyncIterable<LifeStep>): void {
    const end = this.#followSteps(tracked, steps).finally(() => this.#pending.delete(tracked))
    this.#pending.set(tracked, end)
  }

  /** Processes the steps of a solution until the last one. */
  async #followSteps(tracked: TrackedSolution, steps: AsyncIterable<LifeStep>): Promise<void> {
    for await (const step of steps) {
      // finish() has already settled it.
      if (this.#isOver) return
      this.#recordStep(tracked, step)
    }
    // The miner stopped before the verdict was known.
    if (tracked.verdict === null) this.#giveUp(tracked)
  }

  /** Records a step. A later verdict replaces the counted one, as when a confirmed block is orphaned. */
  #recordStep(tracked: TrackedSolution, step: LifeStep): void {
    const before = tracked.verdict
    const verdict = verdictOf(step.step)
    const isNews = verdict !== null && verdict !== tracked.verdict
    if (isNews) {
      if (tracked.counted !== null) this.#count(tracked, tracked.counted, -1)
      // Do not count again what an earlier run counted.
      if (tracked.counted !== null || tracked.verdict === null) {
        this.#count(tracked, verdict, 1)
        tracked.counted = verdict
      }
      const change = Number(verdict === 'accepted') - Number(tracked.verdict === 'accepted')
      if (tracked.isOfThisRun) this.#accepted += change
      if (tracked.isPoolBlock) this.#poolBlocks += change
      tracked.verdict = verdict
    }
    tracked.step = step
    const wasDecided = before !== null && before !== 'unconfirmed'
    this.#options.onEvent(this.#eventOf(tracked, step, isNews ? verdict : null, wasDecided))
  }

  #count({ device, isOfThisRun }: TrackedSolution, verdict: Verdict, change: 1 | -1): void {
    this.#counts[verdict] += change
    // Devices of an earlier run may have had other names.
    if (isOfThisRun) this.#options.onCount(device, verdict, change)
  }

  /** Settles a solution when the miner ends before its verdict. */
  #giveUp(tracked: TrackedSolution): void {
    if (tracked.step.step === 'handed-in') {
      this.#recordStep(tracked, {
        step: 'lost',
        reason: 'stopped',
        message: 'the miner stopped before the node answered',
      })
    } else this.#recordStep(tracked, { step: 'unconfirmed', message: 'the node took it, and the miner stopped' })
  }

  #eventOf(
    { job, hash, device, effort, isPoolBlock, lateMs, foundAtMs }: TrackedSolution,
    step: FoundStep | LifeStep,
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
