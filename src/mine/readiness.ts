/**
 * Prepares work for its solution, once the engines search it. Cold code would delay each solution: 0.7 ms for the first
 * proof of work of a process, 11 ms for the first block hash. So both run once for each work.
 */
import { openBlockHash } from '../core/open-block-hash.ts'
import { powHash } from '../core/pow.ts'

/** Computes the block hash of one work with any nonce. */
export type BlockHashOf = (work: Uint8Array) => Uint8Array

/**
 * Precomputes what all solutions of the work share, and warms up the code that each of them runs.
 * @throws FormatError
 */
export function readyFor(work: Uint8Array): BlockHashOf {
  const blockHashOf = openBlockHash(work)
  blockHashOf(work)
  powHash(work)
  return blockHashOf
}
