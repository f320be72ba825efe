/** The split of the nonce space: real splits by their bounds, and small parts nonce by nonce. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NonceCursor } from '../../src/mining/engine/gpu/batches.ts'
import { noncesOf } from '../../src/mining/engine/gpu/layout.ts'
import {
  freeMiddles,
  lowWith,
  middleAt,
  type NonceRange,
  nextLow,
  nonceOf,
  nonceRanges,
  restartedRange,
  splitRanges,
} from '../../src/mining/engine/range.ts'
import { randomFrom } from '../random.ts'
import { roundsOf } from '../rotation.ts'

const MIDDLES = 2 ** 32
const slots = fc.integer({ min: 1, max: 10_000 })
const fixedNonce = fc.constantFrom(0, 8, 16).chain((bits) => {
  return fc.record({ bits: fc.constant(bits), value: fc.nat({ max: 2 ** bits - 1 }) })
})

/** Expects that the parts, in order, cover every middle once. */
function expectPartition(ranges: readonly NonceRange[]): void {
  let next = 0
  for (const { first, count } of ranges) {
    if (first !== next || count < 1) expect({ first, count }).toEqual({ first: next, count: 'at least 1' })
    next = first + count
  }
  expect(next).toBe(MIDDLES)
}

describe('the nonce space', () => {
  it('the nonce space is split among up to 10,000 slots without gap or overlap, in equal parts', () => {
    const property = fc.property(slots, fc.nat(), (count, seed) => {
      const ranges = nonceRanges(count, randomFrom(seed))
      expect(ranges).toHaveLength(count)
      expectPartition(ranges)
      const sizes = ranges.map((range) => range.count)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
    })
    fc.assert(property, { numRuns: 30 })
  })

  it('the nonce space is split among several engines without gap or overlap, in equal shares', () => {
    const counts = fc.array(fc.nat({ max: 2000 }), { minLength: 1, maxLength: 5 }).filter((all) => all.some(Boolean))
    const property = fc.property(counts, fc.nat(), (all, seed) => {
      const split = splitRanges(all, randomFrom(seed))
      expect(split.map((ranges) => ranges.length)).toEqual(all)
      expectPartition(split.flat())
      const shares = split.filter((ranges) => ranges.length > 0).map((ranges) => sum(ranges.map(({ count }) => count)))
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
    })
    fc.assert(property, { numRuns: 50 })
  })

  it('the nonce space is searched from random points within the parts', () => {
    const property = fc.property(slots, fc.nat(), (count, seed) => {
      const ranges = nonceRanges(count, randomFrom(seed))
      expect(ranges.filter(({ start, count: middles }) => start >= middles)).toEqual([])
      expect(ranges.filter(({ low, high }) => Math.max(low, high) > 0xffff)).toEqual([])
    })
    fc.assert(property, { numRuns: 20 })
    const one = () => nonceRanges(1, Math.random)[0]
    expect(one()).not.toEqual(one())
  })

  it('each restart searches the same part of the nonce space from another point', () => {
    const property = fc.property(slots, fc.nat(), (count, seed) => {
      const range = nonceRanges(count, randomFrom(seed))[count - 1]
      const restarted = Array.from({ length: 64 }, (_, restarts) => restartedRange(range, restarts))
      expect(restarted[0]).toEqual(range)
      for (const { first, count: middles, start } of restarted) {
        expect(first).toEqual(range.first)
        expect(middles).toEqual(range.count)
        expect(start).toBeLessThan(middles)
      }
      // Starts are 1024 of the 65,536 highs apart for a GPU, and a 64th of the middles for a thread.
      const highs = restarted.map(({ high }) => high).sort((a, b) => a - b)
      const starts = restarted.map(({ start }) => start).sort((a, b) => a - b)
      for (let i = 1; i < 64; i++) {
        expect(highs[i] - highs[i - 1]).toBeGreaterThanOrEqual(1024)
        expect(starts[i] - starts[i - 1]).toBeGreaterThanOrEqual(Math.floor(range.count / 64) - 1)
      }
    })
    fc.assert(property, { numRuns: 20 })
  })
})

describe('the low bits of the nonce', () => {
  it('low bits of the nonce keep the fixed bits and take every value of the free bits once', () => {
    const property = fc.property(fixedNonce, fc.nat({ max: 0xffff }), (fixed, start) => {
      const seen = new Set<number>()
      let low = start
      for (let step = 0; step < 2 ** (16 - fixed.bits); step++) {
        seen.add(lowWith(low, fixed))
        low = nextLow(low, fixed)
      }
      expect(seen.size).toBe(2 ** (16 - fixed.bits))
      expect(low).toBe(start)
      expect([...seen].filter((value) => value % 2 ** fixed.bits !== fixed.value)).toEqual([])
    })
    fc.assert(property, { numRuns: 20 })
  })

  it('low bits of the nonce are the first bytes of the nonce on the wire', () => {
    expect(nonceOf(0xffff, 0xffff_ffff, 0xffff)).toBe(0xffff_ffff_ffff_ffffn)
    expect(nonceOf(lowWith(0, { bits: 8, value: 0x7f }), -1, 0)).toBe(0x0000_ffff_ffff_007fn)
  })
})

