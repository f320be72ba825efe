/** Payloads with their outputs, by payload hash. */

import { ByteArena } from './byte-arena.ts'
import { HashIndex } from './hash-index.ts'
import type { StoredPayload } from './payload.ts'
import { decodePayloadRecord, encodePayloadRecord } from './payload-record.ts'

export interface PayloadStore {
  readonly get: (payloadHash: Uint8Array) => StoredPayload | undefined
  /** Payloads never change: an existing one stays. */
  readonly put: (payload: StoredPayload) => void
}

const PAYLOAD_HASH_OFFSET = 64

export class MemoryPayloads implements PayloadStore {
  readonly #slab = new ByteArena()
  readonly #places: number[] = []
  readonly #lengths: number[] = []
  readonly #byHash = new HashIndex((record) => this.#slab.read(this.#places[record] + PAYLOAD_HASH_OFFSET, 32))

  get(payloadHash: Uint8Array): StoredPayload | undefined {
    const record = this.#byHash.find(payloadHash)
    return record < 0 ? undefined : decodePayloadRecord(this.#slab.read(this.#places[record], this.#lengths[record]))
  }

  put(payload: StoredPayload): void {
    if (this.#byHash.find(payload.payloadHash) >= 0) return
    const record = encodePayloadRecord(payload)
    this.#places.push(this.#slab.append(record))
    this.#lengths.push(record.length)
    this.#byHash.add(this.#places.length - 1)
  }
}
