/**
 * Whether what a node tells goes on from what it told before. Behind its address another one may come up: of another
 * network, or of the same one with chains of its own, as after the loss of its database. Its work is of no use, and
 * looks like any other.
 */
import { encodeBase64Url } from '../../core/bytes.ts'
import type { WorkFields } from '../../core/header.ts'
import type { CutHeads } from '../node/mining-node.ts'

/** A block of a chain, by its hash as in JSON. */
export interface NamedBlock {
  readonly chain: number
  readonly hash: string
}

/** Blocks that are remembered, for each chain. */
const KEPT_PER_CHAIN = 4

/** The heads of a cut, without first blocks: networks that began alike share those. */
export function blocksOfCut(heads: CutHeads): NamedBlock[] {
  return [...heads].flatMap(([chain, { height, hash }]) => (height > 0 ? { chain, hash } : []))
}

/** The blocks that work refers to, without first blocks. */
export function blocksOfWork({ chainId, parent, adjacents, height }: WorkFields): NamedBlock[] {
  if (height <= 1n) return []
  return [[chainId, parent] as const, ...adjacents].map(([chain, hash]) => ({ chain, hash: encodeBase64Url(hash) }))
}

/** What a node has told of its chains. */
export class Continuity {
  /** Hash -> chain, the one that was told last at the end. */
  #told = new Map<string, number>()

  /**
   * A block that a node with these blocks has to know if it is the one that was there before; null: it is that one, or
   * there is nothing to tell by.
   */
  doubt(blocks: readonly NamedBlock[]): NamedBlock | null {
    const [oldest] = this.#told
    if (oldest === undefined || blocks.some(({ hash }) => this.#told.has(hash))) return null
    const [hash, chain] = oldest
    return { chain, hash }
  }

  /** The node has told of these blocks. */
  tell(blocks: readonly NamedBlock[]): void {
    for (const { hash, chain } of blocks) {
      this.#told.delete(hash)
      this.#told.set(hash, chain)
    }
    const chains = new Set(this.#told.values()).size
    for (const hash of [...this.#told.keys()].slice(0, -KEPT_PER_CHAIN * chains)) this.#told.delete(hash)
  }

  /** Another node is there, and that is all right. */
  forget(): void {
    this.#told.clear()
  }
}
