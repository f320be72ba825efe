/** Blocks of a pool: finds them among its shares, and looks up their depth and reward. */

import type { NodeClient } from '#client/node/client.ts'
import { fetchReward } from '#client/wallet/reward.ts'
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { unitsOf } from '#ground/base/coins.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { paymentOf } from '#ground/chain/block-payment.ts'
import type { RewardCall } from '#ground/chain/coinbase.ts'
import { graphAt, type Network } from '#ground/chain/network.ts'
import type { ShareEntry, ShareReader } from '#mining/accounts/share-store.ts'

/** Position of a block. Depths count from 1, the head. For `orphaned` and `passed`, the depth is that of its height. */
export type BlockPlace =
  | { readonly kind: 'on-chain' | 'orphaned' | 'passed'; readonly depth: number }
  | { readonly kind: 'awaited' }

/** Access to blocks of a node. */
export interface BlockNode {
  readonly client: Pick<NodeClient, 'header' | 'payloadOutputs' | 'network' | 'cut' | 'info' | 'local'>
  readonly network: Pick<Network, 'payment' | 'graphHistory'>
  readonly placeOf: (
    block: { readonly chain: number; readonly height: number; readonly hash: Uint8Array },
    signal: AbortSignal,
  ) => Promise<BlockPlace>
}

/** Identifies a block. */
interface BlockRef {
  readonly block: string
  readonly chain: number
  readonly height: number
}

/** Whether the fate of a block is settled. `depth` is as in BlockPlace, or 0 while its chain is lower. */
interface BlockConfirmation {
  readonly fate: 'deep' | 'waiting' | 'orphaned'
  readonly depth: number
}

/** Reward of a block. */
export interface Reward {
  /** Paid account, or null if the coinbase does not name it. */
  readonly account: string | null
  /** In 10^-12 coins. */
  readonly amount: bigint
}

/** Shares are read faster than any report of them. */
const REPORT_EVERY = 1000
/** Maximum number of concurrent lookups: a node serves other clients too. */
const MAX_LOOKUPS = 8

/** A share that is a block. */
export type BlockShare = ShareEntry & { readonly block: string }

/** Shares that are blocks, in their order, each block once. */
export async function blockShares(reader: Pick<ShareReader, 'shares'>, onProgress?: OnProgress): Promise<BlockShare[]> {
  const found = new Map<string, BlockShare>()
  let read = 0
  for await (const share of reader.shares()) {
    read++
    if (read % REPORT_EVERY === 0) onProgress?.({ what: 'reading shares', done: read, total: 0 })
    const { block } = share
    if (block !== null && !found.has(block)) found.set(block, { ...share, block })
  }
  return [...found.values()]
}

/**
 * Looks up blocks.
 * @returns their standings by block hash
 */
export async function standingsOf(
  { placeOf }: BlockNode,
  blocks: readonly BlockRef[],
  confirmations: number,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress?: OnProgress | undefined },
): Promise<Map<string, BlockConfirmation>> {
  const standings = new Map<string, BlockConfirmation>()
  const waiting = [...blocks]
  const ask = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { block, chain, height } = next
      const place = await placeOf({ chain, height, hash: decodeBase64Url(block) }, signal)
      standings.set(block, standingAt(place, confirmations))
      onProgress?.({ what: 'looking up blocks', done: standings.size, total: blocks.length })
    }
  }
  await Promise.all(Array.from({ length: MAX_LOOKUPS }, ask))
  return standings
}

/** The fate of a block at this place. It is settled once the chain is deep enough there, with this block or another. */
function standingAt(place: BlockPlace, confirmations: number): BlockConfirmation {
  if (place.kind === 'awaited') return { fate: 'waiting', depth: 0 }
  const { kind, depth } = place
  if (depth < confirmations) return { fate: 'waiting', depth }
  return { fate: kind === 'on-chain' ? 'deep' : 'orphaned', depth }
}

/**
 * The reward in the coinbase of a block.
 * @returns null if the coinbase has no amount that can be paid out
 * @throws errors of NodeClient
 */
export async function rewardOf(
  { client, network }: BlockNode,
  { block, chain, height }: BlockRef,
  signal: AbortSignal,
): Promise<Reward | null> {
  const { payloadHash } = await client.header(chain, block, { signal })
  const outputs = await client.payloadOutputs(chain, payloadHash, { height, verify: true, signal })
  const chains = graphAt(network, height).adjacents.length
  const callReward = (call: RewardCall) => fetchReward(client, call, { chain, height }, { signal })
  const payment = await paymentOf({ ...outputs, height, chains }, network.payment, callReward)
  const amount = payment === null ? null : unitsOf(payment.amount)
  return payment === null || amount === null ? null : { account: payment.account, amount }
}
