/** Waits for the result of a command, or for its proof: polls at random intervals. */
import { aroundMs, backoffMs } from '#ground/base/backoff.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { formatDuration } from '#ground/base/units.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { nodeErrors } from './error-rows.ts'
import { isRetryable, NodeMisbehaved, NodeRefusal } from './errors.ts'
import type { CallOptions } from './requests.ts'

/** State of a command. `trouble`: no node responded; the next attempt follows after `retryInMs`. */
export type WaitProgress =
  /** In no block of the chain; `wasIncluded`: it was in one that another branch has replaced. */
  | { readonly type: 'pending'; readonly wasIncluded: boolean }
  /** In the block at this height, with `depth` of the wanted `of` blocks on top of it. */
  | { readonly type: 'included'; readonly height: number; readonly depth: number; readonly of: number }
  | { readonly type: 'trouble'; readonly error: NewcutError; readonly retryInMs: number }

/** Depth, limit and interval of a wait. */
export interface WaitOptions {
  /** Number of blocks required on top of the one with the command. Default 0. */
  readonly depth?: number
  /** Longest wait until a block has the command, and then for each block on top of it. Default 5 minutes. */
  readonly limitMs?: number
  /** Mean time between two requests. Default: 50 ms at first, twice as long after each request, up to 1 second. */
  readonly pollMs?: number
  /** When it aborts, the wait ends with its reason. */
  readonly signal?: AbortSignal
  /** Called with every change, and never with the same twice in a row. */
  readonly onProgress?: (progress: WaitProgress) => void
}

/** Calls that a wait sends. */
export interface WaitNode {
  poll(
    chain: number,
    requestKeys: readonly string[],
    options: CallOptions & { readonly confirmationDepth?: number },
  ): Promise<ReadonlyMap<string, CommandResult>>
  cut(
    options: CallOptions,
  ): Promise<{ readonly hashes: Readonly<Record<string, { readonly height: number | bigint }>> }>
  spv(chain: number, requestKey: string, targetChain: number, options: CallOptions): Promise<string>
}

