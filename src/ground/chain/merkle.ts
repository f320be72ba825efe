/** Merkle trees with SHA-512/256, in the shape of RFC 6962 section 2.1 (PROTOCOL.md B.3). */
import { sha512_256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '../base/bytes.ts'

/** Leaf tags, hashed as u16 big-endian. */
export const TAG = {
  chainId: 0x0002,
  height: 0x0003,
  weight: 0x0004,
  featureFlags: 0x0006,
  creationTime: 0x0007,
  version: 0x0008,
  target: 0x0011,
  transaction: 0x0013,
  transactionOutput: 0x0014,
  minerData: 0x0017,
  coinbase: 0x0018,
  epochStart: 0x0019,
  nonce: 0x0020,
} as const

/** SHA-512/256. Platforms with a faster implementation than @noble/hashes may pass their own. */
export type Digest = (bytes: Uint8Array) => Uint8Array

/** Holds the input of one hash at a time. */
const scratch = new Uint8Array(4096)

/** @returns room for the input of a digest, with any content */
function inputOf(bytes: number): Uint8Array {
  return bytes <= scratch.length ? scratch.subarray(0, bytes) : new Uint8Array(bytes)
}

/** SHA-512/256(0x00 || tag u16 BE || bytes). */
export function leaf(tag: number, bytes: Uint8Array, digest: Digest = sha512_256): Uint8Array {
  const input = inputOf(3 + bytes.length)
  input[0] = 0
  input[1] = tag >> 8
  input[2] = tag & 0xff
  input.set(bytes, 3)
  return digest(input)
}

/** SHA-512/256(0x00 || bytes), the leaf without tag of a genesis parent hash (PROTOCOL.md B.5). */
export function untaggedLeaf(bytes: Uint8Array): Uint8Array {
  return sha512_256(concatBytes(Uint8Array.of(0), bytes))
}

/**
 * An append-only tree: node = SHA-512/256(0x01 || left || right), where the left subtree holds the largest power of two
 * below the count. Appending an entry takes about one hash on average, whatever the size.
 */
export class MerkleTree {
  readonly #digest: Digest
  /** Complete subtrees from left to right, in descending size. */
  readonly #full: { readonly root: Uint8Array; readonly entries: number }[] = []

  constructor(digest: Digest = sha512_256) {
    this.#digest = digest
  }

  /** Appends an entry of 32 bytes: a leaf hash, or a hash used as is. */
  append(entry: Uint8Array): void {
    let added = { root: entry, entries: 1 }
    for (let left = this.#full.at(-1); left?.entries === added.entries; left = this.#full.at(-1)) {
      added = { root: this.#node(left.root, added.root), entries: 2 * added.entries }
      this.#full.pop()
    }
    this.#full.push(added)
  }

  /** Root; SHA-512/256 of the empty string if there are no entries. */
  get root(): Uint8Array {
    let root: Uint8Array | null = null
    for (const subtree of this.#full.toReversed()) root = root === null ? subtree.root : this.#node(subtree.root, root)
    return root ?? this.#digest(new Uint8Array(0))
  }

  #node(left: Uint8Array, right: Uint8Array): Uint8Array {
    const input = inputOf(1 + left.length + right.length)
    input[0] = 1
    input.set(left, 1)
    input.set(right, 1 + left.length)
    return this.#digest(input)
  }
}

/** Root of a tree with these 32-byte entries. */
export function merkleRoot(entries: readonly Uint8Array[], digest?: Digest): Uint8Array {
  const tree = new MerkleTree(digest)
  for (const entry of entries) tree.append(entry)
  return tree.root
}
