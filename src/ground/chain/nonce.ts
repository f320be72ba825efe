/** Nonce bits that are fixed by someone other than the searcher; pools fix some to separate their miners. */
export interface FixedNonce {
  /** Number of fixed low bits, the first bytes on the wire: 0, 8, 16, 24 or 32; 64 in NO_NONCE. */
  readonly bits: number
  /** Value of the fixed bits, below 2^bits. */
  readonly value: number
}

/** The searcher may choose the whole nonce. */
export const FREE_NONCE: FixedNonce = { bits: 0, value: 0 }

/** True if the fixed bits of a nonce have their value. */
export function hasFixedBits(nonce: bigint, { bits, value }: FixedNonce): boolean {
  return BigInt.asUintN(bits, nonce) === BigInt(value)
}

/** No nonce is left to search, except those of headers that belong to rigs (HeaderClass). */
export const NO_NONCE: FixedNonce = { bits: 64, value: 0 }

/**
 * The headers of a work that belong to one searcher, with all their nonces: those whose creation time in microseconds
 * has this residue. Two classes of the same modulus are disjoint.
 */
export interface HeaderClass {
  /** 0 to modulus - 1. */
  readonly residue: number
  readonly modulus: number
}

export function isOfClass(creationTime: bigint, { residue, modulus }: HeaderClass): boolean {
  return creationTime % BigInt(modulus) === BigInt(residue)
}

/** The first creation time of a class at or after this one, in microseconds. */
export function firstOfClass(creationTime: bigint, { residue, modulus }: HeaderClass): bigint {
  const size = BigInt(modulus)
  return creationTime + ((((BigInt(residue) - creationTime) % size) + size) % size)
}
