/** Finds the blocks of lists of headers and hashes: in the store, and on a fork below the pin too. */

import { encodeHeader } from '#ground/chain/header.ts'
import type { BranchBounds, PageQuery } from '#ground/schema/bodies.ts'
import type { AncestorHeaders } from '#language/copy/ancestor-headers.ts'
import { CopiedTree } from '../../copy/copied-tree.ts'
import type { NodeCopy } from '../../copy/node-copy.ts'
import { Block, type BlockStore } from '../../store/block-store.ts'
import type { BlockTree } from '../../store/block-tree.ts'
import { RequestRefused } from '../refusal.ts'

/** A list of one chain. */
export interface TreeRequest {
  readonly chain: number
  readonly query: PageQuery
  /** Maximum items of a page. */
  readonly most: number
}

/** Maximum headers below the pin that the node fetches: each is checked by all above it, so a far one needs them all. */
const MAX_BELOW_PIN = 20_000

export class HeaderTrees {
  readonly #store: BlockStore
  readonly #fork: NodeCopy | null
  readonly #deepest: number

  /** @param deepest maximum headers below the pin of a chain that are fetched */
  constructor(store: BlockStore, fork: NodeCopy | null, deepest = MAX_BELOW_PIN) {
    this.#store = store
    this.#fork = fork
    this.#deepest = deepest
  }

  /** A header by its hash. @throws NewcutError if only the forked node can have it, and does not answer */
  async header(chain: number, id: string): Promise<Block | undefined> {
    const known = this.#store.byId(id, chain)
    if (known !== undefined || this.#fork === null) return known
    const header = await this.#headersOf(this.#fork, chain).byHash(id)
    if (header === null) return undefined
    return new Block({ chain, height: Number(header.height), bytes: encodeHeader(header) }, this.#store.payloads)
  }

  /** The blocks of an ascending list. @throws RequestRefused, or NewcutError if the forked node does not answer */
  async treeForPage({ chain, query }: TreeRequest): Promise<BlockTree> {
    if (this.#fork === null) return this.#store
    const headers = this.#headersOf(this.#fork, chain)
    const [cursor] = await this.#heightsOf(headers, chain, cursorsOf(query))
    return this.#treeDownTo(headers, chain, Math.max(query.minheight ?? 0, cursor ?? 0))
  }

  /** The blocks of a list of branches. @throws like `treeForPage` */
  async treeForBranch({ chain, query, most }: TreeRequest, { upper, lower }: BranchBounds): Promise<BlockTree> {
    if (this.#fork === null) return this.#store
    const headers = this.#headersOf(this.#fork, chain)
    const tops = await this.#heightsOf(headers, chain, upper ?? [])
    const cursors = await this.#heightsOf(headers, chain, cursorsOf(query))
    await this.#heightsOf(headers, chain, lower ?? [])
    const highest = Math.min(Math.max(-1, ...tops), query.maxheight ?? Number.POSITIVE_INFINITY, ...cursors)
    // One block at each height below the pin. One more shows whether there is a next page, and the cursor is left out.
    const lowest = highest - Math.min(query.limit ?? most, most) - 1
    return this.#treeDownTo(headers, chain, Math.max(query.minheight ?? 0, lowest))
  }

  #headersOf(fork: NodeCopy, chain: number): AncestorHeaders {
    const [pinned] = this.#store.slice(chain, 0, 1)
    return fork.ancestors(chain, pinned.header)
  }

  /** Heights of the blocks with these hashes, without unknown ones. Headers below the pin are fetched down to them. */
  async #heightsOf(headers: AncestorHeaders, chain: number, ids: readonly string[]): Promise<number[]> {
    const heights: number[] = []
    for (const id of ids) {
      const known = this.#store.byId(id, chain)?.height ?? headers.heightOf(id)
      const height = known ?? Number((await headers.byHash(id))?.height ?? -1)
      if (known === undefined && height >= 0) await this.#treeDownTo(headers, chain, height)
      if (height >= 0) heights.push(height)
    }
    return heights
  }

  async #treeDownTo(headers: AncestorHeaders, chain: number, height: number): Promise<BlockTree> {
    const [{ height: pin }] = this.#store.slice(chain, 0, 1)
    if (pin - height > this.#deepest) {
      const least = pin - this.#deepest
      throw new RequestRefused(
        400,
        `height ${height} is ${pin - height} blocks below the fork at height ${pin}. Headers are checked from there ` +
          `down, at most ${this.#deepest} of them: ask with minheight=${least} or above, or ask the forked node`,
      )
    }
    await headers.fetchDownTo(height)
    return new CopiedTree(this.#store, headers, { chain, pin })
  }
}

const cursorsOf = ({ next }: PageQuery): string[] => (next === undefined ? [] : [next.slice(next.indexOf(':') + 1)])
