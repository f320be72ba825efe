/**
 * Fetches the id of the first transaction above the pin. No native tells it, but outputs of the pinned block have ids:
 * its reward takes one, and each of its transactions takes three.
 */
import { decodeBase64Url } from '../base/bytes.ts'
import { type ExactJson, fieldsOf, parseExactJson, unlessMalformed } from '../base/json.ts'
import type { Asker } from './asker.ts'
import type { ForkCache } from './cache.ts'
import { pinnedPayload } from './payload-fetch.ts'

/** Place of the counter in the cache. */
export const COUNTER_KEY = 'counter:tx'
/** Ids that a transaction of a block takes. Its result names the second one. */
const IDS_OF_TRANSACTION = 3

const decoder = new TextDecoder()

/** Caches the next id, or false if the node no longer has the outputs of the pinned block. */
export async function fetchCounter(asker: Asker, cache: ForkCache): Promise<void> {
  const payload = await pinnedPayload(asker, cache)
  cache.put(COUNTER_KEY, (payload === null ? null : nextId(payload, asker.block.height)) ?? false)
}

/** @returns null if no output has an id */
function nextId({ transactions, coinbase }: Readonly<Record<string, ExactJson>>, height: number): number | null {
  const outputs = Array.isArray(transactions) ? (transactions as readonly ExactJson[]) : []
  const ids = outputs.map((each) => (Array.isArray(each) ? idIn((each as readonly ExactJson[])[1]) : null))
  // Transactions of the first block take one id each.
  if (height === 0) return ids.length === 0 ? null : Math.max(...ids.map((id) => id ?? 0)) + 1
  const told = ids.findIndex((id) => id !== null)
  const before = (ids[told] ?? 0) - IDS_OF_TRANSACTION * told - 2
  const reward = idIn(coinbase) ?? (told < 0 ? null : before)
  return reward === null ? null : reward + 1 + IDS_OF_TRANSACTION * outputs.length
}

/** The id in an output of a payload, which is base64url of JSON. */
function idIn(output: ExactJson | undefined): number | null {
  if (typeof output !== 'string') return null
  const json = unlessMalformed(() => parseExactJson(decoder.decode(decodeBase64Url(output, 'output'))))
  const { txId } = fieldsOf(json)
  return typeof txId === 'number' ? txId : null
}
