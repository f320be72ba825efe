/** Gas of commands and blocks (PROTOCOL.md E.2). */

/** Gas that the transactions of a block may use together. */
export const MAX_BLOCK_GAS = 150_000

const LINEAR_BYTES = 100n
const STEEP_BYTES_TO_7 = 51_200n ** 7n

/**
 * Gas for the size of a command: ceil(b / 100 + (b / 51200)^7). Exact: doubles are one too low for 100 and 200 bytes.
 * `bytes`: of `cmd`, without the proof of a continuation.
 */
export function sizeGas(bytes: number): number {
  const b = BigInt(bytes)
  const numerator = b * STEEP_BYTES_TO_7 + LINEAR_BYTES * b ** 7n
  const denominator = LINEAR_BYTES * STEEP_BYTES_TO_7
  return Number((numerator + denominator - 1n) / denominator)
}
