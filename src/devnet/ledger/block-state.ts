/** Contract state after a block. */
import type { Domain, ReadableState } from '../../contracts/machine/state.ts'
import type { Branches } from './branches.ts'
import type { Versions } from './versions.ts'

export class BlockState implements ReadableState {
  readonly #versions: Versions
  readonly #branches: Branches
  readonly #chain: number
  readonly #record: number
  readonly #genesis: ReadableState

  /** @param options `genesis` is the state after the first block */
  constructor(
    { versions, branches, genesis }: { versions: Versions; branches: Branches; genesis: ReadableState },
    block: { readonly chain: number; readonly record: number },
  ) {
    this.#genesis = genesis
    this.#versions = versions
    this.#branches = branches
    this.#chain = block.chain
    this.#record = block.record
  }

  get<T>(domain: Domain, key: string): T | undefined {
    let version = this.#versions.newest(this.#chain, domain, key)
    while (version !== null && !this.#branches.isAncestor(version.record, this.#record)) version = version.older
    return version === null ? this.#genesis.get<T>(domain, key) : (version.value as T)
  }

  keys(domain: Domain): string[] {
    const keys = new Set(this.#genesis.keys(domain))
    for (const key of this.#versions.keys(this.#chain, domain)) {
      if (!keys.has(key) && this.get(domain, key) !== undefined) keys.add(key)
    }
    return [...keys].sort()
  }
}
