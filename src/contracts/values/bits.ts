/** Bit length of bigints. */

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)
/** Index of the half that holds the exponent; depends on the byte order of the machine. */
const HIGH = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0

/** Number of bits in the magnitude; 0 for 0. */
export function bitLength(n: bigint): number {
  if (n === 0n) return 0
  double[0] = Number(n)
  const high = halves[HIGH] & 0x7fff_ffff
  // The exponent is wrong if rounding carried the number up to a power of two, or if the number exceeds all doubles.
  const isSure = ((high & 0xf_ffff) !== 0 || halves[1 - HIGH] !== 0) && high < 0x7ff0_0000
  if (isSure) return (high >>> 20) - 1022
  const hex = (n < 0n ? -n : n).toString(16)
  return hex.length * 4 - (Math.clz32(Number.parseInt(hex.charAt(0), 16)) - 28)
}
