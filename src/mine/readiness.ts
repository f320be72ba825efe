/**
 * What is done for work before it has a solution. A solution is worth more the sooner it is handed in, and the code that
 * judges it runs so rarely that it would be slow each time: 0.7 ms for the first proof of work, 11 ms for the first block
 * hash of a process. So it runs once for each work, when the engines have that already.
 */
import { openBlockHash } from '../core/open-block-hash.ts'
import { powHash } from '../core/pow.ts'

/** The block hash of solved work: that of one work with any nonce. */
export type BlockHashOf = (work: Uint8Array) => Uint8Array

/** Makes what all solutions of this work share, and goes through what each of them needs. Throws FormatError. */
export function readyFor(work: Uint8Array): BlockHashOf {
  const blockHashOf = openBlockHash(work)
  blockHashOf(work)
  powHash(work)
  return blockHashOf
}
