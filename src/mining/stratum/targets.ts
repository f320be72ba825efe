/** Share targets in stratum: big-endian hex, or a difficulty (PROTOCOL.md F). */
import { FormatError } from '#ground/base/errors.ts'
import { MAX_TARGET } from '#ground/chain/target.ts'

const DIGITS = 64
/** Difficulties are doubles; conversion keeps this number of fractional bits. */
const FRACTION_BITS = 32n

/**
 * Parses the parameter of mining.set_target.
 * @throws FormatError
 */
export function readTarget(text: string): bigint {
  if (text.length > DIGITS || !/^[0-9a-f]+$/i.test(text)) {
    throw new FormatError('target', 0, `expected at most ${DIGITS} hex digits, the highest first`)
  }
  return BigInt(`0x${text}`)
}

/** Formats a target as 64 hex digits, highest first. */
export function targetText(target: bigint): string {
  return target.toString(16).padStart(DIGITS, '0')
}

/**
 * Converts the difficulty of mining.set_difficulty to a target; difficulty 1 accepts any hash.
 * @throws FormatError unless the difficulty is a positive number
 */
export function targetOfShares(difficulty: number): bigint {
  if (!Number.isFinite(difficulty) || difficulty <= 0)
    throw new FormatError('difficulty', 0, 'expected a positive number')
  const scaled = BigInt(Math.round(Math.min(difficulty, 2 ** 200) * 2 ** Number(FRACTION_BITS)))
  if (scaled <= 1n << FRACTION_BITS) return MAX_TARGET
  return (MAX_TARGET << FRACTION_BITS) / scaled
}