describe('a GPU on a small part', () => {
  it('a GPU on a small part tries all nonces of a few lows once, then those of the next', () => {
    const range = fc.record({
      count: fc.integer({ min: 1, max: 3 }),
      high: fc.nat({ max: 0xffff }),
      low: fc.nat(0xffff),
    })
    const property = fc.property(
      range,
      fixedNonce,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 3, max: 8 }),
      ({ count, high, low }, fixed, trips, size) => {
        const cursor = new NonceCursor({ first: 77, count, start: count - 1, high, low }, trips)
        const lowsAtOnce = fixed.bits === 16 ? 1 : trips
        const lowOf = (nonce: bigint) => Number(nonce & 0xffffn)
        const tried = new Set<bigint>()
        const lows = new Set<number>()
        let given = 0
        while (given < count * 65_536 * lowsAtOnce) {
          const nonces = noncesOf(cursor.next(size, fixed))
          given += nonces.length
          for (const nonce of nonces) {
            tried.add(nonce)
            lows.add(lowOf(nonce))
          }
        }
        const wanted = Array.from({ length: lowsAtOnce }, (_, at) => lowWith(nextLow(low, fixed, at), fixed))
        expect(lows).toEqual(new Set(wanted))
        expect(tried.size).toBe(count * 65_536 * lowsAtOnce)
        expect(given).toBe(tried.size)
        const next = noncesOf(cursor.next(size, fixed))[0]
        expect(lowOf(next)).toBe(lowWith(nextLow(low, fixed, lowsAtOnce), fixed))
        expect(tried.has(next)).toBe(fixed.bits === 16)
      },
    )
    fc.assert(property, { numRuns: roundsOf(2, 1) })
  })
})

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

describe('middles with bits that a pool has fixed', () => {
  const more = fc.constantFrom(24, 32).chain((bits) => {
    return fc.record({
      bits: fc.constant(bits),
      value: fc.nat({ max: 0x7fff_ffff }).map((n) => (2 * n + 1) % 2 ** bits),
    })
  })
  const fixedOf = (value: number) => Math.floor(value / 2 ** 16)

  it('middles with fixed bits are split among slots without gap or overlap', () => {
    const property = fc.property(fc.integer({ min: 1, max: 1024 }), fc.nat(), more, (count, seed, fixed) => {
      const parts = nonceRanges(count, randomFrom(seed)).map((range) => freeMiddles(range, fixed))
      let next = 0
      for (const { first, count: middles, start } of parts) {
        expect(first).toBe(next)
        expect(start).toBeLessThan(middles)
        next = first + middles
      }
      expect(next).toBe(2 ** (48 - fixed.bits))
    })
    fc.assert(property, { numRuns: 30 })
  })

  it('middles with fixed bits have these bits, and lie in the part of their slot', () => {
    const property = fc.property(fc.integer({ min: 1, max: 1024 }), fc.nat(), more, (count, seed, fixed) => {
      for (const range of nonceRanges(count, randomFrom(seed))) {
        const free = freeMiddles(range, fixed)
        for (const number of [0, free.count - 1]) {
          const nonce = nonceOf(lowWith(range.low, fixed), middleAt(free, number), range.high)
          expect(BigInt.asUintN(fixed.bits, nonce)).toBe(BigInt(fixed.value))
          const middle = middleAt(free, number) - fixedOf(fixed.value)
          expect(middle).toBeGreaterThanOrEqual(range.first)
          expect(middle).toBeLessThan(range.first + range.count)
        }
      }
    })
    fc.assert(property, { numRuns: 10 })
  })

  it('a GPU tries all middles with fixed bits once, and then waits for another header', () => {
    const property = fc.property(
      fc.integer({ min: 1, max: 3 }),
      more,
      fc.nat({ max: 0xffff }),
      (units, fixed, high) => {
        const stride = 2 ** (fixed.bits - 16)
        const range = { first: 5 * stride, count: units * stride, start: stride, high, low: 0x1234 }
        const cursor = new NonceCursor(range, 4)
        const tried = new Set<bigint>()
        let given = 0
        while (!cursor.isExhausted(fixed)) {
          for (const nonce of noncesOf(cursor.next(8, fixed))) {
            given++
            tried.add(nonce)
          }
        }
        expect(given).toEqual(units * 65_536)
        expect(tried.size).toEqual(units * 65_536)
        const wrong = [...tried].filter((nonce) => BigInt.asUintN(fixed.bits, nonce) !== BigInt(fixed.value))
        expect(wrong).toEqual([])
        cursor.restart()
        expect(cursor.isExhausted(fixed)).toBe(false)
        expect(cursor.isExhausted({ ...fixed, value: fixed.value ^ 1 })).toBe(false)
      },
    )
    fc.assert(property, { numRuns: roundsOf(2, 1) })
  })
})
