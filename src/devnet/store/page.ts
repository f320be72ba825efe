/** Pages of blocks in (height, hash) order with cursors (PROTOCOL.md E.1). */
import type { PageQuery } from '#ground/schema/bodies.ts'
import type { Block } from './block-store.ts'
import type { BlockTree } from './block-tree.ts'

export interface StorePage {
  readonly blocks: readonly Block[]
  /**
   * `inclusive:<hash>` of the next item; `exclusive:<hash>` of the last one if there is no next; null if the page is
   * empty.
   */
  readonly next: string | null
}

/** Hash of a cursor or bound, as in JSON, of no block of the chain. */
export interface UnknownBlock {
  readonly unknown: string
}

/** A page of one chain. @param maxItems limit of the node */
export function pageOf(store: BlockTree, chain: number, query: PageQuery, maxItems: number): StorePage | UnknownBlock {
  let from = query.minheight === undefined ? 0 : store.positionAtHeight(chain, query.minheight)
  if (query.next !== undefined) {
    const [kind, hash] = query.next.split(':')
    const block = store.byId(hash, chain)
    if (block === undefined) return { unknown: hash }
    from = Math.max(from, store.positionOf(block) + (kind === 'exclusive' ? 1 : 0))
  }
  const end =
    query.maxheight === undefined ? Number.POSITIVE_INFINITY : store.positionAtHeight(chain, query.maxheight + 1)
  const to = Math.min(from + Math.min(query.limit ?? maxItems, maxItems), end)
  // One item more than requested shows whether there is a next one.
  const found = store.slice(chain, from, Math.min(to + 1, end))
  const blocks = found.slice(0, Math.max(0, to - from))
  const following = found[blocks.length]
  const last = blocks[blocks.length - 1]
  if (following !== undefined) return { blocks, next: `inclusive:${following.id}` }
  return { blocks, next: last === undefined ? null : `exclusive:${last.id}` }
}
