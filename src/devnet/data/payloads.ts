/** Payloads on disk, read when somebody asks. */
import type { Payload } from '../store/payload.ts'
import { decodePayloadRecord } from '../store/payload-record.ts'
import type { PayloadStore } from '../store/payload-store.ts'
import { type Database, type Entry, readValue, unseal } from './database.ts'
import { payloadEntry, payloadKey } from './records.ts'

export class DiskPayloads implements PayloadStore {
  readonly #database: Database
  /** Key -> what is not on disk yet. */
  readonly #unwritten = new Map<string, Entry>()

  constructor(database: Database) {
    this.#database = database
  }

  get unwritten(): readonly Entry[] {
    return [...this.#unwritten.values()]
  }

  /** A payload that was just put is there. Throws NewcutError DATA_UNUSABLE for one that is damaged. */
  get(payloadHash: Uint8Array): Payload | undefined {
    const key = payloadKey(payloadHash)
    const unwritten = this.#unwritten.get(key)
    const record = unwritten === undefined ? readValue(this.#database, key) : unseal(unwritten.value)
    return record === undefined ? undefined : decodePayloadRecord(record)
  }

  /** The same payload once more is written once more: cheaper than to look whether it is there. */
  put(payload: Payload): void {
    const entry = payloadEntry(payload)
    this.#unwritten.set(entry.key, entry)
  }

  /** These are on disk now. */
  written(entries: readonly Entry[]): void {
    for (const { key } of entries) this.#unwritten.delete(key)
  }
}
