/**
 * Which chain to mine: the one with the highest expected reward for a hash. Pure.
 *
 *     expected reward of a hash on chain c = reward(c) x target(c) / 2^256 x P(c)
 *
 * - The reward depends on the height alone, and heights are a few blocks apart: it is left out.
 * - The target is that of the next block: the one of the head, but for the first block of an epoch, where it is computed
 *   (PROTOCOL.md C). Braids keep chains together, so targets differ by some tenths of a per cent, and by more while
 *   chains go over to a new epoch one after the other.
 * - A chain that has to wait for a neighbour (PROTOCOL.md D) has no next block, and no chance.
 * - P is the probability that no other block of the chain comes between the last that we can know of it and the arrival
 *   of ours at the node: a round trip in all. Nothing but a block of its own makes work of a chain useless (see
 *   PROTOCOL.md A.6), so this is also the risk that the chain is blocked. Blocks come without memory. The whole network
 *   makes (chains / block delay); miners stay on their chain until it moves on, then spread over those that can be
 *   mined. So the hash power on a chain, and the rate of its blocks, grows with the time since it can be mined: a fresh
 *   parent is the safest.
 */
import { encodeBase64Url } from '../../core/bytes.ts'
import { type Cut, extensionOf } from '../../core/cut.ts'
import { expectedFor } from '../../core/difficulty.ts'
import type { Header } from '../../core/header.ts'
import type { Network } from '../../core/network.ts'

/** The heads of a node's chains. */
export interface ChainView {
  readonly network: Network
  readonly cut: Cut
  /** Headers by block hash as in JSON: those of the cut, and some before them. */
  readonly headers: ReadonlyMap<string, Header>
}

/** A chain that can be mined. */
export interface Prospect {
  readonly chain: number
  /** Target of its next block, as the share of all hashes that meet it. */
  readonly share: number
  /** Block hash of its head as in JSON. */
  readonly parent: string
  /** When it was first seen that it can be mined on top of that, on the clock that never jumps. */
  readonly sinceMs: number
}

/** Chain -> expected reward of a hash in units of a block, the best chain first. Others cannot be mined. */
export type Chances = ReadonlyMap<number, number>

/** How fast blocks come, and how far away the node is. */
export interface Pace {
  /** Chains of the network. */
  readonly chains: number
  /** Intended time between blocks of a chain. */
  readonly blockDelayMs: number
  /** To the node and back. */
  readonly roundTripMs: number
  readonly nowMs: number
}

/** Going over to another chain costs some hashing: it has to be better by this factor. */
const WORTHWHILE = 1.001
const ALL_HASHES = 2 ** 256

/** Those of `chains` that can be mined on these heads; `before` are those of the last look. */
export function prospectsOf(
  { network, cut, headers }: ChainView,
  chains: readonly number[],
  before: readonly Prospect[],
  nowMs: number,
): Prospect[] {
  return chains.flatMap((chain) => {
    const target = nextTarget(network, cut, headers, chain)
    const head = cut.get(chain)
    if (target === null || head === undefined) return []
    const parent = encodeBase64Url(head.hash)
    const known = before.find((prospect) => prospect.chain === chain && prospect.parent === parent)
    return [{ chain, parent, share: Number(target) / ALL_HASHES, sinceMs: known?.sinceMs ?? nowMs }]
  })
}

/** Target of the next block of a chain; null: it cannot have one now, or the heads do not fit together. */
function nextTarget(network: Network, cut: Cut, headers: ChainView['headers'], chain: number): bigint | null {
  try {
    const extension = extensionOf(network, cut, chain)
    if (typeof extension === 'number') return null
    const { parent, adjacents } = extension
    const parents = [...adjacents.values()].flatMap((hash) => headers.get(encodeBase64Url(hash)) ?? [])
    // Without all parents the target of a new epoch cannot be told, and the last one is near it.
    if (parents.length < adjacents.size) return parent.target
    return expectedFor(network, parent, parents, parent.creationTime).target
  } catch (error) {
    // The cut comes from the node: one that is none says nothing about the chain.
    if (error instanceof RangeError) return null
    throw error
  }
}

/** What a hash is worth on each chain that can be mined. */
export function chancesOf(prospects: readonly Prospect[], { chains, blockDelayMs, roundTripMs, nowMs }: Pace): Chances {
  const blockEveryMs = blockDelayMs / chains
  // Those who were to move when it could be mined are there at once: as many as come with a block.
  const weights = prospects.map(({ share, sinceMs }) => share * (nowMs - sinceMs + blockEveryMs))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const valued = prospects.map(({ chain, share }, i) => {
    return { chain, chance: share * Math.exp((-roundTripMs / blockEveryMs) * (weights[i] / sum)) }
  })
  valued.sort((a, b) => b.chance - a.chance)
  return new Map(valued.map(({ chain, chance }) => [chain, chance]))
}

/** The best of `chains`; any of those of which nothing is known when there is none. null: `chains` is empty. */
export function choose(chains: readonly number[], chances: Chances, random: () => number): number | null {
  for (const chain of chances.keys()) if (chains.includes(chain)) return chain
  return chains[Math.floor(random() * chains.length)] ?? null
}

/** Whether it is worthwhile to go over to `chain` from `other`. */
export function isBetter(chances: Chances, chain: number, other: number): boolean {
  return (chances.get(chain) ?? 0) > WORTHWHILE * (chances.get(other) ?? 0)
}
