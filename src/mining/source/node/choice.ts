/**
 * Chooses the chain with the highest expected reward per hash. Pure.
 *
 *     expected reward of a hash on chain c = reward(c) x target(c) / 2^256 x P(c)
 *
 * - The reward depends only on the height. Heights are a few blocks apart, so it is left out.
 * - The target is that of the next block: the target of the head, except in the first block of an epoch, where it is
 *   computed (PROTOCOL.md C). Braids keep chains together, so targets differ by some tenths of a per cent. They differ
 *   by more while chains enter a new epoch one after the other.
 * - A chain that has to wait for a neighbour (PROTOCOL.md D) has no next block and no chance.
 * - P is the probability that no other block of the chain appears between our newest knowledge of it and the arrival
 *   of our block: one round trip. Only a block of its own chain makes work useless (PROTOCOL.md A.6), so this is also
 *   the risk that the chain is blocked. Block arrivals are memoryless. The whole network makes (chains / block delay)
 *   blocks. Miners stay on their chain until it advances, then spread over the chains that can be mined. So the
 *   hashrate on a chain, and its block rate, grow with the time since it became minable: a fresh parent is the safest.
 */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { type Cut, extensionOf } from '#ground/chain/cut.ts'
import { expectedFieldsOf } from '#ground/chain/difficulty.ts'
import type { Header } from '#ground/chain/header.ts'
import type { Network } from '#ground/chain/network.ts'

/** The heads of a node's chains. */
export interface ChainView {
  readonly network: Network
  readonly cut: Cut
  /** Headers by base64url block hash: those of the cut, and some before them. */
  readonly headers: ReadonlyMap<string, Header>
}

/** A chain that can be mined. */
export interface MinableChain {
  readonly chain: number
  /** Target of its next block, as the portion of all hashes that meet it. */
  readonly probability: number
  /** Base64url block hash of its head. */
  readonly parent: string
  /** Monotonic time when it was first seen to be minable on this head. */
  readonly sinceMs: number
}

/** Chain -> expected reward per hash in units of a block, the best chain first. Other chains cannot be mined. */
export type ExpectedRewards = ReadonlyMap<number, number>

/** Block rate of the network, and distance of the node. */
interface NetworkTiming {
  /** Number of chains in the network. */
  readonly chains: number
  /** Intended time between blocks of a chain. */
  readonly blockDelayMs: number
  /** Round-trip time to the node. */
  readonly roundTripMs: number
  readonly nowMs: number
}

/** Switching chains costs some hashing, so the other chain must be better by this factor. */
const WORTHWHILE = 1.001
const ALL_HASHES = 2 ** 256

/**
 * The minable ones of `chains` on these heads.
 * @param before prospects of the previous look
 */
export function minableChainsOf(
  { network, cut, headers }: ChainView,
  chains: readonly number[],
  before: readonly MinableChain[],
  nowMs: number,
): MinableChain[] {
  return chains.flatMap((chain) => {
    const target = nextTarget(network, cut, headers, chain)
    const head = cut.get(chain)
    if (target === null || head === undefined) return []
    const parent = encodeBase64Url(head.hash)
    const known = before.find((prospect) => prospect.chain === chain && prospect.parent === parent)
    return [{ chain, parent, probability: Number(target) / ALL_HASHES, sinceMs: known?.sinceMs ?? nowMs }]
  })
}

/**
 * Target of the next block of a chain.
 * @returns null if the chain cannot have a block now, or the heads are inconsistent
 */
function nextTarget(network: Network, cut: Cut, headers: ChainView['headers'], chain: number): bigint | null {
  try {
    const extension = extensionOf(network, cut, chain)
    if (typeof extension === 'number') return null
    const { parent, adjacents } = extension
    const parents = [...adjacents.values()].flatMap((hash) => headers.get(encodeBase64Url(hash)) ?? [])
    // Without all parents, the target of a new epoch is unknown; that of the last epoch is close.
    if (parents.length < adjacents.size) return parent.target
    return expectedFieldsOf(network, parent, parents, parent.creationTime).target
  } catch (error) {
    // The cut comes from the node, and an invalid one says nothing about the chain.
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Expected reward per hash on each chain that can be mined. */
export function expectedRewardsOf(
  prospects: readonly MinableChain[],
  { chains, blockDelayMs, roundTripMs, nowMs }: NetworkTiming,
): ExpectedRewards {
  const blockEveryMs = blockDelayMs / chains
  // Miners that wait for a chain are there at once: as many as arrive within the time of one block.
  const weights = prospects.map(({ probability, sinceMs }) => probability * (nowMs - sinceMs + blockEveryMs))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const valued = prospects.map(({ chain, probability }, i) => {
    return { chain, chance: probability * Math.exp((-roundTripMs / blockEveryMs) * (weights[i] / sum)) }
  })
  valued.sort((a, b) => b.chance - a.chance)
  return new Map(valued.map(({ chain, chance }) => [chain, chance]))
}

/**
 * Chooses the best of `chains`, or a random one if the chances of all are unknown.
 * @returns null if `chains` is empty
 */
export function chooseChain(chains: readonly number[], chances: ExpectedRewards, random: () => number): number | null {
  for (const chain of chances.keys()) if (chains.includes(chain)) return chain
  return chains[Math.floor(random() * chains.length)] ?? null
}

/** Whether switching from `other` to `chain` is worthwhile. */
export function isBetter(chances: ExpectedRewards, chain: number, other: number): boolean {
  return (chances.get(chain) ?? 0) > WORTHWHILE * (chances.get(other) ?? 0)
}
