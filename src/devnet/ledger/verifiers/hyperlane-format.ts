/**
 * Decodes messages of Hyperlane 3 and the metadata that proves them, as node release 3.2 does. Integers are big-endian.
 */
import { concatBytes } from '#ground/base/bytes.ts'

export interface HyperlaneMessage {
  readonly version: number
  readonly nonce: number
  readonly originDomain: number
  readonly sender: Uint8Array
  readonly destinationDomain: number
  readonly recipient: Uint8Array
  readonly body: Uint8Array
}

/** Metadata with a Merkle proof of the message. */
interface MerkleMetadata {
  /** Address of the Merkle tree on the chain of origin. */
  readonly treeAddress: Uint8Array
  /** Position of the message in the tree. */
  readonly index: number
  readonly checkpointId: Uint8Array
  readonly proof: readonly Uint8Array[]
  readonly checkpointIndex: number
  readonly signatures: readonly Uint8Array[]
}

/** Metadata with the signed root. */
interface RootMetadata {
  readonly treeAddress: Uint8Array
  readonly root: Uint8Array
  readonly index: number
  readonly signatures: readonly Uint8Array[]
}

const WORD = 32
/** Levels of the tree between a message and the root. */
const TREE_DEPTH = 32
const SIGNATURE_BYTES = 65

/** Reads bytes from the front. @throws RangeError if too few are left */
class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  take(count: number): Uint8Array {
    const end = this.#at + count
    if (end > this.#bytes.length) throw new RangeError(`${this.#bytes.length} bytes; expected ${end} or more`)
    const part = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return part
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  u8(): number {
    return this.take(1)[0]
  }

  u32(): number {
    const bytes = this.take(4)
    return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
  }

  /** All whole signatures in the rest. */
  signatures(): Uint8Array[] {
    const rest = this.rest()
    const count = Math.floor(rest.length / SIGNATURE_BYTES)
    return Array.from({ length: count }, (_, i) => rest.subarray(i * SIGNATURE_BYTES, (i + 1) * SIGNATURE_BYTES))
  }
}

export function u32BE(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

/** Decodes a message. @throws RangeError for fewer than 77 bytes */
export function messageFrom(bytes: Uint8Array): HyperlaneMessage {
  const reader = new ByteReader(bytes)
  return {
    version: reader.u8(),
    nonce: reader.u32(),
    originDomain: reader.u32(),
    sender: reader.take(WORD),
    destinationDomain: reader.u32(),
    recipient: reader.take(WORD),
    body: reader.rest(),
  }
}

/** Decodes metadata with a Merkle proof. @throws RangeError for fewer than 1096 bytes */
export function merkleMetadataFrom(bytes: Uint8Array): MerkleMetadata {
  const reader = new ByteReader(bytes)
  return {
    treeAddress: reader.take(WORD),
    index: reader.u32(),
    checkpointId: reader.take(WORD),
    proof: Array.from({ length: TREE_DEPTH }, () => reader.take(WORD)),
    checkpointIndex: reader.u32(),
    signatures: reader.signatures(),
  }
}

/** Decodes metadata with a root. @throws RangeError for fewer than 68 bytes */
export function rootMetadataFrom(bytes: Uint8Array): RootMetadata {
  const reader = new ByteReader(bytes)
  return {
    treeAddress: reader.take(WORD),
    root: reader.take(WORD),
    index: reader.u32(),
    signatures: reader.signatures(),
  }
}

/** Root of a Merkle tree of Hyperlane, from a leaf, its position, and the sibling hashes on its path. */
export function branchRoot(
  { leaf, index, proof }: { readonly leaf: Uint8Array; readonly index: number; readonly proof: readonly Uint8Array[] },
  hash: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  return proof.reduce((current, beside, height) => {
    const isRight = ((index >>> height) & 1) === 1
    return hash(isRight ? concatBytes(beside, current) : concatBytes(current, beside))
  }, leaf)
}
