/**
 * Ancestor tests between blocks. They take one lookup on the branches of the cut; elsewhere they walk to the point
 * where the branch leaves the cut.
 */
import type { Header } from '../../core/header.ts'
import type { BlockStore } from '../store/block-store.ts'

export class Branches {
  readonly #store: BlockStore
  /** Chain -> record numbers on the branch of its head, by height. */
  readonly #main: number[][]

  constructor(store: BlockStore, heads: Iterable<Header>) {
    this.#store = store
    this.#main = Array.from({ length: store.chains }, () => [])
    for (const head of heads) this.follow(head)
  }

  /** Call it with each new head of a chain. */
  follow(head: Pick<Header, 'hash' | 'chainId'>): void {
    const main = this.#main[head.chainId]
    const joined: number[] = []
    let record = this.#store.recordOfHash(head.hash)
    while (record >= 0 && main[this.#store.heightAt(record)] !== record) {
      joined.push(record)
      record = this.#store.parentRecord(record)
    }
    main.length = record < 0 ? 0 : this.#store.heightAt(record) + 1
    for (let i = joined.length - 1; i >= 0; i--) main.push(joined[i])
  }

  /** Record number of the head of a chain. */
  head(chain: number): number {
    const main = this.#main[chain]
    return main[main.length - 1]
  }

  /** The block `depth` blocks below the head on its branch, or genesis if the branch is shorter. */
  below(chain: number, depth: number): number {
    const main = this.#main[chain]
    return main[Math.max(0, main.length - 1 - depth)]
  }

  isOnMain(chain: number, record: number): boolean {
    return this.#main[chain][this.#store.heightAt(record)] === record
  }

  /** Whether `ancestor` is on the branch that ends with `block`. Both are record numbers of one chain. */
  isAncestor(ancestor: number, block: number): boolean {
    const store = this.#store
    const main = this.#main[store.chainAt(block)]
    const height = store.heightAt(ancestor)
    let at = block
    while (store.heightAt(at) > height) {
      if (main[store.heightAt(at)] === at) return main[height] === ancestor
      at = store.parentRecord(at)
    }
    return at === ancestor
  }
}
