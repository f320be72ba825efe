/**
 * A payload with its outputs as one record:
 *
 *     transactionsHash (32) || outputsHash (32) || payloadHash (32) || part || part || ...
 *     part = length u32 LE (4) || bytes
 *     parts: miner data, coinbase output, then transaction and output in turn
 */
import { concatBytes } from '#ground/base/bytes.ts'
import { chainBytes } from '#ground/chain/work.ts'
import type { StoredPayload } from './payload.ts'

const HASH_BYTES = 32
const LENGTH_BYTES = 4

export function encodePayloadRecord(payload: StoredPayload): Uint8Array {
  const transactions = payload.transactions.flatMap(({ transaction, output }) => [transaction, output])
  const parts = [payload.minerData, payload.coinbase, ...transactions].flatMap((part) => [
    chainBytes(part.length),
    part,
  ])
  return concatBytes(payload.transactionsHash, payload.outputsHash, payload.payloadHash, ...parts)
}

/** Decodes a record; the parts are views of it. @throws RangeError for other bytes */
export function decodePayloadRecord(record: Uint8Array): StoredPayload {
  const hashAt = (index: number) => record.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
  const parts: Uint8Array[] = []
  // One view for all lengths: one for each of them took most of the time.
  const view = new DataView(record.buffer, record.byteOffset, record.length)
  let at = 3 * HASH_BYTES
  while (at < record.length) {
    const end = at + LENGTH_BYTES + view.getUint32(at, true)
    if (end > record.length) throw new RangeError(`payload record: a part ends at ${end} of ${record.length} bytes`)
    parts.push(record.subarray(at + LENGTH_BYTES, end))
    at = end
  }
  const [minerData, coinbase, ...rest] = parts
  if (coinbase === undefined || rest.length % 2 !== 0) throw new RangeError(`payload record: ${parts.length} parts`)
  const transactions = []
  for (let i = 0; i < rest.length; i += 2) transactions.push({ transaction: rest[i], output: rest[i + 1] })
  return {
    transactionsHash: hashAt(0),
    outputsHash: hashAt(1),
    payloadHash: hashAt(2),
    minerData,
    coinbase,
    transactions,
  }
}
