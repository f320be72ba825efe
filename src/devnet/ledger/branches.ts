/**
 * Ancestor tests between blocks. They take one lookup on the branches of the cut; elsewhere they walk to the point
 * where the branch leaves the cut.
 */
import type { Header } from '#ground/chain/header.ts'
import type { BlockStore } from '../store/block-store.ts'

export class Branches {
  readonly #store: BlockStore
  /** Chain -> record numbers on the branch of its head, by height above that of the first block. */
  readonly #main: number[][]
  /** Chain -> height of its first block: 0, or that of the pinned block of a fork. */
  readonly #first: readonly number[]

  constructor(store: BlockStore, heads: Iterable<Header>) {
    this.#store = store
    this.#main = Array.from({ length: store.chains }, () => [])
    this.#first = this.#main.map((_, chain) => store.slice(chain, 0, 1)[0]?.height ?? 0)
    for (const headRecord of heads) this.follow(headRecord)
  }

  /** Call it with each new head of a chain. */
  follow(head: Pick<Header, 'hash' | 'chainId'>): void {
    const main = this.#main[head.chainId]
    const joined: number[] = []
    let record = this.#store.recordOfHash(head.hash)
    while (record >= 0 && main[this.#placeOf(head.chainId, record)] !== record) {
      joined.push(record)
      record = this.#store.parentRecord(record)
    }
    main.length = record < 0 ? 0 : this.#placeOf(head.chainId, record) + 1
    for (let i = joined.length - 1; i >= 0; i--) main.push(joined[i])
  }

  /** Place of a block of a chain among its heights. */
  #placeOf(chain: number, record: number): number {
    return this.#store.heightAt(record) - this.#first[chain]
  }

  /** Record number of the head of a chain. */
  head(chain: number): number {
    const main = this.#main[chain]
    return main[main.length - 1]
  }

  /** The block `depth` blocks below the head on its branch, or genesis if the branch is shorter. */
  recordBelow(chain: number, depth: number): number {
    const main = this.#main[chain]
    return main[Math.max(0, main.length - 1 - depth)]
  }

  isOnMain(chain: number, record: number): boolean {
    return this.#main[chain][this.#placeOf(chain, record)] === record
  }

  /** Whether `ancestor` is on the branch that ends with `block`. Both are record numbers of one chain. */
  isAncestor(ancestor: number, block: number): boolean {
    const store = this.#store
    const chain = store.chainAt(block)
    const main = this.#main[chain]
    const height = store.heightAt(ancestor)
    let at = block
    while (store.heightAt(at) > height) {
      if (main[this.#placeOf(chain, at)] === at) return main[height - this.#first[chain]] === ancestor
      at = store.parentRecord(at)
    }
    return at === ancestor
  }
}
