/** The blocks of a pool: those among its shares, where they are in their chains, and what they paid to whom. */
import type { ShareEntry, ShareReader } from '../accounts/share-store.ts'
import { decodeBase64Url } from '../core/bytes.ts'
import { paymentIn } from '../core/coinbase.ts'
import type { NodeClient } from '../node/client.ts'
import { unitsOf } from './coins.ts'

/** Where a block is. Depths count from 1, the head; without its block, of the one in its place. */
export type BlockPlace =
  | { readonly kind: 'on-chain' | 'orphaned' | 'passed'; readonly depth: number }
  | { readonly kind: 'awaited' }

/** What payouts ask of a node about blocks. */
export interface BlockNode {
  readonly client: Pick<NodeClient, 'header' | 'payloadOutputs'>
  readonly placeOf: (
    block: { readonly chain: number; readonly height: number; readonly hash: Uint8Array },
    signal: AbortSignal,
  ) => Promise<BlockPlace>
}

/** A block by its name. */
export interface BlockRef {
  readonly block: string
  readonly chain: number
  readonly height: number
}

/** How a block stands for good, or that it does not yet. `depth`: as in BlockPlace; 0: its chain is lower still. */
export interface BlockStanding {
  readonly fate: 'deep' | 'waiting' | 'orphaned'
  readonly depth: number
}

/** What a block paid. */
export interface Reward {
  /** Who was paid; null: the coinbase does not say it. */
  readonly account: string | null
  /** 10^-12 coins. */
  readonly amount: bigint
}

/** Most blocks that a node is asked about at once. */
const MAX_QUESTIONS = 8

/** A share that is a block. */
export type BlockShare = ShareEntry & { readonly block: string }

/** The shares that are blocks, each block once, in the order of shares. */
export async function blockShares(reader: Pick<ShareReader, 'shares'>): Promise<BlockShare[]> {
  const found = new Map<string, BlockShare>()
  for await (const share of reader.shares()) {
    const { block } = share
    if (block !== null && !found.has(block)) found.set(block, { ...share, block })
  }
  return [...found.values()]
}

/** By block hash. */
export async function standingsOf(
  { placeOf }: BlockNode,
  blocks: readonly BlockRef[],
  confirmations: number,
  signal: AbortSignal,
): Promise<Map<string, BlockStanding>> {
  const standings = new Map<string, BlockStanding>()
  const waiting = [...blocks]
  const ask = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { block, chain, height } = next
      const place = await placeOf({ chain, height, hash: decodeBase64Url(block) }, signal)
      standings.set(block, standingAt(place, confirmations))
    }
  }
  await Promise.all(Array.from({ length: MAX_QUESTIONS }, ask))
  return standings
}

/** The fate of a block in this place: it is settled once so many blocks lie there, whichever they are. */
export function standingAt(place: BlockPlace, confirmations: number): BlockStanding {
  if (place.kind === 'awaited') return { fate: 'waiting', depth: 0 }
  const { kind, depth } = place
  if (depth < confirmations) return { fate: 'waiting', depth }
  return { fate: kind === 'on-chain' ? 'deep' : 'orphaned', depth }
}

/** What the coinbase of a block says. null: it says nothing that can be paid out. Throws what NodeClient throws. */
export async function rewardOf(
  { client }: BlockNode,
  { block, chain, height }: BlockRef,
  signal: AbortSignal,
): Promise<Reward | null> {
  const { payloadHash } = await client.header(chain, block, { signal })
  const { coinbase } = await client.payloadOutputs(chain, payloadHash, { height, verify: true, signal })
  const payment = paymentIn(new TextDecoder().decode(decodeBase64Url(coinbase)))
  const amount = payment === null ? null : unitsOf(payment.amount)
  return payment === null || amount === null ? null : { account: payment.account, amount }
}
