/**
 * Fetches the payload of a pinned block, with the outputs of its transactions, and the id of the first transaction above
 * the pin. No native returns that id, but outputs of the pinned block have ids: its reward takes one, and each of its
 * transactions takes three.
 */
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { type ExactJson, fieldsOf, type JsonFields, parseExactJson, unlessMalformed } from '#ground/base/json.ts'
import type { CopyEntries, EntrySource } from './entries.ts'
import { payloadHashIn } from './module-fetch.ts'
import { networkPath } from './pin.ts'
import type { PinnedCaller } from './pinned-caller.ts'

/** Ids that a transaction of a block takes. Its result names the second one. */
const IDS_OF_TRANSACTION = 3

const decoder = new TextDecoder()

/**
 * The payload of the pinned block, cached or from the node.
 * @returns null if the node no longer has it
 */
export async function pinnedPayload(caller: PinnedCaller, entries: CopyEntries): Promise<JsonFields | null> {
  if (entries.payload.get() === undefined) {
    const { network, chain } = caller.block
    const root = `${networkPath(network)}/chain/${chain}`
    const payloadHash = await hashOf(caller, entries, root)
    const payload = payloadHash === null ? null : await caller.remote.get(`${root}/payload/${payloadHash}/outputs`)
    entries.payload.put(payload?.status === 200 ? partsOf(parseExactJson(payload.text)) : false)
    entries.save()
  }
  const payload = entries.payload.expect()
  return payload === false ? null : payload
}

/** Hash of the payload in the pinned header. @returns null if the node does not return the header */
async function hashOf({ remote, block }: PinnedCaller, { header }: CopyEntries, root: string): Promise<string | null> {
  const cached = header.get()
  if (cached !== undefined) return payloadHashIn(JSON.stringify(cached))
  const { status, text } = await remote.get(`${root}/header/${block.hash}`)
  return status === 200 ? payloadHashIn(text) : null
}

function partsOf(json: ExactJson): JsonFields {
  const { transactions = [], minerData = '', coinbase = '' } = fieldsOf(json)
  return { transactions, minerData, coinbase }
}

/** Caches the next id, or false if the node no longer has the outputs of the pinned block. */
export async function fetchCounter(source: EntrySource, name: string): Promise<void> {
  const { caller, entries } = source
  const payload = await pinnedPayload(caller, entries)
  entries.counters.put(name, (payload === null ? null : nextId(payload, caller.block.height)) ?? false)
}

/** @returns null if no output has an id */
function nextId({ transactions, coinbase }: Readonly<Record<string, ExactJson>>, height: number): number | null {
  const outputs = Array.isArray(transactions) ? (transactions as readonly ExactJson[]) : []
  const ids = outputs.map((each) => (Array.isArray(each) ? idIn((each as readonly ExactJson[])[1]) : null))
  // Transactions of the first block take one id each.
  if (height === 0) return ids.length === 0 ? null : Math.max(...ids.map((id) => id ?? 0)) + 1
  const firstWithId = ids.findIndex((id) => id !== null)
  const before = (ids[firstWithId] ?? 0) - IDS_OF_TRANSACTION * firstWithId - 2
  const reward = idIn(coinbase) ?? (firstWithId < 0 ? null : before)
  return reward === null ? null : reward + 1 + IDS_OF_TRANSACTION * outputs.length
}

/** The id in an output of a payload, which is base64url of JSON. */
function idIn(output: ExactJson | undefined): number | null {
  if (typeof output !== 'string') return null
  const json = unlessMalformed(() => parseExactJson(decoder.decode(decodeBase64Url(output, 'output'))))
  const { txId } = fieldsOf(json)
  return typeof txId === 'number' ? txId : null
}
