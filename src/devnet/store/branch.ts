/** Pages of branches: descending by (height, hash), every block once (PROTOCOL.md E.1). */
import type { BranchBounds, PageQuery } from '#ground/schema/bodies.ts'
import type { Block } from './block-store.ts'
import type { BlockTree } from './block-tree.ts'
import type { StorePage, UnknownBlock } from './page.ts'

/** The next blocks of several branches in descending order: one for each branch, shared ancestors once. */
class Frontier {
  readonly #store: BlockTree
  #records: number[]

  constructor(store: BlockTree, blocks: readonly Block[]) {
    this.#store = store
    this.#records = [...new Set(blocks.map((block) => store.recordOf(block)))]
  }

  /** The greatest height, or -1 if there are no more blocks. */
  get top(): number {
    return this.#records.reduce((top, record) => Math.max(top, this.#store.heightAt(record)), -1)
  }

  /** Replaces every block above this height with its ancestor at this height. */
  descend(height: number): void {
    const records = this.#records.map((record) => this.#store.ancestorAt(record, height))
    this.#records = records.length > 1 ? [...new Set(records)] : records
  }

  at(height: number): number[] {
    return this.#records.filter((record) => this.#store.heightAt(record) === height)
  }

  remove(records: readonly number[]): void {
    if (records.length > 0) this.#records = this.#records.filter((record) => !records.includes(record))
  }
}

/**
 * A page of the blocks in `upper` and their ancestors, without the blocks in `lower` and their ancestors. A cursor off
 * these branches begins at its place in the order.
 * @param maxItems limit of the node
 */
export function branchPage(
  store: BlockTree,
  chain: number,
  bounds: BranchBounds,
  query: PageQuery,
  maxItems: number,
): StorePage | UnknownBlock {
  const upper = blocksOf(store, chain, bounds.upper ?? [])
  if ('unknown' in upper) return upper
  const lower = blocksOf(store, chain, bounds.lower ?? [])
  if ('unknown' in lower) return lower
  const [kind, ...cursorId] = query.next?.split(':') ?? []
  const cursors = blocksOf(store, chain, cursorId)
  if ('unknown' in cursors) return cursors
  const cursor: Block | undefined = cursors[0]
  const isBeforeCursor = (record: number) => {
    if (cursor === undefined || store.heightAt(record) < cursor.height) return false
    const order = Buffer.compare(store.hashAt(record), cursor.hash)
    return order > 0 || (order === 0 && kind === 'exclusive')
  }
  const limit = Math.min(query.limit ?? maxItems, maxItems)
  const highest = Math.min(query.maxheight ?? Number.POSITIVE_INFINITY, cursor?.height ?? Number.POSITIVE_INFINITY)
  const records: number[] = []
  const range = { highest, lowest: query.minheight ?? 0 }
  for (const record of descending(store, new Frontier(store, upper), new Frontier(store, lower), range)) {
    if (isBeforeCursor(record)) continue
    records.push(record)
    // One item more than requested shows whether there is a next one.
    if (records.length > limit) break
  }
  const blocks = records.slice(0, limit).map((record) => store.blockAt(record))
  const following = records[limit]
  return { blocks, next: following === undefined ? null : `inclusive:${store.blockAt(following).id}` }
}

/** Blocks with these hashes, or the first hash that belongs to no block of the chain. */
function blocksOf(store: BlockTree, chain: number, ids: readonly string[]): Block[] | UnknownBlock {
  const blocks: Block[] = []
  for (const id of ids) {
    const block = store.byId(id, chain)
    if (block === undefined) return { unknown: id }
    blocks.push(block)
  }
  return blocks
}

function* descending(
  store: BlockTree,
  upper: Frontier,
  lower: Frontier,
  { highest, lowest }: { highest: number; lowest: number },
): Generator<number> {
  let height = Math.min(highest, upper.top)
  while (height >= lowest && height >= 0) {
    upper.descend(height)
    lower.descend(height)
    // Leave out an ancestor of a lower bound, and with it all its own ancestors.
    upper.remove(lower.at(height))
    const records = upper.at(height)
    records.sort((a, b) => Buffer.compare(store.hashAt(b), store.hashAt(a)))
    yield* records
    height = Math.min(height - 1, upper.top)
  }
}
