/** Payloads for blocks of tests, on chains that execute no transactions. */

import type { NonceSearch } from '../../src/devnet/control/nonce-search.ts'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import type { Header } from '../../src/ground/chain/header.ts'
import { type MinerAccount, minerDataJson, payloadHashes } from '../../src/ground/chain/payload.ts'

/** The nonce search of networks without proof of work. */
export const noSearch: NonceSearch = {
  search: () => Promise.reject(new Error('nothing is to be searched')),
  close: () => Promise.resolve(),
}

const encoder = new TextEncoder()

/** The payload of an empty block on top of `parent`. Its coinbase changes no state. */
export function blockPayload(miner: MinerAccount, parent: Header): StoredPayload {
  const coinbase = {
    gas: 0,
    result: { status: 'success', data: 'Write succeeded' },
    reqKey: encodeBase64Url(encoder.encode(encodeBase64Url(parent.hash))),
    logs: null,
    metaData: null,
    continuation: null,
    txId: null,
  }
  const parts = {
    minerData: encoder.encode(minerDataJson(miner)),
    transactions: [],
    coinbase: encoder.encode(JSON.stringify(coinbase)),
  }
  return { ...parts, ...payloadHashes(parts) }
}
