/** Payloads of the embedded network (PROTOCOL.md B.4): miner data, transactions, a coinbase that names the parent. */
import { decodeBase64Url, decodeHash, encodeBase64Url } from '../../core/bytes.ts'
import { type MinerAccount, minerDataJson, type PayloadHashes, payloadHashes } from '../../core/payload.ts'

export interface Payload extends PayloadHashes {
  readonly minerData: Uint8Array
  readonly transactions: readonly { readonly transaction: Uint8Array; readonly output: Uint8Array }[]
  readonly coinbase: Uint8Array
}

/** What a payload needs to know of a transaction. */
export interface SignedTransaction {
  /** Request key. */
  readonly key: string
  /** JSON of the signed command. */
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function payloadOf(miner: MinerAccount, coinbase: object, transactions: readonly SignedTransaction[] = []): Payload {
  const parts = {
    minerData: encoder.encode(minerDataJson(miner)),
    transactions: transactions.map(({ key, bytes }) => ({
      transaction: bytes,
      output: encoder.encode(JSON.stringify(notExecuted(key))),
    })),
    coinbase: encoder.encode(JSON.stringify(coinbase)),
  }
  return { ...parts, ...payloadHashes(parts) }
}

/** The command result of every transaction (PROTOCOL.md E.1), in the key order of live nodes. */
function notExecuted(requestKey: string) {
  const error = { callStack: [], type: 'TxFailure', message: 'this network executes no contracts', info: '' }
  return {
    gas: 0,
    result: { status: 'failure', error },
    reqKey: requestKey,
    logs: null,
    metaData: null,
    continuation: null,
    txId: null,
  }
}

/**
 * The payload of a block with these transactions that pays `miner` on top of the parent with this hash. Because the
 * coinbase names the parent, payload hashes differ from block to block: they are the key under which a solution finds
 * its payload.
 */
export function blockPayload(
  miner: MinerAccount,
  parentHash: Uint8Array,
  transactions: readonly SignedTransaction[] = [],
): Payload {
  const coinbase = {
    gas: 0,
    result: { status: 'success', data: 'Write succeeded' },
    reqKey: encodeBase64Url(encoder.encode(JSON.stringify(encodeBase64Url(parentHash)))),
    logs: null,
    metaData: null,
    continuation: null,
    txId: null,
  }
  return payloadOf(miner, coinbase, transactions)
}

/** The payload of every genesis block: the one that networks without contracts use for an empty block. */
export const emptyPayload: Payload = payloadOf(
  { account: 'NoMiner', predicate: '<', publicKeys: [] },
  {
    gas: 0,
    result: { status: 'success', data: 'NO_COINBASE' },
    reqKey: 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g',
    logs: null,
    metaData: null,
    continuation: null,
    txId: null,
  },
)

/** The hash of the block that the coinbase of a payload names; null when it names none, as in a genesis block. */
export function coinbaseParent({ coinbase }: Payload): Uint8Array | null {
  // Payloads of peers may hold anything: 60 characters are 45 bytes, the hash in quotes.
  const reqKey = /"reqKey":"([\w-]{60})"/.exec(decoder.decode(coinbase))
  const named = reqKey === null ? null : /^"([\w-]{43})"$/.exec(decoder.decode(decodeBase64Url(reqKey[1])))
  return named === null ? null : decodeHash(named[1])
}
