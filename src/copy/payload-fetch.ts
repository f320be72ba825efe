/** Fetches the payload of a pinned block, with the outputs of its transactions. */
import { type ExactJson, fieldsOf, type JsonFields, parseExactJson } from '../base/json.ts'
import type { Asker } from './asker.ts'
import type { ForkCache } from './cache.ts'
import { payloadHashIn } from './module-fetch.ts'
import { rootOf } from './pin.ts'

/** Place of the pinned header in the cache, in base64url. */
export const HEADER_KEY = 'header'
const PAYLOAD_KEY = 'payload'

/**
 * The payload of the pinned block, cached or from the node.
 * @returns null if the node no longer has it
 */
export async function pinnedPayload(asker: Asker, cache: ForkCache): Promise<JsonFields | null> {
  if (!cache.has(PAYLOAD_KEY)) {
    const { network, chain } = asker.block
    const root = `${rootOf(network)}/chain/${chain}`
    const payloadHash = await hashOf(asker, cache, root)
    const payload = payloadHash === null ? null : await asker.remote.get(`${root}/payload/${payloadHash}/outputs`)
    cache.put(PAYLOAD_KEY, payload?.status === 200 ? partsOf(parseExactJson(payload.text)) : false)
    cache.save()
  }
  const kept = cache.get(PAYLOAD_KEY)
  return kept === false ? null : (kept as JsonFields)
}

/** Hash of the payload in the pinned header. @returns null if the node does not tell the header */
async function hashOf({ remote, block }: Asker, cache: ForkCache, root: string): Promise<string | null> {
  const kept = cache.get(HEADER_KEY)
  if (typeof kept === 'string') return payloadHashIn(JSON.stringify(kept))
  const { status, text } = await remote.get(`${root}/header/${block.hash}`)
  return status === 200 ? payloadHashIn(text) : null
}

function partsOf(json: ExactJson): JsonFields {
  const { transactions = [], minerData = '', coinbase = '' } = fieldsOf(json)
  return { transactions, minerData, coinbase }
}
