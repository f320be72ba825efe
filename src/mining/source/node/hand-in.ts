/** Hands a solution in to a node until its fate is known, and interprets the answers. */

import { NodeRefusal } from '#client/node/errors.ts'
import { UnreachableError } from '#client/node/unreachable.ts'
import { backoffMs } from '#ground/base/backoff.ts'
import { sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import type { LostReason, Receipt, RejectReason } from '#ground/chain/solution.ts'
import { WORK_LIFE_MS } from '../source.ts'
import { type LookOptions, lookFor, type SolvedBlock } from './look.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1_000
/**
 * A refusal is final after it has been repeated for this time. A proxy may answer in place of the node, and a node that
 * starts may refuse work that it soon takes.
 */
const INSISTS_MS = 5_000
/**
 * `No associated payload` is final after this time. A node also returns it for a solution that it already took, when
 * the answer was lost; it adds blocks to its chain asynchronously.
 */
const USED_UP_MS = 20_000
/** Timeout of the request that makes the node rebuild the payload. Its answer is not used. */
const REMIND_MS = 500

interface HandInOptions extends LookOptions {
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
  /** Called at the first refusal. Retries continue, but most likely no block comes of it. */
  readonly onRefused?: () => void
  /** Required depth of a settled block; 1 is the head. */
  readonly confirmations?: number | undefined
  /** Whether another node issued the work. Then an unknown payload says nothing against the solution. */
  readonly isForeign?: boolean
}

/**
 * Hands in solved work until the node takes it, its chain decides, the node's refusal is final, or 5 minutes pass. A
 * refusal is final after 5 s, an unknown payload after 20 s, during which the node is asked for the same work again.
 * After the signal aborts, makes one more attempt at once; the next start resubmits a solution that still did not
 * arrive. Never throws.
 */
export async function handInBlock(block: SolvedBlock, options: HandInOptions, stopped: AbortSignal): Promise<Receipt> {
  const { calls, random, confirmations = 1, isForeign = false } = options
  const startMs = calls.clock.monotonicMs()
  /** The first refusal of the current series, and its time. */
  let refused: { readonly by: NodeRefusal; readonly atMs: number } | null = null
  let wasRefused = false
  for (let attempt = 1; ; attempt++) {
    const isLast = stopped.aborted
    const failure = await attemptOf(block, options)
    if (failure === null) return { step: 'acknowledged' }
    if (failure instanceof UnreachableError && failure.reason === 'closed') return lost('stopped', failure)
    // The first submission uses the payload up: an attempt whose answer was lost, or another miner of the account.
    const { place, failure: unseen } = await lookFor(block, options, [0], stopped)
    if (place?.kind === 'on-chain' || place?.kind === 'orphaned') return { step: 'acknowledged' }
    if (place?.kind === 'passed')
      return place.depth < confirmations ? { step: 'stale', mayReturn: true } : { step: 'stale' }
    const nowMs = calls.clock.monotonicMs()
    if (!wasRefused && isRefusal(failure)) {
      wasRefused = true
      options.onRefused?.()
    }
    const mayStand = isRefusal(failure) && isJudgement(failure, isForeign)
    refused = mayStand ? (refused ?? { by: failure, atMs: nowMs }) : null
    // Without a look at the chain, the refusal may concern a payload that our own lost attempt used up.
    if (refused !== null && unseen === null && isFinal(refused.by, nowMs - refused.atMs, isLast))
      return rejection(refused.by)
    if (nowMs - startMs >= WORK_LIFE_MS) {
      // A proxy has said so all the time.
      if (isRefusal(failure) && failure.status === 400 && unseen === null) return rejection(failure)
      return { ...lost('unreachable', failure), mayReturn: true }
    }
    if (isLast) return lost('stopped', failure)
    await calls.sleep(backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS }, attempt, random), stopped)
    if (isRefusal(failure) && isUnknown(failure) && !stopped.aborted) await remind(block, options, stopped)
  }
}

/** Whether a refusal is final after this time. `isLast`: the miner stops, so there is no more time. */
function isFinal(by: NodeRefusal, elapsedMs: number, isLast: boolean): boolean {
  if (isUnknown(by)) return elapsedMs >= USED_UP_MS
  return isLast || elapsedMs >= INSISTS_MS
}

/** @returns null if the node took it, else the failure */
async function attemptOf(block: SolvedBlock, { node, calls }: HandInOptions): Promise<unknown> {
  try {
    await calls.ask('submission', (signal) => node.solved(block.bytes, signal))
    return null
  } catch (error) {
    return error
  }
}

/**
 * Requests work of the chain, so that a node that makes the same block again knows its payload (PROTOCOL.md A.2). A
 * restarted node does so, unless other transactions arrived. A node may delay the answer, so the solution is handed in
 * after half a second anyway.
 */
async function remind({ chain }: SolvedBlock, { node, calls }: HandInOptions, stopped: AbortSignal): Promise<void> {
  const end = new AbortController()
  const stop = () => end.abort()
  stopped.addEventListener('abort', stop, { once: true })
  const asked = node.work(chain, end.signal).catch((error) => {
    // The next submission shows what the node knows.
    if (!end.signal.aborted && !(error instanceof NewcutError)) throw error
  })
  await Promise.race([asked, sleep(calls.clock, REMIND_MS, end.signal)])
  stopped.removeEventListener('abort', stop)
  stop()
}

/** Whether the failure may be a judgement of this solution, by the node or a proxy, and not an outage. */
function isRefusal(failure: unknown): failure is NodeRefusal {
  return failure instanceof NodeRefusal && (failure.isNodesOwn || failure.status === 400)
}

/** Whether it speaks against the solution. A node of another network returns 404 for the path, which does not. */
function isJudgement(refusal: NodeRefusal, isForeign: boolean): boolean {
  return refusal.isNodesOwn && (refusal.status !== 404 || (isUnknown(refusal) && !isForeign))
}

/** Whether the node says that it does not know the payload, or that the payload is used up (PROTOCOL.md A.2). */
function isUnknown({ status, excerpt }: NodeRefusal): boolean {
  return status === 404 && /no associated payload/i.test(excerpt)
}

function lost(reason: LostReason, error: unknown): Extract<Receipt, { readonly step: 'lost' }> {
  return { step: 'lost', reason, message: describeError(error) }
}

function rejection(error: NodeRefusal): Receipt {
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