/** Clock and randomness of a wait. */
interface WaitEnvironment {
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

const DEFAULT_LIMIT_MS = 300_000
/** Mean time to the second request. A development network may have the result by then. */
const FIRST_POLL_MS = 50
const LAST_POLL_MS = 1_000
const POLLS = aroundMs(FIRST_POLL_MS, LAST_POLL_MS)
/** Longest pause while the node is away. */
const MAX_PAUSE_MS = 15_000
/** Text of a node while the proof has not reached the target chain (PROTOCOL.md E.1). */
const TOO_YOUNG = /target chain not reachable|too young/i

/** A command on its chain. */
interface TransactionLocation {
  readonly chain: number
  readonly requestKey: string
}

/**
 * Waits for the result of a command with `depth` blocks on top of it. A command that was sent is
 *
 * 1. pending: in the mempool, in no block of the chain;
 * 2. included: a block has it and its result. A reorg may remove that block: the command is then pending again;
 * 3. confirmed: `depth` blocks are on top of its block. The wait ends with its result.
 *
 * A command that no block includes in its lifetime has no result, and the wait ends at its limit.
 * @throws NewcutError NO_RESULT after the limit, NodeRefusal if the node itself refuses, NodeMisbehaved, and the reason
 * of the signal
 */
export function waitForResult(
  node: WaitNode,
  { chain, requestKey }: TransactionLocation,
  options: WaitOptions,
  machine: WaitEnvironment,
): Promise<CommandResult> {
  const { depth: wantedDepth = 0 } = options
  let wasIncluded = false
  const giveUp = (limit: string) => operatingError(nodeErrors.noResult, { requestKey, chain, limit })
  return pollUntilAnswered(giveUp, options, machine, async (call, report) => {
    const result = (await node.poll(chain, [requestKey], call)).get(requestKey)
    if (result === undefined) {
      report({ type: 'pending', wasIncluded })
      return null
    }
    const height = heightOf(result)
    // A result without a block: the node has dropped the command for good.
    if (height === null || wantedDepth === 0) {
      if (height !== null) report({ type: 'included', height, depth: 0, of: wantedDepth })
      return result
    }
    wasIncluded = true
    const head = Number((await node.cut(call)).hashes[chain]?.height ?? height)
    const depth = Math.min(wantedDepth, Math.max(0, head - height))
    report({ type: 'included', height, depth, of: wantedDepth })
    if (head - height < wantedDepth) return null
    // The branch may have changed between the two responses.
    return (await node.poll(chain, [requestKey], { ...call, confirmationDepth: wantedDepth })).get(requestKey) ?? null
  })
}

/**
 * Waits until the result of a command can be proven to another chain.
 * @returns the proof
 * @throws like waitForResult
 */
export function waitForProof(
  node: WaitNode,
  { chain, requestKey, targetChain }: TransactionLocation & { readonly targetChain: number },
  options: WaitOptions,
  machine: WaitEnvironment,
): Promise<string> {
  const giveUp = (limit: string) => operatingError(nodeErrors.noProof, { requestKey, chain, targetChain, limit })
  return pollUntilAnswered(giveUp, options, machine, async (call) => {
    try {
      return await node.spv(chain, requestKey, targetChain, call)
    } catch (error) {
      if (error instanceof NodeRefusal && error.isNodesOwn && TOO_YOUNG.test(error.excerpt)) return null
      throw error
    }
  })
}

type ReportProgress = (progress: WaitProgress) => void

/** Polls until there is a result. Progress restarts the limit. */
async function pollUntilAnswered<T>(
  giveUp: (limit: string) => NewcutError,
  { limitMs = DEFAULT_LIMIT_MS, pollMs, signal, onProgress = () => undefined }: WaitOptions,
  { clock, random }: WaitEnvironment,
  request: (call: CallOptions, report: ReportProgress) => Promise<T | null>,
): Promise<T> {
  let endMs = clock.monotonicMs() + limitMs
  let last = ''
  const report = (progress: WaitProgress) => {
    const key = progress.type === 'trouble' ? progress.error.message : JSON.stringify(progress)
    if (key === last) return
    last = key
    if (progress.type === 'included') endMs = clock.monotonicMs() + limitMs
    onProgress(progress)
  }
  for (let [requests, failures] = [0, 0]; ; requests++) {
    let pauseMs = backoffMs(pollMs === undefined ? POLLS : aroundMs(pollMs, pollMs), requests, random)
    try {
      const answer = await request(signal ? { signal } : {}, report)
      if (answer !== null) return answer
      failures = 0
    } catch (error) {
      signal?.throwIfAborted()
      if (!isOutage(error)) throw error
      const retryAfterMs = error instanceof NodeRefusal ? (error.retryAfterMs ?? 0) : 0
      pauseMs = Math.max(retryAfterMs, backoffMs(aroundMs(pollMs ?? LAST_POLL_MS, MAX_PAUSE_MS), failures++, random))
      report({ type: 'trouble', error, retryInMs: Math.round(pauseMs) })
    }
    const leftMs = endMs - clock.monotonicMs()
    if (leftMs <= 0) throw giveUp(formatDuration(limitMs))
    await sleep(clock, Math.min(pauseMs, leftMs), signal)
    signal?.throwIfAborted()
  }
}

/** Whether an error may come from an outage: no response, or one from a proxy in front of the node. */
export function isOutage(error: unknown): error is NewcutError {
  if (isRetryable(error)) return true
  if (error instanceof NodeRefusal) return !error.isNodesOwn
  return error instanceof NodeMisbehaved && !error.isFromNode
}

function heightOf({ metaData }: CommandResult): number | null {
  return metaData === null || metaData === undefined ? null : Number(metaData.blockHeight)
}
