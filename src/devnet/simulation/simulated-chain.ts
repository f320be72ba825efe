/** A chain in a simulation: its state above the newest real block, and headers that stand for the blocks to come. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Header } from '#ground/chain/header.ts'
import { type Domain, Layer, type ReadableState } from '#language/contracts/machine/state.ts'
import type { PayloadDraft } from '../ledger/draft.ts'
import type { RowOverride } from '../ledger/row-overrides.ts'
import type { StoredPayload } from '../store/payload.ts'
import { sealHeader } from './proofs.ts'

export class SimulatedChain {
  /** Newest real block. */
  readonly head: Header
  /** Request keys of the commands so far. */
  readonly requestKeys = new Set<string>()
  #tip: Header
  #state: Layer

  /** @param state state after the newest real block */
  constructor(head: Header, state: ReadableState) {
    this.head = head
    this.#tip = head
    this.#state = new Layer(state)
  }

  get state(): ReadableState {
    return this.#state
  }

  /** base64url */
  get headHash(): string {
    return encodeBase64Url(this.head.hash)
  }

  /** Parent of a simulated block. @param block its position in the simulation */
  parentOf(block: number): Header {
    return { ...this.#tip, height: this.head.height + BigInt(block) }
  }

  replaceRows(rows: readonly RowOverride[]): void {
    const hidden = rows.filter(({ value }) => value === null)
    if (hidden.length > 0) this.#state = new Layer(new StateWithoutRows(this.#state, hidden))
    for (const { domain, key, value } of rows) if (value !== null) this.#state.put(domain, key, value)
  }

  /** Adds a block. @returns its header */
  add(parent: Header, draft: PayloadDraft, payload: StoredPayload): Header {
    for (const { domain, key, value } of draft.writes.flat()) this.#state.put(domain, key, value)
    this.#tip = sealHeader({
      ...parent,
      parent: parent.hash,
      payloadHash: payload.payloadHash,
      height: parent.height + 1n,
    })
    return this.#tip
  }
}

/** A state that hides some rows. */
class StateWithoutRows implements ReadableState {
  readonly #below: ReadableState
  readonly #hidden = new Map<Domain, Set<string>>()

  constructor(below: ReadableState, hidden: readonly Pick<RowOverride, 'domain' | 'key'>[]) {
    this.#below = below
    for (const { domain, key } of hidden) {
      const keys = this.#hidden.get(domain)
      if (keys === undefined) this.#hidden.set(domain, new Set([key]))
      else keys.add(key)
    }
  }

  get<T>(domain: Domain, key: string): T | undefined {
    return this.#hidden.get(domain)?.has(key) ? undefined : this.#below.get<T>(domain, key)
  }

  keys(domain: Domain): string[] {
    const hidden = this.#hidden.get(domain)
    const keys = this.#below.keys(domain)
    return hidden === undefined ? keys : keys.filter((key) => !hidden.has(key))
  }
}
