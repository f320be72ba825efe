/**
 * Detects that another node has taken over the same address. It may belong to another network, or to the same network with other
 * chains, as after the loss of its database. Its work is useless, but looks like any other.
 */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { WorkFields } from '#ground/chain/header.ts'
import type { CutHeads } from '../node/mining-node.ts'

/** A block, by base64url hash. */
export interface NamedBlock {
  readonly chain: number
  readonly hash: string
}

/** Maximum number of blocks remembered for each chain, which bounds the memory. */
const MAX_PER_CHAIN = 4

/** The heads of a cut, without genesis blocks, which similar networks share. */
export function blocksOfCut(heads: CutHeads): NamedBlock[] {
  return [...heads].flatMap(([chain, { height, hash }]) => (height > 0 ? { chain, hash } : []))
}

/** The blocks that work refers to, without genesis blocks. */
export function blocksOfWork({ chainId, parent, adjacents, height }: WorkFields): NamedBlock[] {
  if (height <= 1n) return []
  return [[chainId, parent] as const, ...adjacents].map(([chain, hash]) => ({ chain, hash: encodeBase64Url(hash) }))
}

/** The blocks that a node has shown. */
export class ChainContinuity {
  /** Hash -> chain, the newest entry last. */
  #blocks = new Map<string, number>()

  /**
   * Decides whether blocks prove that it is the same node.
   * @returns a block that the same node must know, or null if it is the same node or nothing is known yet
   */
  blockToVerify(blocks: readonly NamedBlock[]): NamedBlock | null {
    const [oldest] = this.#blocks
    if (oldest === undefined || blocks.some(({ hash }) => this.#blocks.has(hash))) return null
    const [hash, chain] = oldest
    return { chain, hash }
  }

  /** Adds blocks that the node has shown. */
  add(blocks: readonly NamedBlock[]): void {
    for (const { hash, chain } of blocks) {
      this.#blocks.delete(hash)
      this.#blocks.set(hash, chain)
    }
    const chains = new Set(this.#blocks.values()).size
    for (const hash of [...this.#blocks.keys()].slice(0, -MAX_PER_CHAIN * chains)) this.#blocks.delete(hash)
  }

  /** Accepts another node. */
  forget(): void {
    this.#blocks.clear()
  }
}
