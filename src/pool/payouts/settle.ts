/**
 * Settles payouts. A payout is settled when a block deep enough in its chain has its transaction. It is also settled
 * when a block of that depth is too late for it, and no block up to there has it. Until then newcut resends the same
 * transaction while blocks may include it.
 *
 * The word of a node is not proof: it may have lost a result, or give a wrong one. newcut repeats a payment that
 * failed. Only the blocks themselves are proof (find-in-blocks.ts). The word of the node only says when to read them.
 */

import type { NodeClient } from '#client/node/client.ts'
import { NodeRefusal } from '#client/node/errors.ts'
import type { CallOptions } from '#client/node/requests.ts'
import { isOutage } from '#client/node/wait-for.ts'
import type { CommandStep } from '#client/wallet/command-sender.ts'
import { aroundMs, backoffMs, jitteredMs } from '#ground/base/backoff.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import type { CommandResult } from '#ground/schema/command-bodies.ts'
import { payoutErrors } from './errors.ts'
import { type BlocksNode, findInBlocks, type ResultInBlock } from './find-in-blocks.ts'
import type { Payout } from './ledger.ts'
import type { ResultLine } from './payout-line.ts'

/** The calls that settling needs. */
export type SettleNode = BlocksNode & Pick<NodeClient, 'cut' | 'hashBranch' | 'header' | 'poll' | 'send'>

export interface SettleOptions {
  readonly node: SettleNode
  /** Required depth of a transaction's block; 1 is the head. */
  readonly confirmations: number
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onStep: (step: CommandStep) => void
  /** Called once with each result. It must store the result before it returns. */
  readonly onResult: (result: ResultLine) => void
  readonly onProgress?: OnProgress | undefined
  /** Request keys of transactions that are in a block by the words of the node. Settling adds to it. */
  readonly claimed?: Set<string>
}

const POLL_MS = 1_000
const RESEND_MS = 20_000
/** Minimum interval between two searches of the blocks of a chain. */
const SEARCH_MS = 15_000
/** Maximum backoff while no node answers. */
const MAX_PAUSE_MS = 15_000
/** Maximum wait for proof after a payout expired, plus a time for each block of the depth. */
const GRACE_MS = 600_000
const BLOCK_GRACE_MS = 60_000
/** A node's refusal of a transaction that is in a block already (PROTOCOL.md E.1). */
const IN_A_BLOCK = /already exists on chain/i
const MICROSECONDS = 1_000_000n

/** The state of a payout at one lookup. */
type PayoutStatus =
  | { readonly kind: 'final'; readonly result: ResultLine }
  | { readonly kind: 'included'; readonly height: number; readonly depth: number }
  | { readonly kind: 'pending' }
  /** The blocks contradict the node, or cannot be read. */
  | { readonly kind: 'unproven'; readonly error: NewcutError }

/**
 * Follows payouts that were just sent, until all are settled.
 * @throws NewcutError NO_RESULT if the chain proves nothing long after they expired, errors of NodeClient, and the
 * reason of the signal
 */
export async function settlePayouts(payouts: readonly Payout[], options: SettleOptions): Promise<void> {
  const { clock, signal, onStep, onProgress, confirmations } = options
  const graceMs = GRACE_MS + confirmations * BLOCK_GRACE_MS
  const follower = new PayoutFollower(options, payouts)
  let open = payouts
  for (let failures = 0; open.length > 0; ) {
    let pauseMs = jitteredMs(POLL_MS, Math.random)
    try {
      open = await follower.look(open)
      failures = 0
      onProgress?.({
        what: 'confirming payouts',
        done: follower.confirmedBlocks,
        total: payouts.length * confirmations,
      })
    } catch (error) {
      signal.throwIfAborted()
      if (!isOutage(error)) throw error
      pauseMs = backoffMs(aroundMs(POLL_MS, MAX_PAUSE_MS), failures++, Math.random)
      onStep({ type: 'trouble', chain: open[0].chain, error, retryInMs: Math.round(pauseMs) })
    }
    if (open.length === 0) return
    if (open.every(({ expires }) => clock.wallMs() > expires * 1000 + graceMs)) throw noProofError(open)
    await sleep(clock, pauseMs, signal)
    signal.throwIfAborted()
  }
}

