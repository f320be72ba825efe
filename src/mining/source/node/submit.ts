/** Submits a solution to a node until its fate is known, and interprets the answers. */

import { NodeRefusal } from '#client/node/errors.ts'
import { UnreachableError } from '#client/node/unreachable.ts'
import { backoffMs } from '#ground/base/backoff.ts'
import { sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import type { LostReason, Receipt, RejectReason } from '#ground/chain/solution.ts'
import { WORK_LIFE_MS } from '../source.ts'
import { type LookupOptions, type LookupResult, lookUpBlock, type SolvedBlock } from './block-lookup.ts'

/** First and longest pause between attempts. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1_000
/**
 * A refusal is final after it has been repeated for this time. A proxy may answer in place of the node, and a node that
 * starts may refuse work that it soon takes.
 */
const REFUSAL_FINAL_MS = 5_000
/**
 * `No associated payload` is final after this time. A node also returns it for a solution that it already took, when
 * the answer was lost; it adds blocks to its chain asynchronously.
 */
const NO_PAYLOAD_FINAL_MS = 20_000
/** Timeout of the request that makes the node rebuild the payload. Its answer is not used. */
const REBUILD_PAYLOAD_TIMEOUT_MS = 500

interface SubmitOptions extends LookupOptions {
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
  /** Called at the first refusal. Retries continue, but a block is unlikely. */
  readonly onRefused?: () => void
  /** Required depth of a settled block; 1 is the head. */
  readonly confirmations?: number | undefined
  /** Whether another node issued the work. Then an unknown payload says nothing against the solution. */
  readonly isForeign?: boolean
}

/** A failed attempt to submit a block that the chain does not decide. */
interface FailedAttempt {
  readonly failure: unknown
  /** The refusals that have followed each other up to this attempt, or null. */
  readonly series: RefusalSeries | null
  /** Whether the node has said that its chain has neither the block nor another one in its place. */
  readonly isMissing: boolean
  /** Time since the first attempt. */
  readonly elapsedMs: number
  readonly nowMs: number
  /** Whether the miner stops, so that this attempt is the last one. */
  readonly isLast: boolean
}

/** Refusals without another answer between them. */
interface RefusalSeries {
  /** The first of them. */
  readonly refusal: NodeRefusal
  readonly sinceMs: number
}

/**
 * Submits solved work until the node takes it, its chain decides, the node's refusal is final, or 5 minutes pass. A
 * refusal is final after 5 s, an unknown payload after 20 s, during which the node gets requests for the same work. After
 * the signal aborts, makes one more attempt at once; the next start resubmits a solution that still did not arrive. Never
 * throws.
 */
export async function submitBlock(block: SolvedBlock, options: SubmitOptions, stopped: AbortSignal): Promise<Receipt> {
  const { calls, random, confirmations = 1, isForeign = false } = options
  const startMs = calls.clock.monotonicMs()
  let series: RefusalSeries | null = null
  let wasRefused = false
  for (let attempt = 1; ; attempt++) {
    const isLast = stopped.aborted
    const failure = await trySubmit(block, options)
    if (failure === null) return { step: 'acknowledged' }
    if (failure instanceof UnreachableError && failure.reason === 'closed') return lossOf('stopped', failure)
    // The first submission uses the payload up: an attempt whose answer was lost, or another miner of the account.
    const lookup = await lookUpBlock(block, options, [0], stopped)
    const decided = receiptOf(lookup, confirmations)
    if (decided !== null) return decided
    const nowMs = calls.clock.monotonicMs()
    const isRefused = isRefusal(failure)
    series = isRefused && isJudgement(failure, isForeign) ? (series ?? { refusal: failure, sinceMs: nowMs }) : null
    if (isRefused && !wasRefused) {
      wasRefused = true
      options.onRefused?.()
    }
    const isMissing = lookup.failure === null
    const receipt = decide({ failure, series, isMissing, elapsedMs: nowMs - startMs, nowMs, isLast })
    if (receipt !== null) return receipt
    await calls.sleep(backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS }, attempt, random), stopped)
    if (isRefused && isUnknown(failure) && !stopped.aborted) await rebuildPayload(block, options, stopped)
  }
}

/**
 * The receipt after a failed attempt. Pure.
 * @returns null if another attempt should follow
 */
