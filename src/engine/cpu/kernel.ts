import type { KernelName } from './names.ts'

/**
 * What every CPU kernel offers. A kernel knows nothing of work, targets or threads: it sweeps the high 16 bits of the
 * nonce and points at chunks in which some hash has a top word <= `bound`. Whoever calls it re-hashes every lane of
 * such a chunk.
 *
 * The nonce (u64 LE) ends a work header and straddles three words of the last BLAKE2s block:
 *
 *     word k (high half) || word k+1 (32 bits) || word k+2 (low half) || zero padding
 *       nonce bits 0..15      nonce bits 16..47      nonce bits 48..63
 *       `low`                 `middle`               swept from `from` to `to`
 *
 * With 286 bytes (degree 3) k is 5; other graphs move it (core/header.ts), hence TailLayout.
 */
export interface TailLayout {
  /** Bytes in the last block: 30 for 286-byte work. */
  readonly tailBytes: number
  /** Index k of the message word whose high half holds nonce bits 0..15. */
  readonly nonceWord: number
  /** Length of the whole message in bytes. */
  readonly totalBytes: number
}

/** Values of the swept part of a nonce, which has 16 bits. No slice is longer. */
export const SWEEP_NONCES = 65_536

export interface Kernel {
  readonly name: KernelName
  /** Nonces hashed at once. `from`, `to` and the result of `sweep` are multiples of it. */
  readonly lanes: number
  /**
   * Nonces to try in one call: as few as cost nothing, and so many that it takes one millisecond at most. Divides
   * SWEEP_NONCES.
   */
  readonly sliceNonces: number
  /**
   * Takes new work. `midstate`: 8 words; `tail`: 16 words whose nonce bits are ignored; `bound`: u32, the top word
   * (bytes 28..31) of the target.
   */
  setWork(midstate: Uint32Array, tail: Uint32Array, bound: number): void
  /**
   * Hashes the nonces `low || middle || from..to-1`. Returns the start of the first chunk of `lanes` nonces that holds
   * a hash whose top word is <= bound, or `to` when there is none. `low` is 16 bits, `middle` 32 bits (unsigned),
   * 0 <= from <= to <= 65536.
   */
  sweep(low: number, middle: number, from: number, to: number): number
}

/**
 * Where the nonce lies in the last BLAKE2s block of work of `workBytes` bytes (178, 214, 250, 286, ...). Throws
 * RangeError for lengths that no work has, and for lengths that spread the nonce over two blocks (degree 4: 322), since
 * kernels compute the last block only.
 */
export function tailLayout(workBytes: number): TailLayout {
  if (workBytes % 4 !== 2) throw new RangeError(`no work has ${workBytes} bytes`)
  const tailBytes = ((workBytes - 1) % 64) + 1
  if (tailBytes < 10) throw new RangeError(`the nonce of work of ${workBytes} bytes lies in two blocks`)
  return { tailBytes, nonceWord: (tailBytes - 10) / 4, totalBytes: workBytes }
}