/**
 * Looks up payouts once, and resends pending ones.
 * @returns the payouts that are not settled
 * @throws like settle
 */
export async function lookOnce(payouts: readonly Payout[], options: SettleOptions): Promise<readonly Payout[]> {
  return await new PayoutFollower(options, []).look(payouts)
}

class PayoutFollower {
  readonly #options: SettleOptions
  /** Request key -> monotonic time of the last submission. */
  readonly #sentMs = new Map<string, number>()
  /** Request key -> last reported state. */
  readonly #reported = new Map<string, string>()
  /** Chain -> monotonic time of the last search of its blocks. */
  readonly #searchedMs = new Map<number, number>()
  /** Request key -> state by the last search. */
  readonly #searched = new Map<string, PayoutStatus>()
  readonly #claimed: Set<string>
  /** Request key -> its depth, at most the required one. */
  readonly #depths = new Map<string, number>()

  /** @param sent payouts that were just sent */
  constructor(options: SettleOptions, sent: readonly Payout[]) {
    this.#options = options
    this.#claimed = options.claimed ?? new Set()
    for (const { requestKey } of sent) this.#sentMs.set(requestKey, options.clock.monotonicMs())
  }

  /** Blocks on the payouts so far, those with them included. */
  get confirmedBlocks(): number {
    return [...this.#depths.values()].reduce((sum, depth) => sum + depth, 0)
  }

  async look(payouts: readonly Payout[]): Promise<readonly Payout[]> {
    const open: Payout[] = []
    for (const chain of new Set(payouts.map((payout) => payout.chain))) {
      const own = payouts.filter((payout) => payout.chain === chain)
      const statuses = await this.#statusesOf(chain, own)
      for (const payout of own) {
        const status = statuses.get(payout.requestKey) ?? { kind: 'pending' }
        this.#depths.set(payout.requestKey, depthOf(status, this.#options.confirmations))
        if (status.kind === 'final') this.#options.onResult(status.result)
        else open.push(payout)
        this.#report(payout, status)
        if (status.kind === 'pending') await this.#sendAgain(payout)
      }
    }
    return open
  }

  /** @returns states by request key; missing payouts are pending */
  async #statusesOf(chain: number, payouts: readonly Payout[]): Promise<Map<string, PayoutStatus>> {
    const { statuses, deep, settled } = await pollStatuses(this.#options, chain, payouts)
    if (deep === null) return statuses
    const isDue = (payout: Payout) => settled.has(payout.requestKey) || isExpiredAt(payout, deep)
    const searched = payouts.filter((payout) => isDue(payout) || this.#claimed.has(payout.requestKey))
    const isNews = searched.some(({ requestKey }) => settled.has(requestKey) && !this.#searched.has(requestKey))
    if (searched.length > 0 && (isNews || this.#maySearch(chain))) {
      this.#searchedMs.set(chain, this.#options.clock.monotonicMs())
      await this.#search({ chain, deep }, searched, statuses)
    }
    for (const payout of searched) {
      const status = this.#searched.get(payout.requestKey)
      if (status?.kind === 'final' || (status !== undefined && isDue(payout))) statuses.set(payout.requestKey, status)
    }
    return statuses
  }

  #maySearch(chain: number): boolean {
    const { clock } = this.#options
    const beforeMs = this.#searchedMs.get(chain) ?? Number.NEGATIVE_INFINITY
    return clock.monotonicMs() - beforeMs >= SEARCH_MS
  }

  async #search(
    { chain, deep }: { readonly chain: number; readonly deep: ConfirmedBlock },
    payouts: readonly Payout[],
    polled: ReadonlyMap<string, PayoutStatus>,
  ): Promise<void> {
    const { node, signal } = this.#options
    for (const { requestKey } of payouts) this.#searched.delete(requestKey)
    let found: ReadonlyMap<string, ResultInBlock> | NewcutError
    try {
      found = await findInBlocks(node, { chain, hash: deep.hash }, payouts, { signal })
      // A reorg between the answers may have brought blocks that these answers do not cover.
      if (!(await isOnBranch(node, { chain, deep }, { signal }))) {
        this.#searchedMs.delete(chain)
        return
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof NewcutError)) throw error
      found = error
    }
    for (const payout of payouts) {
      const isClaimed = this.#claimed.has(payout.requestKey) || polled.has(payout.requestKey)
      this.#searched.set(payout.requestKey, this.#statusIn(found, payout, isClaimed))
    }
  }

  /** @param isClaimed whether the node says that a block has it */
  #statusIn(found: ReadonlyMap<string, ResultInBlock> | NewcutError, payout: Payout, isClaimed: boolean): PayoutStatus {
    const { requestKey, chain } = payout
    if (found instanceof NewcutError) {
      const row = { ...payoutErrors.unreadableBlocks, code: found.code }
      const values = { chain, requestKey, why: describeError(found) }
      return { kind: 'unproven', error: operatingError(row, values, found) }
    }
    const result = found.get(requestKey)
    if (result !== undefined) return { kind: 'final', result: lineOfBlock(this.#options, requestKey, result) }
    if (!isClaimed) return expiredStatus(this.#options, requestKey)
    return { kind: 'unproven', error: operatingError(payoutErrors.falseResult, { chain, requestKey }) }
  }

  #report({ requestKey, chain }: Payout, status: PayoutStatus): void {
    const { onStep, confirmations } = this.#options
    const before = this.#reported.get(requestKey)
    const now = status.kind === 'included' ? `included ${status.depth}` : status.kind
    if (now === before || status.kind === 'final') return
    this.#reported.set(requestKey, now)
    if (status.kind === 'unproven') {
      onStep({ type: 'trouble', chain, error: status.error, retryInMs: SEARCH_MS })
    } else if (status.kind === 'pending') {
      const wasIncluded = before?.startsWith('included') === true
      // Its block was replaced, so the node's mempool may have lost it.
      if (wasIncluded) this.#sentMs.delete(requestKey)
      onStep({ type: 'pending', chain, wasIncluded })
    } else onStep({ type: 'included', chain, height: status.height, depth: status.depth, of: confirmations })
  }

  /** Resends the same bytes, which a node recognizes as the same transaction. */
  async #sendAgain({ chain, requestKey, command, expires }: Payout): Promise<void> {
    const { node, clock, signal, onStep } = this.#options
    const sentMs = this.#sentMs.get(requestKey) ?? Number.NEGATIVE_INFINITY
    if (clock.wallMs() >= expires * 1000 || clock.monotonicMs() - sentMs < RESEND_MS) return
    this.#sentMs.set(requestKey, clock.monotonicMs())
    try {
      await node.send(chain, [command], { signal })
      onStep({ type: 'sent', chain, requestKey, again: true })
    } catch (error) {
      // Any other refusal is harmless: without a block the payout expires.
      if (!(error instanceof NodeRefusal) || !error.isNodesOwn) throw error
      if (IN_A_BLOCK.test(error.excerpt)) this.#claimed.add(requestKey)
      else onStep({ type: 'trouble', chain, error, retryInMs: 0 })
    }
  }
}

function depthOf(status: PayoutStatus, required: number): number {
  if (status.kind === 'final') return required
  return status.kind === 'included' ? Math.min(status.depth, required) : 0
}

/** States of payouts as the node reports them. */
interface NodeStatuses {
  /** States by request key, of those with a result. */
  readonly statuses: Map<string, PayoutStatus>
  /** Null if the chain is lower than the depth. */
  readonly deep: ConfirmedBlock | null
  /** Request keys whose result is final by its word. */
  readonly settled: ReadonlySet<string>
}

async function pollStatuses(options: SettleOptions, chain: number, payouts: readonly Payout[]): Promise<NodeStatuses> {
  const { node, confirmations, signal } = options
  const call = { signal }
  const keys = payouts.map(({ requestKey }) => requestKey)
  // Read the deep block before the results: they contain everything included by then.
  const deep = await deepBlock(node, { chain, confirmations }, call)
  const results = await node.poll(chain, keys, call)
  const statuses = new Map<string, PayoutStatus>()
  const settled = new Set<string>()
  for (const requestKey of keys) {
    const height = heightOf(results.get(requestKey))
    if (height === null) continue
    const depth = deep === null ? 1 : Math.max(1, deep.head - height + 1)
    statuses.set(requestKey, { kind: 'included', height, depth })
    if (deep !== null && height <= deep.height) settled.add(requestKey)
  }
  return { statuses, deep, settled }
}

/** Whether no block above this one can have the payout. */
const isExpiredAt = ({ expires }: Payout, { creationTime }: ConfirmedBlock) =>
  creationTime >= BigInt(expires) * MICROSECONDS

interface ConfirmedBlock {
  readonly head: number
  readonly height: number
  readonly hash: string
  /** Unix time in microseconds. */
  readonly creationTime: bigint
}

/**
 * The block at depth `confirmations`.
 * @returns null if the chain is lower
 */
async function deepBlock(
  node: SettleNode,
  { chain, confirmations }: { readonly chain: number; readonly confirmations: number },
  call: CallOptions,
): Promise<ConfirmedBlock | null> {
  const head = (await node.cut(call)).hashes[chain]
  const height = (head?.height ?? 0) - confirmations + 1
  if (head === undefined || height < 0) return null
  const hash = await hashAt(node, { chain, head: head.hash, height }, call)
  if (hash === undefined) return null
  const { creationTime } = await node.header(chain, hash, call)
  return { head: head.height, height, hash, creationTime: BigInt(creationTime) }
}

/** Whether a block is still on the branch of its chain's head. */
async function isOnBranch(
  node: SettleNode,
  { chain, deep: { height, hash } }: { readonly chain: number; readonly deep: ConfirmedBlock },
  call: CallOptions,
): Promise<boolean> {
  const head = (await node.cut(call)).hashes[chain]
  return head !== undefined && (await hashAt(node, { chain, head: head.hash, height }, call)) === hash
}

async function hashAt(
  node: SettleNode,
  { chain, head, height }: { readonly chain: number; readonly head: string; readonly height: number },
  call: CallOptions,
): Promise<string | undefined> {
  const range = { minheight: height, maxheight: height, limit: 1, ...call }
  return (await node.hashBranch(chain, { upper: [head] }, range).page()).items[0]
}

function heightOf(result: CommandResult | undefined): number | null {
  return result?.metaData == null ? null : Number(result.metaData.blockHeight)
}

function lineOfBlock(
  { clock }: SettleOptions,
  requestKey: string,
  { height, isSuccess, message }: ResultInBlock,
): ResultLine {
  const at = new Date(clock.wallMs()).toISOString()
  const outcome = isSuccess ? 'paid' : 'failed'
  return { at, type: 'result', requestKey, outcome, height, message: message.slice(0, 1000) }
}

function expiredStatus({ clock }: SettleOptions, requestKey: string): PayoutStatus {
  const at = new Date(clock.wallMs()).toISOString()
  const message = 'no block has it, and none can have it any more'
  return { kind: 'final', result: { at, type: 'result', requestKey, outcome: 'expired', height: null, message } }
}

function noProofError(payouts: readonly Payout[]): NewcutError {
  const keys = payouts.map(({ requestKey }) => requestKey).join(', ')
  return operatingError(payoutErrors.noProof, { keys })
}
