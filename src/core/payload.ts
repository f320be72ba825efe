/** Payload hashes (PROTOCOL.md B.4). All parts are bytes; on the wire they are base64url strings. */
import { type Digest, leaf, merkleRoot, TAG } from './merkle.ts'

/** The hashes over the parts of a payload, 32 bytes each. */
export interface PayloadHashes {
  readonly transactionsHash: Uint8Array
  readonly outputsHash: Uint8Array
  readonly payloadHash: Uint8Array
}

/** Root over miner data and transactions. */
export function transactionsHash(
  minerData: Uint8Array,
  transactions: readonly Uint8Array[],
  digest?: Digest,
): Uint8Array {
  const leaves = transactions.map((bytes) => leaf(TAG.transaction, bytes, digest))
  return merkleRoot([leaf(TAG.minerData, minerData, digest), ...leaves], digest)
}

/** Root over the coinbase output and the transaction outputs. */
export function outputsHash(coinbase: Uint8Array, outputs: readonly Uint8Array[], digest?: Digest): Uint8Array {
  return merkleRoot(outputLeaves(coinbase, outputs, digest), digest)
}

/** The 32-byte leaves whose root is the hash of the outputs. */
export function outputLeaves(coinbase: Uint8Array, outputs: readonly Uint8Array[], digest?: Digest): Uint8Array[] {
  return [leaf(TAG.coinbase, coinbase, digest), ...outputs.map((bytes) => leaf(TAG.transactionOutput, bytes, digest))]
}

/** SHA-512/256(0x01 || transactionsHash || outputsHash). */
export function payloadHash(transactions: Uint8Array, outputs: Uint8Array): Uint8Array {
  return merkleRoot([transactions, outputs])
}

/** All three hashes of a payload with its outputs. */
export function payloadHashes(
  payload: {
    readonly minerData: Uint8Array
    readonly transactions: readonly { readonly transaction: Uint8Array; readonly output: Uint8Array }[]
    readonly coinbase: Uint8Array
  },
  digest?: Digest,
): PayloadHashes {
  const transactionsRoot = transactionsHash(
    payload.minerData,
    payload.transactions.map(({ transaction }) => transaction),
    digest,
  )
  const outputsRoot = outputsHash(
    payload.coinbase,
    payload.transactions.map(({ output }) => output),
    digest,
  )
  return {
    transactionsHash: transactionsRoot,
    outputsHash: outputsRoot,
    payloadHash: payloadHash(transactionsRoot, outputsRoot),
  }
}

/** Who is paid for a block: the body of a request for work and, in this key order, the miner data of its payload. */
export interface MinerAccount {
  readonly account: string
  readonly predicate: string
  readonly publicKeys: readonly string[]
}

/** JSON in the fixed key order `account`, `predicate`, `public-keys`, without spaces (consensus-relevant). */
export function minerDataJson(miner: MinerAccount): string {
  return JSON.stringify({ account: miner.account, predicate: miner.predicate, 'public-keys': miner.publicKeys })
}
