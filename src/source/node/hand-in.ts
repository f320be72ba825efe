/** Handing a solution to a node: again until it is known what became of it, and what the answers mean. */
import { describeError } from '../../core/errors.ts'
import { NodeRefusal } from '../../node/errors.ts'
import { UnreachableError } from '../../node/unreachable.ts'
import { type LostReason, type Receipt, type RejectReason, WORK_LIFE_MS } from '../source.ts'
import { hedged } from './hedged.ts'
import { type LookOptions, lookFor, type SolvedBlock } from './look.ts'
import { Pulse } from './pulse.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1_000
/**
 * A refusal stands once it has been repeated for so long: whatever stands before a node may answer in its place, and a
 * node that starts may refuse what it takes a little later.
 */
const PATIENCE_MS = 5_000

export interface HandInOptions extends LookOptions {
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
  /** The node itself has refused it for the first time: it goes on being handed in, but most likely no block comes of it. */
  readonly onRefused?: () => void
}

/**
 * Hands in solved work until the node takes it, its chain shows what became of it, the node has refused it for 5 s, or
 * the work is 5 minutes old. When the signal aborts it tries once more at once; a solution that does not reach the node
 * then is one for the next start. Never throws.
 */
export async function handIn(block: SolvedBlock, options: HandInOptions, stopped: AbortSignal): Promise<Receipt> {
  const { clock, random, pulse = new Pulse() } = options
  const startMs = clock.monotonicMs()
  /** The first of the refusals in a row, and since when. */
  let refused: { readonly by: NodeRefusal; readonly atMs: number } | null = null
  for (let attempt = 1; ; attempt++) {
    const isLast = stopped.aborted
    const failure = await attemptOf(block, options)
    if (failure === null) return { step: 'acknowledged' }
    if (failure instanceof UnreachableError && failure.reason === 'closed') return lost('stopped', failure)
    // A payload is used up by whoever is first: by an attempt whose answer was lost, or by another miner of the account.
    const { place, failure: unseen } = await lookFor(block, options, [0], stopped)
    if (place?.kind === 'on-chain' || place?.kind === 'orphaned') return { step: 'acknowledged' }
    if (place?.kind === 'passed') return { step: 'stale' }
    const nowMs = clock.monotonicMs()
    if (refused === null && isJudgement(failure)) options.onRefused?.()
    refused = isJudgement(failure) ? (refused ?? { by: failure, atMs: nowMs }) : null
    // While the chain cannot be asked, a refusal may be that of a payload which we have used up ourselves.
    const isFinal = refused !== null && (isLast || nowMs - refused.atMs >= PATIENCE_MS)
    if (refused !== null && isFinal && unseen === null) return rejection(refused.by)
    if (nowMs - startMs >= WORK_LIFE_MS) return lost('unreachable', failure)
    if (isLast) return lost('stopped', failure)
    await pulse.sleep(clock, random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), stopped)
  }
}

/** null: the node took it; else why not. */
async function attemptOf(block: SolvedBlock, { node, clock, pulse }: HandInOptions): Promise<unknown> {
  try {
    const { signal } = new AbortController()
    await hedged((each) => node.solved(block.bytes, each), { clock, what: 'a submission', signal, pulse })
    return null
  } catch (error) {
    return error
  }
}

/** Whether it may be the node's own opinion of this solution, and no sign of an outage. */
function isJudgement(failure: unknown): failure is NodeRefusal {
  return failure instanceof NodeRefusal && (failure.isNodesOwn || failure.status === 400)
}

function lost(reason: LostReason, error: unknown): Receipt {
  return { step: 'lost', reason, message: describeError(error) }
}

function rejection(error: NodeRefusal): Receipt {
  return { step: 'rejected', reason: rejectReason(error), message: describeError(error) }
}

function rejectReason({ status, excerpt }: NodeRefusal): RejectReason {
  // The node's own words (PROTOCOL.md A.2): it knows no payload of that work, or it is used up.
  if (status === 404 && /no associated payload/i.test(excerpt)) return 'no-payload'
  if (status === 401 || status === 403) return 'unauthorized'
  if (/pow/i.test(excerpt)) return 'invalid-pow'
  if (/payload/i.test(excerpt)) return 'invalid-payload'
  return /decod/i.test(excerpt) ? 'undecodable' : 'unknown'
}
