/** Contract state after a block. */
import type { Domain, ReadableState } from '#language/contracts/machine/state.ts'
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

  /** @param below keys of the state after the first block, if not all of them can be had */
  keys(domain: Domain, below: readonly string[] = this.#genesis.keys(domain)): string[] {
    const keys = new Set(below)
    for (const key of this.#versions.keys(this.#chain, domain)) {
      if (!keys.has(key) && this.get(domain, key) !== undefined) keys.add(key)
    }
    return [...keys].sort()
  }
}
