/** The block hash of work that has many solutions: what they share is hashed once. */
import { blockLeaves, NONCE_LEAF } from './block-hash.ts'
import { workLayout } from './header.ts'
import { type Digest, leaf, TAG } from './merkle.ts'
import { merkleSteps, rootOf } from './merkle-path.ts'

/**
 * The block hashes of work whose nonce is open: 5 hashes for each instead of 22 in a graph of degree 3, since all others
 * are made here.
 * The function takes the same work with any nonce. Throws FormatError for bytes that are not work.
 */
export function openBlockHash(work: Uint8Array, digest?: Digest): (work: Uint8Array) => Uint8Array {
  const steps = merkleSteps(blockLeaves(work, digest), NONCE_LEAF, digest)
  return (solved) => rootOf(leaf(TAG.nonce, solved.subarray(workLayout(solved).nonce), digest), steps, digest)
}
