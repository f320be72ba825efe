import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writeU256LE } from '../../src/ground/base/bytes.ts'
import { isAtMost, meets, meetsWords, targetWords } from '../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'

describe('a hash', () => {
  const number = fc.bigInt(0n, MAX_TARGET)

  it('the comparison of a hash with a target, as bytes or words, agrees with numbers', () => {
    // Pairs that differ in one word, or not at all, are the hard cases of a comparison.
    const near = fc.tuple(number, fc.nat(7), fc.constantFrom(-1n, 0n, 1n)).map(([target, word, step]) => {
      return [target, BigInt.asUintN(256, target + (step << BigInt(32 * word)))] as const
    })
    fc.assert(
      fc.property(fc.oneof(fc.tuple(number, number), near), ([target, hash]) => {
        expect(isAtMost(targetWords(hash), targetWords(target))).toBe(hash <= target)
        expect(meetsWords(targetWords(hash), target)).toBe(hash <= target)
        const bytes = new Uint8Array(32)
        writeU256LE(bytes, 0, hash)
        expect(meets(bytes, target)).toBe(hash <= target)
      }),
      { numRuns: 2000 },
    )
  })
})
