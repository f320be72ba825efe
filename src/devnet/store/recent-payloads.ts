/** Cache in front of a payload store: the same payloads are read again and again. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { RecentItems } from '#ground/base/recent.ts'
import type { StoredPayload } from './payload.ts'
import type { PayloadStore } from './payload-store.ts'

/** Size of each of the two generations of the cache, so it holds at most twice as many bytes. */
const CACHED_BYTES = 8 * 1024 * 1024

export class RecentPayloads implements PayloadStore {
  readonly #store: PayloadStore
  /** Payload hash as in JSON -> payload. */
  readonly #recent = new RecentItems<string, StoredPayload>({
    full: CACHED_BYTES,
    weigh: (_, payload) => bytesOf(payload),
  })

  constructor(store: PayloadStore) {
    this.#store = store
  }

  get(payloadHash: Uint8Array): StoredPayload | undefined {
    const key = encodeBase64Url(payloadHash)
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    const payload = this.#store.get(payloadHash)
    if (payload !== undefined) this.#recent.set(key, payload)
    return payload
  }

  put(payload: StoredPayload): void {
    this.#store.put(payload)
    const key = encodeBase64Url(payload.payloadHash)
    if (!this.#recent.has(key)) this.#recent.set(key, payload)
  }
}

function bytesOf({ minerData, coinbase, transactions }: StoredPayload): number {
  let bytes = minerData.length + coinbase.length
  for (const { transaction, output } of transactions) bytes += transaction.length + output.length
  return bytes
}
