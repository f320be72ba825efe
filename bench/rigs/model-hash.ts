/** Hashes of model rigs, which do not search: the nonce encodes its hash difficulty, and the server decodes it. */
import { targetWords } from '../../src/ground/chain/pow.ts'

/** Difficulty levels per power of two. */
const LEVELS_PER_BIT = 40
const MAX_LEVEL = 2047
const FIRST_BIT = 16

/** Expected hashes for a hash of this level. */
const difficultyOfLevel = (level: number) => 2 ** (FIRST_BIT + level / LEVELS_PER_BIT)

/** The hash that a model nonce encodes. */
export function modelHash(_job: unknown, _nonce1: number, nonce2: number): Uint32Array {
  const level = Math.floor(nonce2 / 2 ** 8) % 2 ** 11
  const bits = FIRST_BIT + level / LEVELS_PER_BIT
  // 53 bits of precision suffice.
  const scaled = BigInt(Math.floor(2 ** (52 - (bits % 1)))) << BigInt(256 - 52 - Math.floor(bits))
  return targetWords(scaled - 1n)
}

export interface ModelNonce {
  readonly nonce2: string
  /** Difficulty of its hash. */
  readonly difficulty: number
}

/** Draws a nonce with a share of at least this difficulty, distributed like real hashes. */
export function modelNonce(least: number, random: () => number): ModelNonce {
  const bits = Math.log2(least / (1 - random()))
  const level = Math.max(0, Math.min(MAX_LEVEL, Math.ceil((bits - FIRST_BIT) * LEVELS_PER_BIT)))
  const nonce = Math.floor(random() * 2 ** 29) * 2 ** 19 + level * 2 ** 8 + Math.floor(random() * 256)
  return { nonce2: nonce.toString(16).padStart(12, '0'), difficulty: difficultyOfLevel(level) }
}
