/** Target arithmetic (PROTOCOL.md C). Targets and difficulties are bigints; a hash solves if it is <= the target. */

/** The easiest target: 2^256 - 1. */
export const MAX_TARGET = (1n << 256n) - 1n

/**
 * floor((2^256 - 1) / target), the average number of hashes per solution.
 * @returns null for a target of 0
 */
export function difficultyOf(target: bigint): bigint | null {
  return target === 0n ? null : MAX_TARGET / target
}

/**
 * floor((2^256 - 1) / difficulty).
 * @throws RangeError below 1
 */
export function targetOfDifficulty(difficulty: bigint): bigint {
  if (difficulty < 1n) throw new RangeError(`difficulty ${difficulty}: must be at least 1`)
  return MAX_TARGET / difficulty
}

/** Number of leading zero bits of a target: 0 for the easiest, 256 for 0. */
export function levelOf(target: bigint): number {
  return target === 0n ? 256 : 256 - target.toString(2).length
}

/**
 * 2^(256 - level) - 1, the easiest target with `level` leading zero bits.
 * @throws RangeError unless level is an integer from 0 to 256
 */
export function targetOfLevel(level: number): bigint {
  if (!Number.isInteger(level) || level < 0 || level > 256) throw new RangeError(`level ${level}: must be 0 to 256`)
  return (1n << BigInt(256 - level)) - 1n
}
