/**
 * Payloads of the embedded network (PROTOCOL.md B.4): miner data, transactions, and a coinbase that names the parent.
 */
import { decodeBase64Url, decodeHash } from '#ground/base/bytes.ts'
import { minerDataJson, type PayloadHashes, payloadHashes } from '#ground/chain/payload.ts'

export interface StoredPayload extends PayloadHashes {
  readonly minerData: Uint8Array
  readonly transactions: readonly { readonly transaction: Uint8Array; readonly output: Uint8Array }[]
  readonly coinbase: Uint8Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Default payload of genesis blocks: that of an empty block on networks without contracts. */
export const emptyPayload: StoredPayload = genesisPayload()

function genesisPayload(): StoredPayload {
  const coinbase = {
    gas: 0,
    result: { status: 'success', data: 'NO_COINBASE' },
    reqKey: 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g',
    logs: null,
    metaData: null,
    continuation: null,
    txId: null,
  }
  const parts = {
    minerData: encoder.encode(minerDataJson({ account: 'NoMiner', predicate: '<', publicKeys: [] })),
    transactions: [],
    coinbase: encoder.encode(JSON.stringify(coinbase)),
  }
  return { ...parts, ...payloadHashes(parts) }
}

/** @returns the parent hash that the coinbase of a payload names, or null if it names none, as in a genesis block */
export function coinbaseParent({ coinbase }: StoredPayload): Uint8Array | null {
  // Payloads of peers may hold anything. 58 characters encode the 43 of a hash; 60, as in old blocks, the hash in
  // quotes.
  const reqKey = /"reqKey":"([\w-]{58}|[\w-]{60})"/.exec(decoder.decode(coinbase))
  const named = reqKey === null ? null : /^("?)([\w-]{43})\1$/.exec(decoder.decode(decodeBase64Url(reqKey[1])))
  return named === null ? null : decodeHash(named[2])
}
