/** Encodes payloads for the wire, as JSON text and as bytes. */
import type { StoredPayload } from '../../store/payload.ts'

const base64 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')

/** Properties at the end of both JSON forms. */
function hashes({ transactionsHash, outputsHash, payloadHash }: StoredPayload): string {
  const texts = [transactionsHash, outputsHash, payloadHash].map(base64)
  return `"transactionsHash":"${texts[0]}","outputsHash":"${texts[1]}","payloadHash":"${texts[2]}"`
}

/** Encodes PayloadData (schema/bodies.ts). */
export function payloadText(payload: StoredPayload): string {
  const transactions = payload.transactions.map(({ transaction }) => `"${base64(transaction)}"`)
  return `{"transactions":[${transactions}],"minerData":"${base64(payload.minerData)}",${hashes(payload)}}`
}

/** Encodes PayloadWithOutputs (schema/bodies.ts). */
export function payloadOutputsText(payload: StoredPayload): string {
  const pairs = payload.transactions.map(({ transaction, output }) => `["${base64(transaction)}","${base64(output)}"]`)
  const parts = `"minerData":"${base64(payload.minerData)}","coinbase":"${base64(payload.coinbase)}"`
  return `{"transactions":[${pairs}],${parts},${hashes(payload)}}`
}

/**
 * Encodes a payload in the binary form and order of live nodes (PROTOCOL.md E.1). Lengths and counts are u64 BE (8
 * bytes):
 *
 *     count || (length || transaction) x count || length || miner data ||
 *     payloadHash (32) || transactionsHash (32) || outputsHash (32)
 */
export function payloadBytes(payload: StoredPayload): Buffer {
  const transactions = payload.transactions.map(({ transaction }) => withLength(transaction))
  return Buffer.concat([u64BE(transactions.length), ...transactions, withLength(payload.minerData), tail(payload)])
}

/**
 * Like payloadBytes, with outputs:
 *
 *     count || (length || transaction || length || output) x count || length || miner data || length || coinbase ||
 *     payloadHash (32) || transactionsHash (32) || outputsHash (32)
 */
export function payloadOutputsBytes(payload: StoredPayload): Buffer {
  const pairs = payload.transactions.flatMap(({ transaction, output }) => [withLength(transaction), withLength(output)])
  const parts = [withLength(payload.minerData), withLength(payload.coinbase)]
  return Buffer.concat([u64BE(payload.transactions.length), ...pairs, ...parts, tail(payload)])
}

function u64BE(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

const withLength = (bytes: Uint8Array) => Buffer.concat([u64BE(bytes.length), bytes])
const tail = ({ payloadHash, transactionsHash, outputsHash }: StoredPayload) =>
  Buffer.concat([payloadHash, transactionsHash, outputsHash])
