/** LRU cache in front of a payload store: the same payloads are read again and again. */
import { encodeBase64Url } from '../../base/bytes.ts'
import type { StoredPayload } from './payload.ts'
import type { PayloadStore } from './payload-store.ts'

/** Most bytes of cached payloads. */
const MAX_BYTES = 16 * 1024 * 1024

export class RecentPayloads implements PayloadStore {
  readonly #kept: PayloadStore
  /** Payload hash as in JSON -> payload, least recently used first. */
  readonly #recent = new Map<string, { readonly payload: StoredPayload; readonly bytes: number }>()
  #bytes = 0

  constructor(kept: PayloadStore) {
    this.#kept = kept
  }

  get(payloadHash: Uint8Array): StoredPayload | undefined {
    const key = encodeBase64Url(payloadHash)
    const recent = this.#recent.get(key)
    if (recent !== undefined) {
      this.#recent.delete(key)
      this.#recent.set(key, recent)
      return recent.payload
    }
    const payload = this.#kept.get(payloadHash)
    if (payload !== undefined) this.#remember(key, payload)
    return payload
  }

  put(payload: StoredPayload): void {
    this.#kept.put(payload)
    const key = encodeBase64Url(payload.payloadHash)
    if (!this.#recent.has(key)) this.#remember(key, payload)
  }

  #remember(key: string, payload: StoredPayload): void {
    const bytes = bytesOf(payload)
    this.#recent.set(key, { payload, bytes })
    this.#bytes += bytes
    for (const [oldest, { bytes: freed }] of this.#recent) {
      if (this.#bytes <= MAX_BYTES) return
      this.#recent.delete(oldest)
      this.#bytes -= freed
    }
  }
}

function bytesOf({ minerData, coinbase, transactions }: StoredPayload): number {
  let bytes = minerData.length + coinbase.length
  for (const { transaction, output } of transactions) bytes += transaction.length + output.length
  return bytes
}
