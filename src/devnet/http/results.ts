/** Looks up command results by request key: in blocks, of private commands, and of badlisted commands. */
import type { FoundResult, Ledger } from '../ledger/ledger.ts'
import type { PrivateLedger } from '../ledger/private.ts'
import type { Mempools } from '../mempool/mempools.ts'
import { BADLISTED } from '../mempool/refusals.ts'
import { failedResult, placedResult } from './encode/result-text.ts'

interface ResultsOptions {
  readonly ledger: Ledger
  readonly privateLedger: PrivateLedger
  readonly pools: Mempools
}

export class CommandResults {
  readonly #options: ResultsOptions

  constructor(options: ResultsOptions) {
    this.#options = options
  }

  /** @returns the result on the first of these chains that has it in a block, or null */
  block(
    chains: readonly number[],
    key: string,
    confirmationDepth = 0,
  ): (FoundResult & { readonly chain: number }) | null {
    for (const chain of chains) {
      const found = this.#options.ledger.result(chain, key, confirmationDepth)
      if (found !== null) return { ...found, chain }
    }
    return null
  }

  /** @returns the result on these chains as JSON text, or null */
  find(chains: readonly number[], key: string, confirmationDepth = 0): string | null {
    const found = this.block(chains, key, confirmationDepth)
    if (found !== null) return placedResult(found.output, found.block)
    const { privateLedger, pools } = this.#options
    for (const chain of chains) {
      const result = privateLedger.result(chain, key)
      if (result !== null) return result
    }
    return chains.some((chain) => pools.isBadlisted(chain, key)) ? failedResult(key, BADLISTED) : null
  }
}
