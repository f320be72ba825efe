/** Entries that a state has still to fetch from elsewhere. */
import type { Domain, ReadableState } from './state.ts'

/**
 * Ends a run that reads an entry that is not there yet. It is no failure of the code, so neither `try` nor `enforce-one`
 * nor a guard catches it: the caller drops the run, fetches the entry and runs again.
 */
export class MissingEntry extends Error {
  readonly domain: Domain
  /** Key of the entry, or null for the keys of the whole domain. */
  readonly key: string | null
  /** The state that misses it. */
  readonly state: ReadableState

  constructor(state: ReadableState, domain: Domain, key: string | null) {
    // A run may miss many entries, and each stack trace would take longer than the run.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(`${domain} ${key ?? '(all keys)'} is not fetched yet`)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'MissingEntry'
    this.state = state
    this.domain = domain
    this.key = key
  }

  /** Whether the entry is there by now: another run may have had it fetched. */
  get isFetched(): boolean {
    try {
      if (this.key === null) this.state.keys(this.domain)
      else this.state.get(this.domain, this.key)
    } catch (error) {
      return !(error instanceof MissingEntry)
    }
    return true
  }
}
