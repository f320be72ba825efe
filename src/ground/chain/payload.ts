/** Payload hashes (PROTOCOL.md B.4). All parts are bytes; on the wire they are base64url strings. */
import { type Digest, leaf, MerkleTree, merkleRoot, TAG } from './merkle.ts'

/** Hashes over the parts of a payload, 32 bytes each. */
export interface PayloadHashes {
  readonly transactionsHash: Uint8Array
  readonly outputsHash: Uint8Array
  readonly payloadHash: Uint8Array
}

/** Merkle root over miner data and transactions. */
export function transactionsHash(minerData: Uint8Array, transactions: readonly Uint8Array[]): Uint8Array {
  const leaves = transactions.map((bytes) => leaf(TAG.transaction, bytes))
  return merkleRoot([leaf(TAG.minerData, minerData), ...leaves])
}

/** Merkle root over the coinbase output and the transaction outputs. */
export function outputsHash(coinbase: Uint8Array, outputs: readonly Uint8Array[]): Uint8Array {
  return merkleRoot(outputLeaves(coinbase, outputs))
}

/** The 32-byte leaves of the outputs hash. */
export function outputLeaves(coinbase: Uint8Array, outputs: readonly Uint8Array[], digest?: Digest): Uint8Array[] {
  return [leaf(TAG.coinbase, coinbase, digest), ...outputs.map((bytes) => leaf(TAG.transactionOutput, bytes, digest))]
}

/** SHA-512/256(0x01 || transactionsHash || outputsHash). */
export function payloadHash(transactions: Uint8Array, outputs: Uint8Array): Uint8Array {
  return merkleRoot([transactions, outputs])
}

/** Hashes of a payload that grows by transactions. */
export class PayloadBuilder {
  readonly #digest: Digest | undefined
  readonly #transactions: MerkleTree
  readonly #outputs: MerkleTree

  constructor({ minerData, coinbase }: { minerData: Uint8Array; coinbase: Uint8Array }, digest?: Digest) {
    this.#digest = digest
    this.#transactions = new MerkleTree(digest)
    this.#outputs = new MerkleTree(digest)
    this.#transactions.append(leaf(TAG.minerData, minerData, digest))
    this.#outputs.append(leaf(TAG.coinbase, coinbase, digest))
  }

  add({ transaction, output }: { readonly transaction: Uint8Array; readonly output: Uint8Array }): void {
    this.#transactions.append(leaf(TAG.transaction, transaction, this.#digest))
    this.#outputs.append(leaf(TAG.transactionOutput, output, this.#digest))
  }

  get hashes(): PayloadHashes {
    const [transactionsHash, outputsHash] = [this.#transactions.root, this.#outputs.root]
    return { transactionsHash, outputsHash, payloadHash: payloadHash(transactionsHash, outputsHash) }
  }
}

/** Computes all three hashes of a payload with its outputs. */
export function payloadHashes(
  payload: {
    readonly minerData: Uint8Array
    readonly transactions: readonly { readonly transaction: Uint8Array; readonly output: Uint8Array }[]
    readonly coinbase: Uint8Array
  },
  digest?: Digest,
): PayloadHashes {
  const growing = new PayloadBuilder(payload, digest)
  for (const each of payload.transactions) growing.add(each)
  return growing.hashes
}

/** Recipient of a block reward: the body of a work request and, in this key order, the miner data of the payload. */
export interface MinerAccount {
  readonly account: string
  readonly predicate: string
  readonly publicKeys: readonly string[]
}

/** JSON with the keys `account`, `predicate`, `public-keys` in this order, without spaces (consensus-relevant). */
export function minerDataJson(miner: MinerAccount): string {
  return JSON.stringify({ account: miner.account, predicate: miner.predicate, 'public-keys': miner.publicKeys })
}
