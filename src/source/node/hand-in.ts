/** Handing a solution to a node: again while there is no answer, and what the answer means. */
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import { NodeRefusal } from '../../node/errors.ts'
import { UnreachableError } from '../../node/unreachable.ts'
import type { Receipt, RejectReason } from '../source.ts'
import { lookFor, type SolvedBlock } from './look.ts'
import type { MiningNode } from './mining-node.ts'

const MAX_ATTEMPTS = 6
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000
/** A payload that is used up: pauses before each look whether the chain moved on for it, 6 s in all. */
const LOOK_DELAYS_MS = [0, 100, 200, 400, 800, 1600, 3000]

export interface HandInOptions {
  readonly node: MiningNode
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
}

/** Hands in solved work. When the signal aborts it tries once more at once. Never throws. */
export async function handIn(block: SolvedBlock, options: HandInOptions, stopped: AbortSignal): Promise<Receipt> {
  const { node, clock, random } = options
  let failure: unknown
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(clock, random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), stopped)
    const isLast = stopped.aborted
    try {
      await node.solved(block.bytes)
      return { step: 'acknowledged' }
    } catch (error) {
      failure = error
      if (isLast || (error instanceof UnreachableError && error.reason === 'closed')) break
      if (!(error instanceof NodeRefusal)) continue
      if (isWithoutPayload(error)) return withoutPayload(block, error, options, stopped)
      // What stands before the node may answer in its place, and that passes.
      if (error.isNodesOwn) return rejection(error)
    }
  }
  if (failure instanceof NodeRefusal && failure.status === 400) return rejection(failure)
  return { step: 'lost', reason: 'unreachable', message: describeError(failure) }
}

function rejection(error: NodeRefusal): Receipt {
  return { step: 'rejected', reason: rejectReason(error), message: describeError(error) }
}

/** The node's own words (PROTOCOL.md A.2): it knows no payload of that work, or it is used up. */
function isWithoutPayload({ status, excerpt }: NodeRefusal): boolean {
  return status === 404 && /no associated payload/i.test(excerpt)
}

/**
 * The payload is used up by whoever is first: by an attempt of ours whose answer was lost, or by another miner of the
 * same account. Only the chain can tell, and a live node moves it later. If it does not move, the work was too old.
 */
async function withoutPayload(
  block: SolvedBlock,
  error: NodeRefusal,
  options: HandInOptions,
  stopped: AbortSignal,
): Promise<Receipt> {
  const { place } = await lookFor(block, options, LOOK_DELAYS_MS, stopped)
  if (place?.kind === 'on-chain' || place?.kind === 'orphaned') return { step: 'acknowledged' }
  return place?.kind === 'passed' ? { step: 'stale' } : rejection(error)
}

function rejectReason(error: NodeRefusal): RejectReason {
  const { status, excerpt } = error
  if (isWithoutPayload(error)) return 'no-payload'
  if (status === 401 || status === 403) return 'unauthorized'
  if (/pow/i.test(excerpt)) return 'invalid-pow'
  if (/payload/i.test(excerpt)) return 'invalid-payload'
  return /decod/i.test(excerpt) ? 'undecodable' : 'unknown'
}
