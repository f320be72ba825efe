/** Braiding: the condition for heads to form a cut (PROTOCOL.md D). */
import { equalBytes } from '#ground/base/bytes.ts'
import type { Cut } from '#ground/chain/cut.ts'
import type { Header } from '#ground/chain/header.ts'
import type { BlockStore } from '../store/block-store.ts'

/**
 * All heads must be in the store.
 * @throws RangeError unless these heads fit together: every adjacent block that a head names must be on the branch of
 *   the head of the adjacent chain
 */
export function expectBraid(store: BlockStore, heads: Cut): void {
  for (const head of heads.values()) {
    for (const [chain, hash] of isFirst(store, head) ? [] : head.adjacents) {
      const adjacent = heads.get(chain)
      const fits =
        adjacent !== undefined &&
        adjacent.height + 1n >= head.height &&
        equalBytes(ancestorHash(store, adjacent, Number(head.height) - 1), hash)
      if (!fits) throw new RangeError(`the heads of chains ${head.chainId} and ${chain} do not fit together`)
    }
  }
}

/** The first block of a chain names no blocks that are in the store. */
function isFirst(store: BlockStore, { hash }: Header): boolean {
  const record = store.recordOfHash(hash)
  return record >= 0 && store.parentRecord(record) < 0
}

function ancestorHash(store: BlockStore, head: Header, height: number): Uint8Array {
  const block = store.get(head.hash)
  if (block === undefined) throw new RangeError(`the head of chain ${head.chainId} is not in the store`)
  return store.ancestor(block, height).hash
}
