/** Reads payloads with outputs from the JSON of nodes. */
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { payloadHashes } from '#ground/chain/payload.ts'
import type { PayloadWithOutputs } from '#ground/schema/bodies.ts'
import type { StoredPayload } from './payload.ts'

type PayloadJson = Pick<PayloadWithOutputs, 'minerData' | 'coinbase' | 'transactions'>

/** Computes hashes instead of reading them. @throws FormatError */
export function payloadFromJson(json: PayloadJson): StoredPayload {
  const parts = {
    minerData: decodeBase64Url(json.minerData, 'minerData'),
    coinbase: decodeBase64Url(json.coinbase, 'coinbase'),
    transactions: json.transactions.map(([transaction, output]) => ({
      transaction: decodeBase64Url(transaction, 'transaction'),
      output: decodeBase64Url(output, 'output'),
    })),
  }
  return { ...parts, ...payloadHashes(parts) }
}
