/** What becomes of a solution: handing it to a node, and looking whether it became a block. */
import { blockHash } from '../core/block-hash.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { NodeClient } from '../node/client.ts'
import { NodeRefusal, NotFound } from '../node/errors.ts'
import { UnreachableError } from '../node/unreachable.ts'
import type { RejectReason, Verdict } from './source.ts'

const ATTEMPTS = 4
const FIRST_BACKOFF_MS = 200
/** A live node adds a solved block to its chain asynchronously: waits between looks for it. */
const CONFIRM_DELAYS_MS = [0, 50, 100, 200, 400, 800, 1600]

export interface SubmissionOptions {
  readonly client: NodeClient
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
}

/** Posts solved work, again if the connection fails. null: the node took it. */
export async function post(
  solution: Uint8Array,
  { client, clock, random }: SubmissionOptions,
): Promise<Verdict | null> {
  let failure: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(clock, random() * FIRST_BACKOFF_MS * 2 ** attempt)
    try {
      await client.solved(solution)
      return null
    } catch (error) {
      failure = error
      if (error instanceof UnreachableError && error.reason === 'closed') break
      if (!isAnswer(error)) continue
      // After a lost answer the node may have taken it the first time: only the chain can tell.
      if (attempt > 0 && error.status === 404) return null
      return { kind: 'rejected', reason: rejectReason(error), message: describeError(error) }
    }
  }
  return { kind: 'failed', message: describeError(failure) }
}

/**
 * Whether a block that the node took reached its chain: success of a submission does not say so (PROTOCOL.md A.2). When
 * the signal aborts it looks once and no more. `onTrouble` hears why a look failed.
 */
export async function confirm(
  solution: Uint8Array,
  { chain, height }: { readonly chain: number; readonly height: number },
  { client, clock }: SubmissionOptions,
  signal: AbortSignal,
  onTrouble: (message: string, retryInMs: number) => void,
): Promise<Verdict> {
  const hash = blockHash(solution)
  let couldAsk = false
  for (const delayMs of CONFIRM_DELAYS_MS) {
    if (delayMs > 0) await sleep(clock, delayMs, signal)
    try {
      // The cut first: a block that is in neither the cut read before nor the chain read after is not there.
      const head = (await client.cut()).hashes[chain]
      if (await hasHeader(client, chain, hash)) return { kind: 'accepted', confirmed: true }
      couldAsk = true
      if (head !== undefined && head.height >= height) return { kind: 'stale' }
    } catch (error) {
      if (isAnswer(error)) return { kind: 'accepted', confirmed: false }
      onTrouble(`cannot confirm a block: ${describeError(error)}`, delayMs)
    }
    if (signal.aborted) return { kind: 'accepted', confirmed: false }
  }
  return couldAsk ? { kind: 'stale' } : { kind: 'accepted', confirmed: false }
}

/** A refusal that asking again would not change; 408 and 429 come from what is in front of a node, or a busy one. */
function isAnswer(error: unknown): error is NodeRefusal {
  return error instanceof NodeRefusal && error.status < 500 && !error.retryable
}

async function hasHeader(client: NodeClient, chain: number, hash: Uint8Array): Promise<boolean> {
  try {
    await client.header(chain, hash)
    return true
  } catch (error) {
    if (error instanceof NotFound) return false
    throw error
  }
}

function rejectReason({ status, excerpt }: NodeRefusal): RejectReason {
  if (status === 404) return 'no-payload'
  if (status === 401 || status === 403) return 'unauthorized'
  if (/pow/i.test(excerpt)) return 'invalid-pow'
  if (/payload/i.test(excerpt)) return 'invalid-payload'
  return /decod/i.test(excerpt) ? 'undecodable' : 'unknown'
}
