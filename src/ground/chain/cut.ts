/** Cuts and braiding (PROTOCOL.md D and A.6): the head of each chain, and the parents of the next blocks. */
import { sha512_256 } from '@noble/hashes/sha2.js'
import { concatBytes, equalBytes } from '../base/bytes.ts'
import type { Header, WorkFields } from './header.ts'
import { graphAt, type Network } from './network.ts'

/** Chain -> its head. */
export type Cut = ReadonlyMap<number, Header>

/** Parents of the next block of a chain. */
export interface Extension {
  readonly parent: Header
  /** Adjacent chain -> hash of its block at the parent's height, ascending by chain. */
  readonly adjacents: ReadonlyMap<number, Uint8Array>
}

/**
 * Computes the parents of the next block of `chain`.
 *
 * The block refers to an adjacent head of the same height, or to the parent of an adjacent head that is one higher. An
 * adjacent head that is one lower blocks the chain.
 * @returns the extension, or the number of the adjacent chain that blocks it
 * @throws RangeError if adjacent heads are further apart
 */
export function extensionOf(network: Network, cut: Cut, chain: number): Extension | number {
  const parent = headOf(cut, chain)
  const waitsFor = chainBehindTransition(network, cut, parent)
  if (waitsFor !== null) return waitsFor
  const adjacents = new Map<number, Uint8Array>()
  for (const adjacent of graphAt(network, Number(parent.height)).adjacents[chain]) {
    const head = headOf(cut, adjacent)
    const ahead = Number(head.height - parent.height)
    if (ahead === -1) return adjacent
    if (ahead !== 0 && ahead !== 1) {
      throw new RangeError(`chains ${chain} and ${adjacent} are adjacent but ${Math.abs(ahead)} heights apart`)
    }
    adjacents.set(adjacent, ahead === 0 ? head.hash : head.parent)
  }
  return { parent, adjacents }
}

/** During a graph transition, chains that have reached the new graph wait for those that have not. */
function chainBehindTransition(network: Network, cut: Cut, parent: Header): number | null {
  for (const { from } of network.graphHistory) {
    if (from === 0 || parent.height < BigInt(from)) continue
    for (const [chain, head] of cut) if (head.height < BigInt(from)) return chain
  }
  return null
}

/**
 * True if a solved header still extends the cut (A.6). Its parent must be the head of its chain, and each adjacent hash
 * the head of that chain or the head's parent.
 */
export function extendsCut(cut: Cut, header: WorkFields): boolean {
  const parent = cut.get(header.chainId)
  if (parent === undefined || !equalBytes(header.parent, parent.hash)) return false
  return [...header.adjacents].every(([chain, hash]) => {
    const head = cut.get(chain)
    return head !== undefined && (equalBytes(hash, head.hash) || equalBytes(hash, head.parent))
  })
}

/** Sum of the heights of all heads. */
export function cutHeight(cut: Cut): bigint {
  let sum = 0n
  for (const head of cut.values()) sum += head.height
  return sum
}

/** Sum of the weights of all heads. */
export function cutWeight(cut: Cut): bigint {
  let sum = 0n
  for (const head of cut.values()) sum += head.weight
  return BigInt.asUintN(256, sum)
}

function headOf(cut: Cut, chain: number): Header {
  const head = cut.get(chain)
  if (head === undefined) throw new RangeError(`the cut has no chain ${chain}`)
  return head
}

/** Identifies a cut by SHA-512/256 over its block hashes, ascending by chain. Other nodes may use another order. */
export function cutId(cut: Cut): Uint8Array {
  return sha512_256(concatBytes(...[...cut].sort(([a], [b]) => a - b).map(([, head]) => head.hash)))
}
