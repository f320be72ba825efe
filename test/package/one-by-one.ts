/** A sweep that hashes one nonce after the other with core/blake2s.ts: slow, without the optimizations of kernels. */
import { finish } from '../../src/ground/chain/blake2s.ts'

/** @param job struct job of kernel.c @returns the result of `sweep` in src/mining/engine/cpu/kernel.ts */
export function sweepOneByOne(job: Uint32Array, from: number, to: number, lanes: number): number {
  const tail = job.slice(8, 24)
  const [bound, totalBytes, swept] = job.subarray(24)
  const tailBytes = ((totalBytes - 1) % 64) + 1
  for (let nonce = from; nonce < to; nonce++) {
    tail[swept] = nonce
    if (finish({ state: job.slice(0, 8), tail, tailBytes, totalBytes })[7] <= bound) return nonce - (nonce % lanes)
  }
  return to
}
