/**
 * Settles orders. An order is settled when its transaction is deep enough in its chain, or when a block of that depth
 * is too late for it. Then no later block can include it, and no earlier one does. Until then newcut resends the same
 * transaction while blocks may include it.
 */
import { type Clock, sleep } from '../base/clock.ts'
import { NewcutError } from '../base/errors.ts'
import type { NodeClient } from '../node/client.ts'
import { NodeRefusal } from '../node/errors.ts'
import type { CallOptions } from '../node/requests.ts'
import { isOutage } from '../node/wait-for.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import type { CommandStep } from '../wallet/command-sender.ts'
import type { PayoutOrder } from './ledger.ts'
import type { ResultLine } from './payout-line.ts'

/** The calls that settling needs. */
export type OrderNode = Pick<NodeClient, 'cut' | 'hashBranch' | 'header' | 'poll' | 'send'>

export interface SettleOptions {
  readonly node: OrderNode
  /** Required depth of a transaction's block; 1 is the head. */
  readonly confirmations: number
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onStep: (step: CommandStep) => void
  /** Called once with each result. It must store the result before it returns. */
  readonly onResult: (result: ResultLine) => void
}

const POLL_MS = 1_000
const RESEND_MS = 20_000
const MAX_PAUSE_MS = 15_000
/** Maximum wait for proof after an order expired, plus a time for each block of the depth. */
const GRACE_MS = 600_000
const BLOCK_GRACE_MS = 60_000
/** A node's refusal of a transaction that is in a block already (PROTOCOL.md E.1). */
const IN_A_BLOCK = /already exists on chain/i
const MICROSECONDS = 1_000_000n

/** The state of an order at one lookup. */
type OrderStatus =
  | { readonly kind: 'final'; readonly result: ResultLine }
  | { readonly kind: 'included'; readonly height: number; readonly depth: number }
  | { readonly kind: 'pending' }

/**
 * Follows orders that were just sent, until all are settled.
 * @throws NewcutError NO_RESULT if the chain proves nothing long after they expired, errors of NodeClient, and the
 * reason of the signal
 */
export async function settle(orders: readonly PayoutOrder[], options: SettleOptions): Promise<void> {
  const { clock, signal, onStep, confirmations } = options
  const graceMs = GRACE_MS + confirmations * BLOCK_GRACE_MS
  const follower = new Follower(options, orders)
  let open = orders
  for (let failures = 0; open.length > 0; ) {
    let pauseMs = POLL_MS * (0.5 + Math.random())
    try {
      open = await follower.look(open)
      failures = 0
    } catch (error) {
      signal.throwIfAborted()
      if (!isOutage(error)) throw error
      pauseMs = Math.min(MAX_PAUSE_MS, POLL_MS * 2 ** failures++) * (0.5 + Math.random())
      onStep({ type: 'trouble', chain: open[0].chain, error, retryInMs: Math.round(pauseMs) })
    }
    if (open.length === 0) return
    if (open.every(({ expires }) => clock.wallMs() > expires * 1000 + graceMs)) throw unproven(open)
    await sleep(clock, pauseMs, signal)
    signal.throwIfAborted()
  }
}

/**
 * Looks up orders once, and resends pending ones.
 * @returns the orders that are not settled
 * @throws as settle()
 */
export async function lookOnce(
  orders: readonly PayoutOrder[],
  options: SettleOptions,
): Promise<readonly PayoutOrder[]> {
  return await new Follower(options, []).look(orders)
}

class Follower {
  readonly #options: SettleOptions
  /** Request key -> monotonic time of the last submission. */
  readonly #sentMs = new Map<string, number>()
  /** Request key -> last reported state. */
  readonly #told = new Map<string, string>()

  /** @param sent orders that were just sent */
  constructor(options: SettleOptions, sent: readonly PayoutOrder[]) {
    this.#options = options
    for (const { requestKey } of sent) this.#sentMs.set(requestKey, options.clock.monotonicMs())
  }

  async look(orders: readonly PayoutOrder[]): Promise<readonly PayoutOrder[]> {
    const open: PayoutOrder[] = []
    for (const chain of new Set(orders.map((order) => order.chain))) {
      const of = orders.filter((order) => order.chain === chain)
      const statuses = await statusesOf(this.#options, chain, of)
      for (const order of of) {
        const status = statuses.get(order.requestKey) ?? { kind: 'pending' }
        if (status.kind === 'final') this.#options.onResult(status.result)
        else open.push(order)
        this.#tell(order, status)
        if (status.kind === 'pending') await this.#sendAgain(order)
      }
    }
    return open
  }

  #tell({ requestKey, chain }: PayoutOrder, status: OrderStatus): void {
    const { onStep, confirmations } = this.#options
    const before = this.#told.get(requestKey)
    const now = status.kind === 'included' ? `included ${status.depth}` : status.kind
    if (now === before || status.kind === 'final') return
    this.#told.set(requestKey, now)
    if (status.kind === 'pending') {
      const wasIncluded = before?.startsWith('included') === true
      // Its block was replaced, so the node's mempool may have lost it.
      if (wasIncluded) this.#sentMs.delete(requestKey)
      onStep({ type: 'pending', chain, wasIncluded })
    } else onStep({ type: 'included', chain, height: status.height, depth: status.depth, of: confirmations })
  }

