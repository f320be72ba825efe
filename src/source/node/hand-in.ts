/** Handing a solution to a node: again until it is known what became of it, and what the answers mean. */
import { sleep } from '../../core/clock.ts'
import { describeError, NewcutError } from '../../core/errors.ts'
import type { LostReason, Receipt, RejectReason } from '../../core/solution.ts'
import { NodeRefusal } from '../../node/errors.ts'
import { UnreachableError } from '../../node/unreachable.ts'
import { WORK_LIFE_MS } from '../source.ts'
import { type LookOptions, lookFor, type SolvedBlock } from './look.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1_000
/**
 * A refusal stands once it has been repeated for so long: whatever stands before a node may answer in its place, and a
 * node that starts may refuse what it takes a little later.
 */
const INSISTS_MS = 5_000
/**
 * A node says that it knows no payload also of a solution which it took before, when the answer was lost. It adds blocks to
 * its chain asynchronously: that refusal stands once its chain has not shown the block for so long.
 */
const USED_UP_MS = 20_000
/** So long it is waited for an answer that is to remind the node of a payload. Asking alone does that. */
const REMIND_MS = 500

export interface HandInOptions extends LookOptions {
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
  /** It was refused for the first time: it goes on being handed in, but most likely no block comes of it. */
  readonly onRefused?: () => void
  /** How deep a block has to lie before nobody looks any further; 1: the head. */
  readonly confirmations?: number | undefined
  /** Another node gave the work. One that does not know its payload says nothing against the solution. */
  readonly isForeign?: boolean
}

/**
 * Hands in solved work until the node takes it, its chain shows what became of it, the node has refused it for 5 s (20 s
 * if it knows no payload, although it was asked for the same work again), or 5 minutes are over. When the signal aborts it
 * tries once more at once; a solution that does not reach the node then is one for the next start. Never throws.
 */
export async function handIn(block: SolvedBlock, options: HandInOptions, stopped: AbortSignal): Promise<Receipt> {
  const { calls, random, confirmations = 1, isForeign = false } = options
  const startMs = calls.clock.monotonicMs()
  /** The first of the refusals in a row, and since when. */
  let refused: { readonly by: NodeRefusal; readonly atMs: number } | null = null
  let wasRefused = false
  for (let attempt = 1; ; attempt++) {
    const isLast = stopped.aborted
    const failure = await attemptOf(block, options)
    if (failure === null) return { step: 'acknowledged' }
    if (failure instanceof UnreachableError && failure.reason === 'closed') return lost('stopped', failure)
    // A payload is used up by whoever is first: by an attempt whose answer was lost, or by another miner of the account.
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
    // While the chain cannot be asked, a refusal may be that of a payload which we have used up ourselves.
    if (refused !== null && unseen === null && isFinal(refused.by, nowMs - refused.atMs, isLast))
      return rejection(refused.by)
    if (nowMs - startMs >= WORK_LIFE_MS) {
      // Whatever stands before a node has said so all the time.
      if (isRefusal(failure) && failure.status === 400 && unseen === null) return rejection(failure)
      return { ...lost('unreachable', failure), mayReturn: true }
    }
    if (isLast) return lost('stopped', failure)
    await calls.sleep(random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), stopped)
    if (isRefusal(failure) && isUnknown(failure) && !stopped.aborted) await remind(block, options, stopped)
  }
}

/** Whether a refusal stands that was repeated for so long. `isLast`: the miner stops, so there is no more time. */
function isFinal(by: NodeRefusal, elapsedMs: number, isLast: boolean): boolean {
  if (isUnknown(by)) return elapsedMs >= USED_UP_MS
  return isLast || elapsedMs >= INSISTS_MS
}

/** null: the node took it; else why not. */
async function attemptOf(block: SolvedBlock, { node, calls }: HandInOptions): Promise<unknown> {
  try {
    await calls.ask('submission', (signal) => node.solved(block.bytes, signal))
    return null
  } catch (error) {
    return error
  }
}

/**
 * Asks for work of the chain once more: a node that makes the same block again knows its payload again (PROTOCOL.md A.2).
 * One that was started anew does, unless other transactions came in. A node may keep that request waiting: after half a
 * second the solution is handed in all the same.
 */
async function remind({ chain }: SolvedBlock, { node, calls }: HandInOptions, stopped: AbortSignal): Promise<void> {
  const end = new AbortController()
  const stop = () => end.abort()
  stopped.addEventListener('abort', stop, { once: true })
  const asked = node.work(chain, end.signal).catch((error) => {
    // The next submission tells what the node knows.
    if (!end.signal.aborted && !(error instanceof NewcutError)) throw error
  })
  await Promise.race([asked, sleep(calls.clock, REMIND_MS, end.signal)])
  stopped.removeEventListener('abort', stop)
  stop()
}

/** Whether it may be an opinion of this solution, the node's own or not, and no sign of an outage. */
function isRefusal(failure: unknown): failure is NodeRefusal {
  return failure instanceof NodeRefusal && (failure.isNodesOwn || failure.status === 400)
}

/** Whether it says something against the solution. A node of another network does not know the path, and says that. */
function isJudgement(refusal: NodeRefusal, isForeign: boolean): boolean {
  return refusal.isNodesOwn && (refusal.status !== 404 || (isUnknown(refusal) && !isForeign))
}

/** Whether the node says that it knows no payload of that work, or that it is used up (PROTOCOL.md A.2). */
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
