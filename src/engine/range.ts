/**
 * How the nonce space is split (no nonce is tried twice for the same work):
 *
 *     nonce = low (16 bits) || middle (32 bits) || high (16 bits), little-endian
 *
 * Each device owns every n-th value of `low`, from an instance-wide random base; it starts at a random `middle`. CPU
 * threads sweep `high` first, GPUs `middle`. One value of `low` lasts for 2^48 nonces. Two processes with the same
 * account start at independent random points of 2^48, so they do not meet in practice.
 */

export interface NonceRange {
  /** First value of nonce bits 0..15; the next ones follow at `lowStep`. */
  readonly low: number
  readonly lowStep: number
  /** First value of nonce bits 16..47. */
  readonly middle: number
}

/** Splits the nonce space among `slots` devices (1..65536). `random` is uniform in [0, 1). */
export function nonceRanges(slots: number, random: () => number): NonceRange[] {
  const base = Math.floor(random() * 0x10000)
  return Array.from({ length: slots }, (_, slot) => ({
    low: (base + slot) & 0xffff,
    lowStep: slots,
    middle: Math.floor(random() * 0x1_0000_0000),
  }))
}

/** Splits the nonce space among the devices of several engines, `counts[i]` for engine i: a list for each engine. */
export function splitRanges(counts: readonly number[], random: () => number): NonceRange[][] {
  const slots = counts.reduce((sum, count) => sum + count, 0)
  const ranges = nonceRanges(slots, random)
  return counts.map((count) => ranges.splice(0, count))
}

/** The nonce of its three parts. */
export function nonceOf(low: number, middle: number, high: number): bigint {
  return BigInt(low) | (BigInt(middle >>> 0) << 16n) | (BigInt(high) << 48n)
}
