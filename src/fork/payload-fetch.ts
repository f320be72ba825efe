/** Fetches the payload of a pinned block, with the outputs of its transactions. */
import { type ExactJson, parseExactJson } from '../core/json.ts'
import { type AnswerFields, type Asker, fieldsOf } from './asker.ts'
import type { ForkCache } from './cache.ts'
import { payloadHashIn } from './module-fetch.ts'
import { rootOf } from './pin.ts'

const PAYLOAD_KEY = 'payload'

/**
 * The payload of the pinned block, cached or from the node.
 * @returns null if the node no longer has it
 */
export async function pinnedPayload(asker: Asker, cache: ForkCache): Promise<AnswerFields | null> {
  if (!cache.has(PAYLOAD_KEY)) {
    const { network, chain, hash } = asker.block
    const root = `${rootOf(network)}/chain/${chain}`
    const header = await asker.remote.get(`${root}/header/${hash}`)
    const payloadHash = header.status === 200 ? payloadHashIn(header.text) : null
    const payload = payloadHash === null ? null : await asker.remote.get(`${root}/payload/${payloadHash}/outputs`)
    cache.put(PAYLOAD_KEY, payload?.status === 200 ? partsOf(parseExactJson(payload.text)) : false)
    cache.save()
  }
  const kept = cache.get(PAYLOAD_KEY)
  return kept === false ? null : (kept as AnswerFields)
}

function partsOf(json: ExactJson): AnswerFields {
  const { transactions = [], minerData = '', coinbase = '' } = fieldsOf(json)
  return { transactions, minerData, coinbase }
}
