/** A fork as the embedded node uses it: chains above the pinned blocks of another network. */

import { operatingError } from '#ground/base/errors.ts'
import { graphOf } from '#ground/chain/graph.ts'
import type { Header } from '#ground/chain/header.ts'
import { MissingEntry, type ReadableState } from '#language/contracts/machine/state.ts'
import type { AncestorHeaders } from '#language/copy/ancestor-headers.ts'
import { type ChainCopy, MAX_ROUNDS } from '#language/copy/chain-copy.ts'
import type { NetworkCopy } from '#language/copy/network-copy.ts'
import { type FirstStep, firstStepOf, nextStepAtPin } from '#language/copy/pact-history.ts'
import { networkPath, type Pin } from '#language/copy/pin.ts'
import type { RemoteAnswer } from '#language/copy/remote-node.ts'
import type { CopiedBase } from '../ledger/copied-base.ts'
import type { NodeClock } from '../rules/node-clock.ts'
import type { GraphForm } from '../rules/settings.ts'
import type { StoredPayload } from '../store/payload.ts'
import { copyErrors } from './errors.ts'

/** Time of the first blocks: that of the machine, or that of the pinned blocks. */
export type ForkTime = 'now' | 'pinned'

/** A pact that began at or below the pin. */
export interface PactBelow {
  readonly first: FirstStep
  /** The next step at the pin; null after the last one. */
  readonly next: number | null
}

export class NodeCopy implements CopiedBase {
  readonly time: ForkTime
  /** Chains that begin with the state of the forked network; null for all. */
  readonly chains: readonly number[] | null
  /** Content of the file that lets a data directory continue the fork. */
  readonly record: string
  /** Chain -> its pinned payload; empty if the chains are on disk already. */
  readonly payloads: ReadonlyMap<number, StoredPayload>
  readonly #fork: NetworkCopy

  /** @throws NewcutError BAD_OPTION if `chains` has one that the network does not have */
  constructor(
    fork: NetworkCopy,
    { chains, time, record, payloads }: Pick<NodeCopy, 'chains' | 'time' | 'record' | 'payloads'>,
  ) {
    this.record = record
    this.payloads = payloads
    const unknown = chains?.find((chain) => !fork.pin.hashes.has(chain))
    if (unknown !== undefined)
      throw operatingError(copyErrors.unknownChain, { chain: unknown, chains: [...fork.pin.hashes.keys()].join(', ') })
    this.#fork = fork
    this.chains = chains
    this.time = time
  }

  get pin(): Pin {
    return this.#fork.pin
  }

  get url(): string {
    return this.#fork.remote.url
  }

  /** Requests to the forked node so far. */
  get requests(): number {
    return this.#fork.remote.requests
  }

  /** Chain -> its pinned header; empty if the chains are on disk already. */
  get headers(): ReadonlyMap<number, Header> {
    return this.#fork.headers
  }

  /** Chains whose state is forked. */
  get forked(): readonly number[] {
    return this.chains ?? [...this.pin.hashes.keys()]
  }

  #chain(chain: number): ChainCopy | null {
    return this.chains === null || this.chains.includes(chain) ? this.#fork.chain(chain) : null
  }

  stateOf(chain: number): ReadableState | null {
    return this.#chain(chain)?.state ?? null
  }

  /** The fetched part of a chain; null for a chain that is not forked. */
  fetchedOf(chain: number): Pick<ChainCopy['state'], 'fetchedModules' | 'fetchedRows'> | null {
    return this.#chain(chain)?.state ?? null
  }

  /** Headers below the pinned block of a chain. @param pinned its header */
  ancestors(chain: number, pinned: Header): AncestorHeaders {
    return this.#fork.chain(chain).ancestors(pinned)
  }

  /** A pact that began at or below the pin. @throws NewcutError if the forked node does not answer */
  async pactBelow(pactId: string): Promise<PactBelow | null> {
    const found = await Promise.all(this.forked.map((chain) => firstStepOf(this.#fork.chain(chain), pactId)))
    const first = found.find((each) => each !== null) ?? null
    if (first === null) return null
    const target = this.#chain(first.target ?? first.chain)
    const next = target === null ? 'none' : await nextStepAtPin(target, pactId)
    return { first, next: next === 'none' ? 1 : next }
  }

  async fetch(missing: MissingEntry, texts: readonly string[]): Promise<void> {
    const chain = this.forked.map((each) => this.#fork.chain(each)).find(({ state }) => state === missing.state)
    if (chain === undefined) throw new Error('a missing entry of no forked chain')
    await chain.fetcher.fetch(missing, chain.hints(texts))
  }

  /** @throws NewcutError NODE_MISBEHAVED if entries are still missing after the maximum number of rounds */
  async complete<T>(run: () => T | Promise<T>, texts: readonly string[]): Promise<T> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof MissingEntry)) throw error
        await this.fetch(error, texts)
      }
    }
    throw operatingError(copyErrors.endlessFetches, { rounds: MAX_ROUNDS })
  }

  /** Fetches the modules that code names. */
  async warm(chain: number, texts: readonly string[]): Promise<void> {
    await this.#chain(chain)?.warm(texts)
  }

  /** Requests from the forked node what is below the pin. @param path of the interface, after the name of the network */
  get(path: string): Promise<RemoteAnswer> {
    return this.#fork.remote.get(this.#root + path)
  }

  post(path: string, body: unknown): Promise<RemoteAnswer> {
    return this.#fork.remote.post(this.#root + path, body)
  }

  get #root(): string {
    return networkPath(this.pin.network)
  }

  /**
   * Sets the clock of a node. Its blocks must be later than the pinned ones.
   * @param newest creation time of the newest block on disk, in microseconds
   */
  setClock(clock: NodeClock, newest?: bigint): void {
    const pinned = [...this.headers.values()].map(({ creationTime }) => creationTime)
    const last = pinned.reduce((a, b) => (a > b ? a : b), newest ?? 0n)
    if (this.time === 'pinned') clock.set(Number(last / 1000n) - clock.ms() + clock.setAheadMs, last)
    else clock.catchUp(last)
  }

  /** Whether a block is pinned. @param hash base64url */
  isPinned(chain: number, hash: string): boolean {
    return this.pin.hashes.get(chain) === hash
  }
}

/** The graph of pinned headers. @throws NewcutError NODE_MISBEHAVED if their adjacents form no graph */
export function copiedGraph(headers: ReadonlyMap<number, Header>): GraphForm {
  const chains = Array.from(headers.keys(), (_, chain) => chain)
  const list = chains.map((chain) => [...(headers.get(chain)?.adjacents.keys() ?? [])].sort((a, b) => a - b))
  const graph = graphOf(list)
  if (typeof graph !== 'string') return graph.name === 'other' ? list : graph.name
  throw operatingError(copyErrors.wrongGraph, { why: graph })
}
