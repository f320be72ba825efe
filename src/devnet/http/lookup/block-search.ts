/** Pages of what blocks hold, in the order in which the node got the blocks, with cursors. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { DEFAULT_LOOKUP_ITEMS } from '#ground/schema/lookup.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Chains } from '../../rules/chains.ts'
import type { Block, BlockStore } from '../../store/block-store.ts'
import { RequestRefused } from '../refusal.ts'

export interface SearchedNode {
  readonly chains: Chains
  readonly ledger: Ledger
}

export interface BlockQuery {
  readonly chain?: number | undefined
  readonly minheight?: number | undefined
  readonly maxheight?: number | undefined
  readonly order?: 'newest' | 'oldest' | undefined
  readonly limit?: number | undefined
  readonly next?: string | undefined
}

/** A block of a search, and whether it is on its chain now. */
export interface SearchedBlock {
  readonly block: Block
  readonly isOrphan: boolean
}

interface ItemPage<T> {
  readonly items: readonly T[]
  /** Cursor of the following page; null if no block is left. Never null for the order `oldest`. */
  readonly next: string | null
  /** Creation time of the last searched block, in milliseconds; null if none was searched. */
  readonly searchedTo: number | null
}

/** Maximum blocks that one request reads, so that it takes about a second. A page may end before it is full. */
export const MAX_SEARCHED = 5_000
/** Cost of a block that is skipped without being read. */
const SKIP_COST = 0.02
/** `HASH` is a whole block, `HASH:N` its item N and what follows, `HASH:end` all that follows it. */
const CURSOR = /^([\w-]{43})(?::(\d{1,9}|end))?$/

/**
 * Searches blocks. First blocks of chains are left out: nobody sent their commands.
 * @param itemsOf items of a block, in the order of the block
 * @param maxBlocks maximum number of blocks that it reads
 * @throws RequestRefused for a cursor that is none, or names no block
 */
export function searchBlocks<T>(
  { chains, ledger }: SearchedNode,
  query: BlockQuery,
  itemsOf: (searched: SearchedBlock) => readonly T[],
  maxBlocks = MAX_SEARCHED,
): ItemPage<T> {
  const { store } = chains
  const { limit = DEFAULT_LOOKUP_ITEMS } = query
  const isAscending = query.order === 'oldest'
  const step = isAscending ? 1 : -1
  const from = query.next === undefined ? null : placeOf(store, query.next)
  const items: T[] = []
  let budget = maxBlocks
  let last = -1
  const first = from?.record ?? (isAscending ? 0 : store.size - 1)
  for (let record = first; record >= 0 && record < store.size; record += step) {
    const isRead = isMatch(store, record, query)
    budget -= isRead ? 1 : SKIP_COST
    if (budget < 0) return pageOf(store, items, { next: idAt(store, record), last })
    last = record
    if (!isRead) continue
    const block = store.blockAt(record)
    const all = itemsOf({ block, isOrphan: !ledger.isOnChain(block.chain, record) })
    const skipped = record === from?.record ? from.item : null
    for (let i = startIn(all.length, skipped, isAscending); i >= 0 && i < all.length; i += step) {
      if (items.length === limit) return pageOf(store, items, { next: `${block.id}:${i}`, last })
      items.push(all[i])
    }
  }
  return pageOf(store, items, { next: isAscending ? `${idAt(store, store.size - 1)}:end` : null, last })
}

function pageOf<T>(store: BlockStore, items: readonly T[], { next, last }: { next: string | null; last: number }) {
  const searchedTo = last < 0 ? null : createdMs(store.blockAt(last))
  return { items, next, searchedTo }
}

/** Creation time of a block, in milliseconds. */
export const createdMs = ({ header }: Block) => Number(header.creationTime / 1000n)

const idAt = (store: BlockStore, record: number) => encodeBase64Url(store.hashAt(record))

function isMatch(store: BlockStore, record: number, { chain, minheight, maxheight }: BlockQuery): boolean {
  const height = store.heightAt(record)
  if (chain !== undefined && store.chainAt(record) !== chain) return false
  return store.parentRecord(record) >= 0 && height >= (minheight ?? 0) && height <= (maxheight ?? Infinity)
}

/** Index of the first item. @param from item of the cursor; null for the whole block */
function startIn(count: number, from: number | 'end' | null, isAscending: boolean): number {
  if (isAscending) return from === 'end' ? count : (from ?? 0)
  return from === 'end' ? -1 : Math.min(from ?? count, count - 1)
}

function placeOf(store: BlockStore, cursor: string): { readonly record: number; readonly item: number | 'end' | null } {
  const parts = CURSOR.exec(cursor)
  if (parts === null) {
    const shown = JSON.stringify(cursor.slice(0, 80))
    throw new RequestRefused(400, `next: ${shown} is not a cursor; take the text of \`next\` of the page before`)
  }
  const [, hash, item] = parts
  const block = store.byId(hash)
  if (block === undefined) throw new RequestRefused(404, `next: the node has no block ${hash}`)
  return { record: store.recordOf(block), item: item === undefined || item === 'end' ? (item ?? null) : Number(item) }
}
