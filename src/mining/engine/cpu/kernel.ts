import type { KernelName } from './names.ts'

/**
 * The interface of all CPU kernels. A kernel knows no work, targets or threads. It sweeps the high 16 bits of the
 * nonce, and returns chunks in which some hash has a top word <= `bound`. The caller hashes every lane of such a chunk
 * again.
 *
 * The nonce (u64 LE) is at the end of a work header and spans three words of the last BLAKE2s block:
 *
 *     word k (high half) || word k+1 (32 bits) || word k+2 (low half) || zero padding
 *       nonce bits 0..15      nonce bits 16..47      nonce bits 48..63
 *       `low`                 `middle`               swept from `from` to `to`
 *
 * For 286 bytes (degree 3), k is 5. Other graphs move it (chain/header.ts), hence TailLayout.
 */
export interface TailLayout {
  /** Bytes in the last block: 30 for 286-byte work. */
  readonly tailBytes: number
  /** Index k of the message word whose high half has nonce bits 0..15. */
  readonly nonceWord: number
  /** Length of the whole message in bytes. */
  readonly totalBytes: number
}

/** Number of values of the swept nonce part, which has 16 bits. Maximum length of a slice. */
export const SWEEP_NONCES = 65_536

export interface Kernel {
  readonly name: KernelName
  /** Nonces hashed at once. `from`, `to` and the result of `sweep` are multiples of it. */
  readonly lanes: number
  /**
   * Nonces per call: enough to make the call overhead negligible, and at most one millisecond of work. Divides
   * SWEEP_NONCES.
   */
  readonly sliceNonces: number
  /**
   * Sets new work.
   * @param midstate 8 words
   * @param tail 16 words; the nonce bits are ignored
   * @param bound top word (bytes 28..31) of the target, u32
   */
  setWork(midstate: Uint32Array, tail: Uint32Array, bound: number): void
  /**
   * Hashes the nonces `low || middle || from..to-1`, where 0 <= from <= to <= 65536.
   * @param low 16 bits
   * @param middle 32 bits, unsigned
   * @returns the start of the first chunk of `lanes` nonces with a hash whose top word is <= bound, or `to`
   */
  sweep(low: number, middle: number, from: number, to: number): number
}

/**
 * Locates the nonce in the last BLAKE2s block of work.
 * @param workBytes length of the work in bytes (178, 214, 250, 286, ...)
 * @throws RangeError for lengths that no work has, and for lengths that spread the nonce over two blocks (degree 4:
 * 322), since kernels compute only the last block
 */
export function tailLayout(workBytes: number): TailLayout {
  if (workBytes % 4 !== 2) throw new RangeError(`no work has ${workBytes} bytes`)
  const tailBytes = ((workBytes - 1) % 64) + 1
  if (tailBytes < 10) throw new RangeError(`the nonce of work of ${workBytes} bytes lies in two blocks`)
  return { tailBytes, nonceWord: (tailBytes - 10) / 4, totalBytes: workBytes }
}