function decide({ failure, series, isMissing, elapsedMs, nowMs, isLast }: FailedAttempt): Receipt | null {
  // Without an answer about the chain, the refusal may concern a payload that our own lost attempt used up.
  if (series !== null && isMissing && isFinal(series.refusal, nowMs - series.sinceMs, isLast)) {
    return rejectionOf(series.refusal)
  }
  if (elapsedMs >= WORK_LIFE_MS) {
    // A proxy has said so all the time.
    if (isRefusal(failure) && failure.status === 400 && isMissing) return rejectionOf(failure)
    return { ...lossOf('unreachable', failure), mayReturn: true }
  }
  return isLast ? lossOf('stopped', failure) : null
}

/** @returns the receipt that the chain itself gives, or null if it has neither the block nor another in its place */
function receiptOf({ position }: LookupResult, confirmations: number): Receipt | null {
  switch (position?.kind) {
    case 'on-chain':
    case 'orphaned':
      return { step: 'acknowledged' }
    case 'passed':
      return position.depth < confirmations ? { step: 'stale', mayReturn: true } : { step: 'stale' }
    default:
      return null
  }
}

/** Whether a refusal is final after this time. `isLast`: the miner stops, so there is no more time. */
function isFinal(refusal: NodeRefusal, elapsedMs: number, isLast: boolean): boolean {
  if (isUnknown(refusal)) return elapsedMs >= NO_PAYLOAD_FINAL_MS
  return isLast || elapsedMs >= REFUSAL_FINAL_MS
}

/** @returns null if the node took it, else the failure */
async function trySubmit(block: SolvedBlock, { node, calls }: SubmitOptions): Promise<unknown> {
  try {
    await calls.ask('submission', (signal) => node.submit(block.bytes, signal))
    return null
  } catch (error) {
    return error
  }
}

/**
 * Requests work of the chain, so that a node that makes the same block again knows its payload (PROTOCOL.md A.2). A
 * restarted node does so, unless other transactions arrived. A node may delay the answer, so the solution is resubmitted
 * after half a second anyway.
 */
async function rebuildPayload(
  { chain }: SolvedBlock,
  { node, calls }: SubmitOptions,
  stopped: AbortSignal,
): Promise<void> {
  const end = new AbortController()
  const stop = () => end.abort()
  stopped.addEventListener('abort', stop, { once: true })
  const answer = node.work(chain, end.signal).catch((error) => {
    // The next submission shows what the node knows.
    if (!end.signal.aborted && !(error instanceof NewcutError)) throw error
  })
  await Promise.race([answer, sleep(calls.clock, REBUILD_PAYLOAD_TIMEOUT_MS, end.signal)])
  stopped.removeEventListener('abort', stop)
  stop()
}

/** Whether the failure may be a judgement of this solution, by the node or a proxy, and not an outage. */
function isRefusal(failure: unknown): failure is NodeRefusal {
  return failure instanceof NodeRefusal && (failure.isNodesOwn || failure.status === 400)
}

/**
 * Whether a refusal speaks against the solution. A node of another network returns 404 for the path, which does not.
 * @param isForeign whether another node issued the work
 */
function isJudgement(refusal: NodeRefusal, isForeign: boolean): boolean {
  return refusal.isNodesOwn && (refusal.status !== 404 || (isUnknown(refusal) && !isForeign))
}

/** Whether the node says that it does not know the payload, or that the payload is used up (PROTOCOL.md A.2). */
function isUnknown({ status, excerpt }: NodeRefusal): boolean {
  return status === 404 && /no associated payload/i.test(excerpt)
}

function lossOf(reason: LostReason, error: unknown): Extract<Receipt, { readonly step: 'lost' }> {
  return { step: 'lost', reason, message: describeError(error) }
}

function rejectionOf(error: NodeRefusal): Receipt {
  return { step: 'rejected', reason: rejectReason(error), message: describeError(error) }
}

function rejectReason(error: NodeRefusal): RejectReason {
  const { status, excerpt } = error
  if (isUnknown(error)) return 'no-payload'
  if (status === 401 || status === 403) return 'unauthorized'
  if (/pow/i.test(excerpt)) return 'invalid-pow'
  if (/payload/i.test(excerpt)) return 'invalid-payload'
  return /decod/i.test(excerpt) ? 'undecodable' : 'unknown'
}
