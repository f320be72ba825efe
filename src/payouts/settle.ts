/**
 * What became of orders. An order is settled when its command lies so deep in its chain that it stays there, or when a
 * block so deep is too late for it: then no block above can have it, and none below has it. Until then the very same
 * command is sent again while blocks may take it.
 */
import { type Clock, sleep } from '../core/clock.ts'
import { NewcutError } from '../core/errors.ts'
import type { NodeClient } from '../node/client.ts'
import { NodeRefusal } from '../node/errors.ts'
import type { CallOptions } from '../node/requests.ts'
import { isOutage } from '../node/wait-for.ts'
import type { CommandResult } from '../schema/command-bodies.ts'
import type { Step } from '../wallet/teller.ts'
import type { PayoutOrder } from './ledger.ts'
import type { ResultLine } from './payout-line.ts'

/** What is asked about orders. */
export type OrderNode = Pick<NodeClient, 'cut' | 'hashBranch' | 'header' | 'poll' | 'send'>

export interface SettleOptions {
  readonly node: OrderNode
  /** How deep the block of a command has to lie; 1: the head. */
  readonly confirmations: number
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onStep: (step: Step) => void
  /** Hears of each result once; it has to be kept before this returns. */
  readonly onResult: (result: ResultLine) => void
}

const POLL_MS = 1_000
const RESEND_MS = 20_000
const MAX_PAUSE_MS = 15_000
/** How long after an order has expired the chain may take to prove it, and for each block of the depth. */
const GRACE_MS = 600_000
const BLOCK_GRACE_MS = 60_000
/** What nodes say of a command that a block has by now (PROTOCOL.md E.1). */
const IN_A_BLOCK = /already exists on chain/i
const MICROSECONDS = 1_000_000n

/** One look at an order. */
type Sight =
  | { readonly kind: 'final'; readonly result: ResultLine }
  | { readonly kind: 'included'; readonly height: number; readonly depth: number }
  | { readonly kind: 'pending' }

/**
 * Follows orders, which have just been sent, until all are settled. Throws NewcutError NO_RESULT if the chain has no proof long after they have
 * expired, what NodeClient throws, and the reason of the signal.
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

/** Looks once at orders, and sends again those that wait. Gives those that are not settled. Throws as settle. */
export async function lookOnce(
  orders: readonly PayoutOrder[],
  options: SettleOptions,
): Promise<readonly PayoutOrder[]> {
  return await new Follower(options, []).look(orders)
}

class Follower {
  readonly #options: SettleOptions
  /** Request key -> when it was sent last. */
  readonly #sentMs = new Map<string, number>()
  /** Request key -> what was told of it last. */
  readonly #told = new Map<string, string>()

  /** `sent`: orders that were sent just now. */
  constructor(options: SettleOptions, sent: readonly PayoutOrder[]) {
    this.#options = options
    for (const { requestKey } of sent) this.#sentMs.set(requestKey, options.clock.monotonicMs())
  }

  async look(orders: readonly PayoutOrder[]): Promise<readonly PayoutOrder[]> {
    const open: PayoutOrder[] = []
    for (const chain of new Set(orders.map((order) => order.chain))) {
      const of = orders.filter((order) => order.chain === chain)
      const sights = await sightsOf(this.#options, chain, of)
      for (const order of of) {
        const sight = sights.get(order.requestKey) ?? { kind: 'pending' }
        if (sight.kind === 'final') this.#options.onResult(sight.result)
        else open.push(order)
        this.#tell(order, sight)
        if (sight.kind === 'pending') await this.#sendAgain(order)
      }
    }
    return open
  }

  #tell({ requestKey, chain }: PayoutOrder, sight: Sight): void {
    const { onStep, confirmations } = this.#options
    const before = this.#told.get(requestKey)
    const now = sight.kind === 'included' ? `included ${sight.depth}` : sight.kind
    if (now === before || sight.kind === 'final') return
    this.#told.set(requestKey, now)
    if (sight.kind === 'pending') {
      const wasIncluded = before?.startsWith('included') === true
      // Its block was replaced: the pool of the node may have lost it.
      if (wasIncluded) this.#sentMs.delete(requestKey)
      onStep({ type: 'pending', chain, wasIncluded })
    } else onStep({ type: 'included', chain, height: sight.height, depth: sight.depth, of: confirmations })
  }

  /** The same bytes: a node that has them takes them for one command. */
  async #sendAgain({ chain, requestKey, command, expires }: PayoutOrder): Promise<void> {
    const { node, clock, signal, onStep } = this.#options
    const sentMs = this.#sentMs.get(requestKey) ?? Number.NEGATIVE_INFINITY
    if (clock.wallMs() >= expires * 1000 || clock.monotonicMs() - sentMs < RESEND_MS) return
    this.#sentMs.set(requestKey, clock.monotonicMs())
    try {
      await node.send(chain, [command], { signal })
      onStep({ type: 'sent', chain, requestKey, again: true })
    } catch (error) {
      // A refusal for another reason changes nothing: without a block the order expires.
      if (!(error instanceof NodeRefusal) || !error.isNodesOwn) throw error
      if (!IN_A_BLOCK.test(error.excerpt)) onStep({ type: 'trouble', chain, error, retryInMs: 0 })
    }
  }
}

/** By request key; those that are missing are pending. */
async function sightsOf(
  options: SettleOptions,
  chain: number,
  orders: readonly PayoutOrder[],
): Promise<Map<string, Sight>> {
  const { node, confirmations, signal } = options
  const call = { signal }
  const keys = orders.map(({ requestKey }) => requestKey)
  // What is deep is read before results are asked for: whatever was included by then is in the answer.
  const deep = await deepBlock(node, { chain, confirmations }, call)
  const results = await node.poll(chain, keys, call)
  const settled = await node.poll(chain, keys, { ...call, confirmationDepth: confirmations - 1 })
  const sights = new Map<string, Sight>()
  for (const order of orders) {
    const { requestKey, expires } = order
    const final = settled.get(requestKey)
    const height = heightOf(final)
    const shallow = heightOf(results.get(requestKey))
    if (final !== undefined && height !== null) {
      sights.set(requestKey, { kind: 'final', result: resultLine(options, requestKey, final, height) })
    } else if (shallow !== null) {
      const depth = deep === null ? 1 : Math.max(1, deep.head - shallow + 1)
      sights.set(requestKey, { kind: 'included', height: shallow, depth })
    } else if (deep !== null && deep.creationTime >= BigInt(expires) * MICROSECONDS) {
      // Between the answers another branch may have come, whose blocks were not looked at.
      if (await isStill(node, { chain, deep }, call)) sights.set(requestKey, expiredSight(options, requestKey))
    }
  }
  return sights
}

interface DeepBlock {
  readonly head: number
  readonly height: number
  readonly hash: string
  /** Microseconds since 1970. */
  readonly creationTime: bigint
}

/** The block that lies so deep below the head; null: the chain is too low. */
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

/** Whether a block is still on the branch of the head of its chain. */
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

function expiredSight({ clock }: SettleOptions, requestKey: string): Sight {
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
