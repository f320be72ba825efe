/** All blocks of the embedded network, orphans included, in memory: by hash, and by chain in (height, hash) order. */
import { encodeBase64Url, encodeHex } from '../core/bytes.ts'
import type { Header } from '../core/header.ts'
import type { Payload } from './payload.ts'

export interface Block {
  readonly header: Header
  readonly payload: Payload
  /** Block hash as in JSON. */
  readonly id: string
}

/** Sorts before every hash of its height. */
interface Position {
  readonly height: number
  readonly hashHex: string
}

interface Entry extends Position {
  readonly block: Block
}

export class BlockStore {
  readonly #byHash = new Map<string, Entry>()
  readonly #chains: readonly Entry[][]

  constructor(chains: number) {
    this.#chains = Array.from({ length: chains }, () => [])
  }

  insert(header: Header, payload: Payload): Block {
    const block = { header, payload, id: encodeBase64Url(header.hash) }
    const entry = { block, height: Number(header.height), hashHex: encodeHex(header.hash) }
    const chain = this.#chains[header.chainId]
    chain.splice(firstAtOrAfter(chain, entry), 0, entry)
    this.#byHash.set(block.id, entry)
    return block
  }

  /** The block with this hash (43 characters), on this chain if one is given. */
  get(id: string, chain?: number): Block | undefined {
    const block = this.#byHash.get(id)?.block
    return chain === undefined || block?.header.chainId === chain ? block : undefined
  }

  /** Index of a block in the order of its chain. */
  indexOf(block: Block): number {
    const entry = this.#byHash.get(block.id)
    return entry === undefined ? -1 : firstAtOrAfter(this.#chains[block.header.chainId], entry)
  }

  /** Index of the first block at this height or above. */
  indexAtHeight(chain: number, height: number): number {
    return firstAtOrAfter(this.#chains[chain], { height, hashHex: '' })
  }

  slice(chain: number, from: number, to: number): Block[] {
    return this.#chains[chain].slice(from, to).map(({ block }) => block)
  }

  /** The ancestor of a block at a height not above its own. */
  ancestor(block: Block, height: number): Block {
    let current = block
    while (Number(current.header.height) > height) {
      const parent = this.get(encodeBase64Url(current.header.parent))
      if (parent === undefined) throw new Error(`block ${current.id} has no parent in the store`)
      current = parent
    }
    return current
  }
}

/** Binary search in an array sorted by (height, hash). */
function firstAtOrAfter(entries: readonly Entry[], position: Position): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    const { height, hashHex } = entries[middle]
    if (height < position.height || (height === position.height && hashHex < position.hashHex)) low = middle + 1
    else high = middle
  }
  return low
}
