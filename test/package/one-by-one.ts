/** A sweep that hashes one nonce after the other, by core/blake2s.ts: slow, and free of what makes kernels fast. */
import { finish } from '../../src/core/blake2s.ts'

/** `job` is struct job of kernel.c; the result is that of `sweep` in src/engine/cpu/kernel.ts. */
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
