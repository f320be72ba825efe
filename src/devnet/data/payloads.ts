/** Payloads on disk, read on demand. */
import type { StoredPayload } from '../store/payload.ts'
import { decodePayloadRecord } from '../store/payload-record.ts'
import type { PayloadStore } from '../store/payload-store.ts'
import { type Database, readValue, type StoredEntry, unseal } from './database.ts'
import { payloadEntry, payloadKey } from './records.ts'

export class DiskPayloads implements PayloadStore {
  readonly #database: Database
  /** Key -> record that is not on disk yet. */
  readonly #unwritten = new Map<string, StoredEntry>()

  constructor(database: Database) {
    this.#database = database
  }

  get unwritten(): readonly StoredEntry[] {
    return [...this.#unwritten.values()]
  }

  /** Finds payloads as soon as they are put. @throws NewcutError DATA_UNUSABLE for a damaged record */
  get(payloadHash: Uint8Array): StoredPayload | undefined {
    const key = payloadKey(payloadHash)
    const unwritten = this.#unwritten.get(key)
    const record = unwritten === undefined ? readValue(this.#database, key) : unseal(unwritten.value)
    return record === undefined ? undefined : decodePayloadRecord(record)
  }

  /** Writes the payload even if it is there already: that is cheaper than looking it up. */
  put(payload: StoredPayload): void {
    const entry = payloadEntry(payload)
    this.#unwritten.set(entry.key, entry)
  }

  /** Call it once these entries are on disk. */
  forgetWritten(entries: readonly StoredEntry[]): void {
    for (const { key } of entries) this.#unwritten.delete(key)
  }
}
