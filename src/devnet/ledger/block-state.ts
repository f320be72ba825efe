/** The state after a block. */
import type { Domain, State } from '../../contracts/machine/state.ts'
import type { Branches } from './branches.ts'
import { genesis } from './genesis.ts'
import type { Versions } from './versions.ts'

export class BlockState implements State {
  readonly #versions: Versions
  readonly #branches: Branches
  readonly #chain: number
  readonly #record: number

  constructor(versions: Versions, branches: Branches, block: { readonly chain: number; readonly record: number }) {
    this.#versions = versions
    this.#branches = branches
    this.#chain = block.chain
    this.#record = block.record
  }

  get<T>(domain: Domain, key: string): T | undefined {
    let version = this.#versions.newest(this.#chain, domain, key)
    while (version !== null && !this.#branches.isAncestor(version.record, this.#record)) version = version.older
    return version === null ? genesis().state.get<T>(domain, key) : (version.value as T)
  }

  keys(domain: Domain): string[] {
    const keys = new Set(genesis().state.keys(domain))
    for (const key of this.#versions.keys(this.#chain, domain)) {
      if (!keys.has(key) && this.get(domain, key) !== undefined) keys.add(key)
    }
    return [...keys].sort()
  }
}
