/** How long integers are. */

const double = new Float64Array(1)
const halves = new Uint32Array(double.buffer)
/** Which half has the exponent depends on the machine. */
const HIGH = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0

/** Bits of the magnitude; 0 for 0. */
export function bitLength(n: bigint): number {
  if (n === 0n) return 0
  double[0] = Number(n)
  const high = halves[HIGH] & 0x7fff_ffff
  // Rounding may have carried a number up to a power of two, and beyond doubles there are no exponents.
  const isSure = ((high & 0xf_ffff) !== 0 || halves[1 - HIGH] !== 0) && high < 0x7ff0_0000
  if (isSure) return (high >>> 20) - 1022
  const hex = (n < 0n ? -n : n).toString(16)
  return hex.length * 4 - (Math.clz32(Number.parseInt(hex.charAt(0), 16)) - 28)
}