  /** Resends the same bytes, which a node recognizes as the same transaction. */
  async #sendAgain({ chain, requestKey, command, expires }: PayoutOrder): Promise<void> {
    const { node, clock, signal, onStep } = this.#options
    const sentMs = this.#sentMs.get(requestKey) ?? Number.NEGATIVE_INFINITY
    if (clock.wallMs() >= expires * 1000 || clock.monotonicMs() - sentMs < RESEND_MS) return
    this.#sentMs.set(requestKey, clock.monotonicMs())
    try {
      await node.send(chain, [command], { signal })
      onStep({ type: 'sent', chain, requestKey, again: true })
    } catch (error) {
      // Any other refusal is harmless: without a block the order expires.
      if (!(error instanceof NodeRefusal) || !error.isNodesOwn) throw error
      if (!IN_A_BLOCK.test(error.excerpt)) onStep({ type: 'trouble', chain, error, retryInMs: 0 })
    }
  }
}

/** @returns states by request key; missing orders are pending */
async function statusesOf(
  options: SettleOptions,
  chain: number,
  orders: readonly PayoutOrder[],
): Promise<Map<string, OrderStatus>> {
  const { node, confirmations, signal } = options
  const call = { signal }
  const keys = orders.map(({ requestKey }) => requestKey)
  // Read the deep block before the results: they contain everything included by then.
  const deep = await deepBlock(node, { chain, confirmations }, call)
  const results = await node.poll(chain, keys, call)
  const settled = await node.poll(chain, keys, { ...call, confirmationDepth: confirmations - 1 })
  const statuses = new Map<string, OrderStatus>()
  for (const order of orders) {
    const { requestKey, expires } = order
    const final = settled.get(requestKey)
    const height = heightOf(final)
    const shallow = heightOf(results.get(requestKey))
    if (final !== undefined && height !== null) {
      statuses.set(requestKey, { kind: 'final', result: resultLine(options, requestKey, final, height) })
    } else if (shallow !== null) {
      const depth = deep === null ? 1 : Math.max(1, deep.head - shallow + 1)
      statuses.set(requestKey, { kind: 'included', height: shallow, depth })
    } else if (deep !== null && deep.creationTime >= BigInt(expires) * MICROSECONDS) {
      // A reorg between the answers may have brought blocks that these answers do not cover.
      if (await isStill(node, { chain, deep }, call)) statuses.set(requestKey, expiredStatus(options, requestKey))
    }
  }
  return statuses
}

interface DeepBlock {
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
  node: OrderNode,
  { chain, confirmations }: { readonly chain: number; readonly confirmations: number },
  call: CallOptions,
): Promise<DeepBlock | null> {
  const head = (await node.cut(call)).hashes[chain]
  const height = (head?.height ?? 0) - confirmations + 1
  if (head === undefined || height < 0) return null
  const hash = await hashAt(node, { chain, head: head.hash, height }, call)
  if (hash === undefined) return null
  const { creationTime } = await node.header(chain, hash, call)
  return { head: head.height, height, hash, creationTime: BigInt(creationTime) }
}

/** Whether a block is still on the branch of its chain's head. */
async function isStill(
  node: OrderNode,
  { chain, deep: { height, hash } }: { readonly chain: number; readonly deep: DeepBlock },
  call: CallOptions,
): Promise<boolean> {
  const head = (await node.cut(call)).hashes[chain]
  return head !== undefined && (await hashAt(node, { chain, head: head.hash, height }, call)) === hash
}

async function hashAt(
  node: OrderNode,
  { chain, head, height }: { readonly chain: number; readonly head: string; readonly height: number },
  call: CallOptions,
): Promise<string | undefined> {
  const range = { minheight: height, maxheight: height, limit: 1, ...call }
  return (await node.hashBranch(chain, { upper: [head] }, range).page()).items[0]
}

function heightOf(result: CommandResult | undefined): number | null {
  return result?.metaData == null ? null : Number(result.metaData.blockHeight)
}

function resultLine(
  { clock }: SettleOptions,
  requestKey: string,
  { result }: CommandResult,
  height: number,
): ResultLine {
  const at = new Date(clock.wallMs()).toISOString()
  const message = result.status === 'success' ? '' : result.error.message.slice(0, 1000)
  const outcome = result.status === 'success' ? 'paid' : 'failed'
  return { at, type: 'result', requestKey, outcome, height, message }
}

function expiredStatus({ clock }: SettleOptions, requestKey: string): OrderStatus {
  const at = new Date(clock.wallMs()).toISOString()
  const message = 'no block has it, and none can have it any more'
  return { kind: 'final', result: { at, type: 'result', requestKey, outcome: 'expired', height: null, message } }
}

function unproven(orders: readonly PayoutOrder[]): NewcutError {
  const keys = orders.map(({ requestKey }) => requestKey).join(', ')
  return new NewcutError('NO_RESULT', `no result of ${keys}, and no block deep enough that proves it`, {
    hint: 'nothing is paid again until it is known: run newcut payouts --pay again after more blocks',
  })
}
