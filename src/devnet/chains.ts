/** The chains of the embedded network: genesis, the current cut, and the rules by which it grows. */
import { encodeBase64Url, equalBytes } from '../core/bytes.ts'
import { type Cut, extendsCut, extensionOf } from '../core/cut.ts'
import { expectedFor } from '../core/difficulty.ts'
import { genesisHeader } from '../core/genesis.ts'
import type { Header, WorkFields } from '../core/header.ts'
import { graphAt, type Network } from '../core/network.ts'
import { brokenRules, type HeaderRule } from '../core/validate.ts'
import { emptyPayload, type Payload } from './payload.ts'
import { type Block, BlockStore } from './store.ts'

/** What became of a solved header (PROTOCOL.md A.2: a miner hears of neither `stale` nor `invalid`). */
export type Addition =
  | { readonly status: 'added'; readonly block: Block }
  | { readonly status: 'stale' }
  | { readonly status: 'invalid'; readonly rules: readonly (HeaderRule | 'payload')[] }

export interface ChainsOptions {
  readonly network: Network
  readonly checkPow: boolean
  /** Microseconds; strictly increasing. */
  readonly now: () => bigint
}

export class Chains {
  readonly network: Network
  readonly checkPow: boolean
  readonly store: BlockStore
  readonly #now: () => bigint
  readonly #cut = new Map<number, Header>()
  readonly #listeners = new Set<(block: Block) => void>()

  constructor({ network, checkPow, now }: ChainsOptions) {
    this.network = network
    this.checkPow = checkPow
    this.#now = now
    const { adjacents } = graphAt(network, 0)
    this.store = new BlockStore(adjacents.length)
    for (const chain of adjacents.keys()) {
      const genesis = genesisHeader(network, chain, emptyPayload.payloadHash)
      this.store.insert(genesis, emptyPayload)
      this.#cut.set(chain, genesis)
    }
  }

  get cut(): Cut {
    return this.#cut
  }

  get chainIds(): number[] {
    return [...this.#cut.keys()]
  }

  /** Calls `listener` after each block that extends the cut. Returns a function that ends it. */
  onBlock(listener: (block: Block) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  isBlocked(chain: number): boolean {
    return typeof extensionOf(this.network, this.#cut, chain) === 'number'
  }

  /** New work for a chain with nonce 0 and the present as creation time; null while the chain is blocked. */
  newWork(chain: number, payloadHash: Uint8Array): WorkFields | null {
    const extension = extensionOf(this.network, this.#cut, chain)
    if (typeof extension === 'number') return null
    const { parent, adjacents } = extension
    const adjacentParents = [...adjacents.values()].map((hash) => this.#header(hash))
    const creationTime = this.#now()
    return {
      featureFlags: 0n,
      creationTime,
      parent: parent.hash,
      adjacents,
      payloadHash,
      chainId: chain,
      height: parent.height + 1n,
      version: this.network.code,
      nonce: 0n,
      ...expectedFor(this.network, parent, adjacentParents, creationTime),
    }
  }

  /** Extends the cut with a solved header whose payload is known, if it still fits and keeps every rule. */
  add(header: Header, payload: Payload): Addition {
    if (!extendsCut(this.#cut, header)) return { status: 'stale' }
    const adjacentParents = new Map<number, Header>()
    for (const [chain, hash] of header.adjacents) {
      // What a genesis block names as its parent is no block: such an adjacent stays out and breaks the rule.
      const block = this.store.get(encodeBase64Url(hash))
      if (block !== undefined) adjacentParents.set(chain, block.header)
    }
    const ancestry = { parent: this.#header(header.parent), adjacentParents }
    const options = { now: this.#now(), checkPow: this.checkPow }
    const rules: (HeaderRule | 'payload')[] = brokenRules(this.network, header, ancestry, options)
    if (payload.parent !== null && !equalBytes(payload.parent, header.parent)) rules.push('payload')
    if (rules.length > 0) return { status: 'invalid', rules }
    const block = this.store.insert(header, payload)
    this.#cut.set(header.chainId, header)
    for (const listener of this.#listeners) listener(block)
    return { status: 'added', block }
  }

  /** The cut limited to block heights of at most `maxHeight / chains`, rounded down. */
  limitedCut(maxHeight: number): Cut {
    const limit = Math.floor(maxHeight / this.#cut.size)
    return new Map(
      [...this.#cut].map(([chain, head]) => {
        const block = this.store.get(encodeBase64Url(head.hash))
        return [chain, block === undefined ? head : this.store.ancestor(block, limit).header]
      }),
    )
  }

  #header(hash: Uint8Array): Header {
    const block = this.store.get(encodeBase64Url(hash))
    if (block === undefined) throw new Error(`no block ${encodeBase64Url(hash)} in the store`)
    return block.header
  }
}
