/**
 * The blocks of a forked chain in the store, and the headers below its pin. Below the pin there is one header at each
 * height: its position is its height, and its record number is -2 - height.
 */
import type { AncestorHeaders } from '#language/copy/ancestor-headers.ts'
import { Block, type BlockStore } from '../store/block-store.ts'
import type { BlockTree } from '../store/block-tree.ts'

/** Record number of the header at a height below the pin, and height of such a record. */
const flip = (number: number) => -2 - number
const isBelow = (record: number) => record <= flip(0)

export class CopiedTree implements BlockTree {
  readonly #store: BlockStore
  readonly #headers: AncestorHeaders
  readonly #chain: number
  /** Height of the pinned block. */
  readonly #pin: number

  constructor(store: BlockStore, headers: AncestorHeaders, { chain, pin }: { chain: number; pin: number }) {
    this.#store = store
    this.#headers = headers
    this.#chain = chain
    this.#pin = pin
  }

  byId(id: string, chain = this.#chain): Block | undefined {
    const height = chain === this.#chain ? this.#headers.heightOf(id) : undefined
    return height === undefined ? this.#store.byId(id, chain) : this.#at(height)
  }

  recordOf(block: Block): number {
    return block.height < this.#pin ? flip(block.height) : this.#store.recordOf(block)
  }

  ancestorAt(record: number, height: number): number {
    if (height >= this.#pin && !isBelow(record)) return this.#store.ancestorAt(record, height)
    return flip(Math.min(height, this.heightAt(record)))
  }

  heightAt(record: number): number {
    return isBelow(record) ? flip(record) : this.#store.heightAt(record)
  }

  hashAt(record: number): Uint8Array {
    return isBelow(record) ? this.#at(flip(record)).hash : this.#store.hashAt(record)
  }

  blockAt(record: number): Block {
    return isBelow(record) ? this.#at(flip(record)) : this.#store.blockAt(record)
  }

  positionOf(block: Block): number {
    return block.height < this.#pin ? block.height : this.#pin + this.#store.positionOf(block)
  }

  positionAtHeight(chain: number, height: number): number {
    return height < this.#pin ? height : this.#pin + this.#store.positionAtHeight(chain, height)
  }

  slice(chain: number, from: number, to: number): Block[] {
    const blocks: Block[] = []
    for (let height = from; height < Math.min(to, this.#pin); height++) blocks.push(this.#at(height))
    return to <= this.#pin
      ? blocks
      : [...blocks, ...this.#store.slice(chain, Math.max(0, from - this.#pin), to - this.#pin)]
  }

  #at(height: number): Block {
    return new Block({ chain: this.#chain, height, bytes: this.#headers.at(height) }, this.#store.payloads)
  }
}
