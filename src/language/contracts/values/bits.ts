/** Bit length of bigints, without a pass over all their digits. */

/** Largest magnitude of a number in the language, in bits. */
export const MAX_BITS = 500_000
/** No number of more digits is that small. */
export const MAX_DIGITS = Math.ceil(MAX_BITS * Math.log10(2)) + 1000

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)
/** Index of the half that holds the exponent; depends on the byte order of the machine. */
const HIGH = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0
/** Steps of the search. A shift by more than the length takes constant time; any other costs what it leaves. */
const SHIFTS = [stepsOf(16_384, 32), stepsOf(1024, 16), stepsOf(512, 2)]
const FARTHEST = SHIFTS[0][0]
const HEAD_BITS = 48

/** Multiples of a shift, the largest first. */
function stepsOf(shift: number, most: number): readonly bigint[] {
  return Array.from({ length: most }, (_, i) => BigInt(shift * (most - i)))
}

/** Number of bits in the magnitude; 0 for 0. */
export function bitLength(n: bigint): number {
  const length = doubleLength(n)
  return length >= 0 ? length : longLength(n < 0n ? -n : n)
}

/** As `bitLength`, without a copy of a negative number: its length may be one more. */
export function lengthOrMore(n: bigint): number {
  const length = doubleLength(n)
  return length >= 0 ? length : longLength(n)
}

/** Base 2 logarithm of a positive number, from its first 48 bits. */
export function logarithm2(n: bigint): number {
  const below = Math.max(0, bitLength(n) - HEAD_BITS)
  return below + Math.log2(Number(n >> BigInt(below)))
}

/** Bit length by the exponent of a double, or -1 beyond the doubles. */
function doubleLength(n: bigint): number {
  if (n === 0n) return 0
  double[0] = Number(n)
  const high = halves[HIGH] & 0x7fff_ffff
  if (high >= 0x7ff0_0000) return -1
  const length = (high >>> 20) - 1022
  const isPower = (high & 0xf_ffff) === 0 && halves[1 - HIGH] === 0
  if (!isPower || length <= 53) return length
  // It is a power of two, or it was rounded up to one.
  return (n < 0n ? -n : n) >> BigInt(length - 1) === 0n ? length - 1 : length
}

function longLength(n: bigint): number {
  const none = n < 0n ? -1n : 0n
  let [rest, shifted] = [n, 0]
  for (let far = rest >> FARTHEST; far !== none; far = rest >> FARTHEST) {
    rest = far
    shifted += Number(FARTHEST)
  }
  for (const shifts of SHIFTS) {
    for (const shift of shifts) {
      const left = rest >> shift
      if (left === none) continue
      rest = left
      shifted += Number(shift)
      break
    }
  }
  return shifted + doubleLength(rest)
}
