/** Compares the writes of re-executed blocks with the state database. */
import { describeError } from '#ground/base/errors.ts'
import type { LayerEntry } from '#language/contracts/machine/state.ts'
import { entryText } from '../ledger/entry-text.ts'
import { MemoryVersions } from '../ledger/versions.ts'
import type { StateDatabase } from './state-database.ts'

export class ComparedVersions extends MemoryVersions {
  readonly #state: StateDatabase | null
  readonly #onDifference: (record: number, what: string) => void

  /** @param state null if there is nothing to compare with */
  constructor(state: StateDatabase | null, onDifference: (record: number, what: string) => void) {
    super()
    this.#state = state
    this.#onDifference = onDifference
  }

  override add(chain: number, record: number, entries: Iterable<LayerEntry>): void {
    const written = [...entries]
    super.add(chain, record, written)
    if (this.#state === null || record >= this.#state.blocks) return
    for (const entry of written) {
      const difference = this.#difference(this.#state, chain, record, entry)
      if (difference !== null) this.#onDifference(record, difference)
    }
  }

  #difference(state: StateDatabase, chain: number, record: number, entry: LayerEntry): string | null {
    const { domain, key } = entry
    const place = `the entry ${JSON.stringify(key)} of ${domain}`
    try {
      const kept = state.versions.writtenBy(record, chain, domain, key)
      if (kept === null || kept.record !== record) return `${place} is not in the state database`
      return entryText({ domain, key, value: kept.value }) === entryText(entry)
        ? null
        : `${place} has another value in the state database`
    } catch (error) {
      return `${place}: ${describeError(error)}`
    }
  }
}
