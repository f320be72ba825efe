/** Bits of the nonce that somebody other than the searcher chose, as pools do to keep their miners apart. */
export interface FixedNonce {
  /** How many of the low bits, the first bytes on the wire, are fixed: 0, 8, 16, 24 or 32; 64 in NO_NONCE. */
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

/** No nonce is left to search, other than those of headers that belong to rigs (HeaderClass). */
export const NO_NONCE: FixedNonce = { bits: 64, value: 0 }

/**
 * The headers of a work that belong to one searcher, with all their nonces: those whose creation time, in microseconds,
 * has this residue. Two classes of one modulus have no header in common.
 */
export interface HeaderClass {
  /** 0 to modulus - 1. */
  readonly residue: number
  readonly modulus: number
}

/** All headers of a work. */
export const ALL_HEADERS: HeaderClass = { residue: 0, modulus: 1 }

export function isOfClass(creationTime: bigint, { residue, modulus }: HeaderClass): boolean {
  return creationTime % BigInt(modulus) === BigInt(residue)
}

/** The first creation time of a class that is not before this one. */
export function firstOfClass(creationTime: bigint, { residue, modulus }: HeaderClass): bigint {
  const size = BigInt(modulus)
  return creationTime + ((((BigInt(residue) - creationTime) % size) + size) % size)
}
