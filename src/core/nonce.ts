/** Bits of the nonce that somebody other than the searcher chose, as pools do to keep their miners apart. */
export interface FixedNonce {
  /** How many of the low bits, the first bytes on the wire, are fixed: 0, 8, 16, 24 or 32. */
  readonly bits: number
  /** Their value, below 2^bits. */
  readonly value: number
}

/** The whole nonce is the searcher's to choose. */
export const FREE_NONCE: FixedNonce = { bits: 0, value: 0 }

/** Whether a nonce has these bits where they are fixed. */
export function hasFixedBits(nonce: bigint, { bits, value }: FixedNonce): boolean {
  return BigInt.asUintN(bits, nonce) === BigInt(value)
}
