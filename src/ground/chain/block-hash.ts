/** Block hash: Merkle root over the fields of a header (PROTOCOL.md B.3). Not the proof-of-work hash. */
import { ADJACENT_BYTES, workLayout } from './header.ts'
import { type Digest, leaf, merkleRoot, TAG } from './merkle.ts'

/** Leaf index of the payload hash. */
export const PAYLOAD_LEAF = 4
/** Leaf index of the nonce. */
export const NONCE_LEAF = 10
/** Leaf index of the first adjacent hash. */
export const FIRST_ADJACENT_LEAF = 11

/**
 * Computes the block hash (32 bytes) of work bytes with their final nonce.
 * @throws FormatError if the bytes are not work
 */
export function blockHash(work: Uint8Array, digest?: Digest): Uint8Array {
  return merkleRoot(blockLeaves(work, digest), digest)
}

/**
 * The 32-byte leaves of the block hash.
 * @throws FormatError if the bytes are not work
 */
export function blockLeaves(work: Uint8Array, digest?: Digest): Uint8Array[] {
  const at = workLayout(work)
  const field = (offset: number, size: number) => work.subarray(offset, offset + size)
  const leaves = [
    leaf(TAG.featureFlags, field(at.featureFlags, 8), digest),
    leaf(TAG.creationTime, field(at.creationTime, 8), digest),
    field(at.parent, 32),
    leaf(TAG.target, field(at.target, 32), digest),
    field(at.payloadHash, 32),
    leaf(TAG.chainId, field(at.chainId, 4), digest),
    leaf(TAG.weight, field(at.weight, 32), digest),
    leaf(TAG.height, field(at.height, 8), digest),
    leaf(TAG.version, field(at.version, 4), digest),
    leaf(TAG.epochStart, field(at.epochStart, 8), digest),
    leaf(TAG.nonce, field(at.nonce, 8), digest),
  ]
  // Adjacent hashes come last, ordered by chain, without their chain ids.
  for (let offset = at.adjacents; offset < at.target; offset += ADJACENT_BYTES) leaves.push(field(offset + 4, 32))
  return leaves
}
