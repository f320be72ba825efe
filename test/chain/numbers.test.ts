import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { u256LE } from '../../src/ground/base/bytes.ts'
import { formatDuration, formatHashrate, withPrefix } from '../../src/ground/base/units.ts'
import { meets } from '../../src/ground/chain/pow.ts'
import { difficultyOf, levelOf, MAX_TARGET, targetOfDifficulty, targetOfLevel } from '../../src/ground/chain/target.ts'

const bits = (count: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(count)) - 1n })

describe('targets', () => {
  const target = fc.oneof(bits(256), fc.nat({ max: 256 }).chain(bits))
  const difficulty = target.filter((value) => value > 0n)

  it('difficulty and target are floor(MAX / x) of each other', () => {
    fc.assert(
      fc.property(difficulty, (value) => {
        expect(targetOfDifficulty(value)).toBe(((1n << 256n) - 1n) / value)
        expect(difficultyOf(value)).toBe(((1n << 256n) - 1n) / value)
        const back = difficultyOf(targetOfDifficulty(value))
        expect(back !== null && back >= value).toBe(true)
        expect(targetOfDifficulty(back as bigint)).toBe(targetOfDifficulty(value))
      }),
    )
    expect(difficultyOf(0n)).toBeNull()
    expect(difficultyOf(MAX_TARGET)).toBe(1n)
    expect(difficultyOf(1n)).toEqual(MAX_TARGET)
    for (const value of [0n, -1n]) expect(() => targetOfDifficulty(value)).toThrow(RangeError)
  })

  it('an easier target never has a higher difficulty or level', () => {
    fc.assert(
      fc.property(difficulty, difficulty, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a]
        expect(targetOfDifficulty(low) >= targetOfDifficulty(high)).toBe(true)
        expect(levelOf(low)).toBeGreaterThanOrEqual(levelOf(high))
        expect((difficultyOf(low) as bigint) >= (difficultyOf(high) as bigint)).toBe(true)
      }),
    )
  })

  it('the level of a target is its number of leading zero bits', () => {
    for (let level = 0; level <= 256; level++) {
      const easiest = targetOfLevel(level)
      expect(levelOf(easiest)).toBe(level)
      expect(levelOf(easiest + 1n)).toBe(level - 1)
      expect(easiest.toString(2).padStart(256, '0')).toMatch(new RegExp(`^0{${level}}1{${256 - level}}$`))
    }
    fc.assert(
      fc.property(target, (value) => {
        const level = levelOf(value)
        expect(value <= targetOfLevel(level)).toBe(true)
        if (level < 256) expect(value > targetOfLevel(level + 1)).toBe(true)
      }),
    )
    for (const level of [-1, 257, 0.5, Number.NaN]) expect(() => targetOfLevel(level)).toThrow(RangeError)
  })

  it('a target accepts hashes up to and including itself', () => {
    fc.assert(
      fc.property(bits(256), target, (value, limit) => {
        expect(meets(u256LE(value), limit)).toBe(value <= limit)
        expect(meets(u256LE(limit), limit)).toBe(true)
        if (limit < MAX_TARGET) expect(meets(u256LE(limit + 1n), limit)).toBe(false)
      }),
    )
  })
})

describe('units', () => {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z']

  it('formatted units have three digits and a prefix', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 9.99e23, noNaN: true }), fc.boolean(), (value, isNegative) => {
        const text = withPrefix(isNegative ? -value : value)
        const match = /^(-?)(\d{1,3}(?:\.\d{1,2})?)([kMGTPEZ]?)$/.exec(text)
        expect(match, text).not.toBeNull()
        const [, sign, digits, prefix] = match as RegExpExecArray
        expect(sign).toBe(isNegative ? '-' : '')
        if (!(prefix === '' && Number.isInteger(value))) expect(digits.replace('.', '')).toHaveLength(3)
        expect(Math.abs(Number(digits) * 1000 ** prefixes.indexOf(prefix) - value) / value).toBeLessThanOrEqual(0.00501)
      }),
      { numRuns: 1000 },
    )
  })

  it('formatted units take the next prefix if rounding reaches it', () => {
    const edges = [0, 1, 950, 999, 999.4, 999.5, 1000, 9995, 99_950, 999_499, 999_500, 61_234_567]
    expect(edges.map(withPrefix)).toEqual([
      '0',
      '1',
      '950',
      '999',
      '999',
      '1.00k',
      '1.00k',
      '10.0k',
      '100k',
      '999k',
      '1.00M',
      '61.2M',
    ])
    expect([Number.NaN, Number.POSITIVE_INFINITY].map(withPrefix)).toEqual(['n/a', 'n/a'])
    expect([null, 0, 950, 61.2e6, 5e24].map(formatHashrate)).toEqual([
      'n/a',
      '0 H/s',
      '950 H/s',
      '61.2 MH/s',
      '5000 ZH/s',
    ])
  })

  it('a formatted duration reads back to the same time, apart from dropped digits', () => {
    const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
    const readMs = (text: string) => {
      const words = text.split(' ')
      let sum = 0
      for (let i = 0; i < words.length; i += 2) sum += Number(words[i]) * unitMs[words[i + 1]]
      return sum
    }
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e10, noNaN: true }), (milliseconds) => {
        const text = formatDuration(milliseconds)
        expect(text).toMatch(/^(\d+(\.\d)? (ms|s)|\d+ m( [1-5]?\d s)?|\d+ h( [1-5]?\d m)?)$/)
        const slack = milliseconds < 10 ? 0.051 : milliseconds < 1000 ? 0.51 : milliseconds < 60_000 ? 51 : 501
        const leftOut = milliseconds >= 3_599_499 ? 60_000 : 0
        expect(readMs(text)).toBeLessThanOrEqual(milliseconds + slack)
        expect(readMs(text)).toBeGreaterThanOrEqual(milliseconds - slack - leftOut)
      }),
      { numRuns: 1000 },
    )
    const edges = [0, 0.24, 9.96, 250, 999.5, 1500, 59_940, 59_960, 750_000, 3_599_600, 11_100_000]
    expect(edges.map(formatDuration)).toEqual([
      '0 ms',
      '0.2 ms',
      '10 ms',
      '250 ms',
      '1 s',
      '1.5 s',
      '59.9 s',
      '1 m',
      '12 m 30 s',
      '1 h',
      '3 h 5 m',
    ])
  })
})
