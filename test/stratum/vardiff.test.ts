import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  adjust,
  powerOfTwo,
  recordEarlierShare,
  recordShares,
  SHARE_MS,
  startVardiff,
  type Vardiff,
} from '../../src/mining/stratum/vardiff.ts'
import { randomFrom } from '../random.ts'

const ANY = { least: 1, leastAtFirst: 1, firstStep: 8 }
const ASIC = { least: 2 ** 40, leastAtFirst: 2 ** 48, firstStep: 2 }

/** Records a share whose hash takes `hashes` on average. */
function shared(state: Vardiff, nowMs: number, hashes: number): Vardiff {
  const one = { shares: 1, firstMs: nowMs, lastMs: nowMs, first: hashes, easiestAfter: Number.POSITIVE_INFINITY }
  return recordShares(state, one)
}

interface Mined {
  readonly state: Vardiff
  /** Times between shares. */
  readonly gapsMs: number[]
  readonly steps: { readonly from: number; readonly to: number; readonly atMs: number; readonly shares: number }[]
}

interface Run {
  readonly hashrate: number
  readonly fromMs?: number
  readonly toMs: number
  readonly random: () => number
  /** The lowest share difficulty that the rig's chips report. */
  readonly leastShare?: number
}

/**
 * A rig of this hashrate submits shares at random times, at the difficulty of that moment. Vardiff looks once a second.
 */
function mined(first: Vardiff, { hashrate, fromMs = 0, toMs, random, leastShare = 1 }: Run): Mined {
  let state = first
  const [gapsMs, steps]: [number[], Mined['steps']] = [[], []]
  let [now, sharedAt, shares] = [fromMs, fromMs, 0]
  for (let look = fromMs + 1000; now < toMs; ) {
    const least = Math.max(leastShare, state.difficulty)
    const gap = (-Math.log(1 - random()) * least * 1000) / hashrate
    if (now + gap > look) {
      // No share until then. The random process has no memory.
      now = look
      look += 1000
    } else {
      now += gap
      gapsMs.push(now - sharedAt)
      sharedAt = now
      shares++
      state = shared(state, now, least / (1 - random()))
    }
    const next = adjust(state, now)
    if (next.difficulty !== state.difficulty) {
      steps.push({ from: state.difficulty, to: next.difficulty, atMs: now, shares })
    }
    state = next
  }
  return { state, gapsMs, steps }
}

const meanOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length

// A difficulty that is right on average may be off by a factor of five at a moment, because few shares say little.
describe('the difficulty of a rig', () => {
  it.each([1e6, 1e9, 1e12, 1e15])(
    'the difficulty of a rig reaches a share per ten seconds within five minutes at %d hashes a second',
    (hashrate) => {
      const random = randomFrom(hashrate % 1000)
      const { state } = mined(startVardiff(1e9, 0, ANY), { hashrate, toMs: 300_000, random })
      const pace = state.difficulty / hashrate / (SHARE_MS / 1000)
      expect(pace).toBeGreaterThan(1 / 5)
      expect(pace).toBeLessThan(5)
      const { gapsMs } = mined(state, { hashrate, fromMs: 300_000, toMs: 4_000_000, random })
      expect(meanOf(gapsMs)).toBeGreaterThan(SHARE_MS / 2.5)
      expect(meanOf(gapsMs)).toBeLessThan(SHARE_MS * 2.5)
    },
  )

  it('the difficulty of a rig follows a rig that becomes a hundred times as fast, or as slow', () => {
    for (const factor of [100, 0.01]) {
      const random = randomFrom(7)
      const { state } = mined(startVardiff(1e10, 0, ANY), { hashrate: 1e9, toMs: 300_000, random })
      const hashrate = 1e9 * factor
      const after = mined(state, { hashrate, fromMs: 300_000, toMs: 900_000, random }).state
      const pace = after.difficulty / hashrate / (SHARE_MS / 1000)
      expect(pace).toBeGreaterThan(1 / 5)
      expect(pace).toBeLessThan(5)
    }
  })

  it('the difficulty of a rig stays while too little is known, and while it fits', () => {
    let state = startVardiff(1024, 0, ANY)
    for (let n = 0; n < 8; n++) {
      state = shared(state, 10 * n, 2 ** 20)
      expect(adjust(state, 10 * n)).toBe(state)
    }
    let fitting = startVardiff(1024, 0, ANY)
    for (let n = 0; n <= 16; n++) fitting = shared(fitting, SHARE_MS * n, 1100)
    expect(adjust(fitting, 16 * SHARE_MS).difficulty).toBe(1024)
  })

  it('the difficulty of a rig follows the newest shares, however many fitted before', () => {
    let state = startVardiff(1024, 0, ANY)
    const share = (atMs: number) => {
      state = adjust(shared(state, atMs, 1100), atMs)
      return state.difficulty
    }
    for (let n = 0; n <= 160; n++) expect(share(SHARE_MS * n)).toBe(1024)
    for (let n = 1; n <= 40; n++) share(160 * SHARE_MS + 500 * n)
    expect(state.difficulty).toBeGreaterThanOrEqual(4096)
  })

  it('the difficulty of a rig falls after eight shares that come far too slowly', () => {
    let state = startVardiff(2 ** 40, 0, ANY)
    for (let n = 0; n <= 7; n++) state = shared(state, 40_000 * n, 2 ** 40)
    expect(adjust(state, 280_000)).toBe(state)
    expect(adjust(shared(state, 320_000, 2 ** 40), 320_000).difficulty).toBe(2 ** 38)
  })

  it("the difficulty of a rig reaches a target easier than the rig's chips report, and overshoots by no factor", () => {
    for (let seed = 0; seed < 200; seed++) {
      const run = { hashrate: 166e12, toMs: 60_000, random: randomFrom(seed), leastShare: 2 ** 40 }
      const { steps } = mined(startVardiff(2 ** 32, 0, ANY), run)
      expect(steps[0].shares).toBe(9)
      expect(Math.log2(steps[0].to)).toBeGreaterThanOrEqual(48)
      expect(Math.log2(steps[0].to)).toBeLessThanOrEqual(53)
    }
  })

  it('the difficulty of an ASIC never falls below its start before its first share, and never below 2^40 after', () => {
    const day = 86_400_000
    let state = startVardiff(2 ** 48, 0, ASIC)
    for (let ms = 0; ms <= day; ms += 10_000) state = adjust(state, ms)
    expect(state.difficulty).toBe(2 ** 48)
    state = shared(state, day, 2 ** 49)
    const seen = new Set<number>()
    for (let ms = day; ms <= 2 * day; ms += 10_000) {
      state = adjust(state, ms)
      seen.add(Math.log2(state.difficulty))
    }
    expect([...seen]).toEqual([48, 47, 46, 45, 44, 43, 42, 41, 40])
  })

  it('the difficulty of a rig rises after a few shares if it was silent for an hour', () => {
    const random = randomFrom(3)
    const state = adjust(startVardiff(2 ** 48, 0, ASIC), 3_600_000)
    const { steps } = mined(state, {
      hashrate: 166e12,
      fromMs: 3_600_000,
      toMs: 3_640_000,
      random,
      leastShare: 2 ** 40,
    })
    expect(steps[0].shares).toBeLessThanOrEqual(17)
    expect(steps[0].to).toBeGreaterThanOrEqual(2 ** 50)
  })
})

describe('with any shares', () => {
  const share = fc.record({
    gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200_000 })),
    bits: fc.double({ min: 0, max: 200, noNaN: true }),
  })

  it('the difficulty is a power of two within its bounds, and each later step up is at most fourfold', () => {
    fc.assert(
      fc.property(fc.array(share, { maxLength: 200 }), fc.constantFrom(ANY, ASIC), (shares, bounds) => {
        let state = startVardiff(2 ** 48, 0, bounds)
        let now = 0
        for (const { gapMs, bits } of shares) {
          now += gapMs
          state = shared(state, now, 2 ** bits)
          const next = adjust(state, now)
          expect(next.difficulty).toBe(powerOfTwo(next.difficulty))
          expect(next.difficulty).toBeGreaterThanOrEqual(bounds.least)
          expect(next.difficulty).toBeLessThanOrEqual(2 ** 64)
          if (state.hasRate) expect(next.difficulty).toBeLessThanOrEqual(4 * state.difficulty)
          if (!next.hasShared) expect(next.difficulty).toBeGreaterThanOrEqual(bounds.leastAtFirst)
          state = next
        }
      }),
    )
  })

  it('the silence of a rig never raises its difficulty', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 2 ** 60, noNaN: true }), fc.integer({ min: 0, max: 1e9 }), (first, ms) => {
        expect(adjust(startVardiff(first, 0, ASIC), ms).difficulty).toBeLessThanOrEqual(first)
      }),
    )
  })
})

describe('simultaneous shares', () => {
  /** Nine shares within `withinMs`, whose hashes take so many others. */
  function flood(state: Vardiff, fromMs: number, { withinMs, hashes }: { withinMs: number; hashes: number }): Vardiff {
    let next = state
    for (let n = 0; n < 9; n++) next = shared(next, fromMs + (n * withinMs) / 8, hashes)
    return adjust(next, fromMs + withinMs)
  }

  it('simultaneous shares show that a rig is fast, and not how fast: the next step is as free as the first one', () => {
    const first = flood(startVardiff(2 ** 32, 0, ANY), 100, { withinMs: 2, hashes: 2 ** 32 })
    // Seven shares in 10 ms, the shortest time that vardiff believes.
    expect(first.difficulty).toBe(2 ** 45)
    expect(first.isFlooding).toBe(true)
    expect(first.hasRate).toBe(false)
    expect(first.rate).toBe(null)
    const second = flood(first, 1_000, { withinMs: 2_000, hashes: 2 ** 45 })
    expect(second.difficulty / first.difficulty).toBeGreaterThan(4)
    expect(second.isFlooding).toBe(false)
    expect(second.hasRate).toBe(true)
    // From here each step up is small.
    const third = flood(second, 10_000, { withinMs: 100, hashes: second.difficulty })
    expect(third.difficulty).toBe(4 * second.difficulty)
  })

  it('shares within less than a second may have been delayed or spread by the network, and count as simultaneous', () => {
    const spread = flood(startVardiff(2 ** 32, 0, ANY), 100, { withinMs: 900, hashes: 2 ** 32 })
    expect(spread.isFlooding).toBe(true)
    expect(spread.hasRate).toBe(false)
    expect(spread.rate).toBeGreaterThan(0)
    const slow = flood(startVardiff(2 ** 32, 0, ANY), 100, { withinMs: 1_000, hashes: 2 ** 32 })
    expect(slow.isFlooding).toBe(false)
    expect(slow.hasRate).toBe(true)
  })
})

it('silence lowers the difficulty until a share arrives', () => {
  const lowered = adjust(startVardiff(2 ** 50, 0, ASIC), 30_000)
  expect(lowered.difficulty).toEqual(2 ** 49)
  expect(lowered.isLowered).toBe(true)
  expect(shared(lowered, 31_000, 2 ** 50).isLowered).toBe(false)
})

it('a share of an earlier job ends the silence, and an older one does not bring it back', () => {
  const state = startVardiff(2 ** 50, 10_000, ASIC)
  expect(recordEarlierShare(state, 9_000)).toBe(state)
  expect(adjust(recordEarlierShare(state, 20_000), 49_999).difficulty).toBe(2 ** 50)
  expect(adjust(recordEarlierShare(state, 20_000), 50_000).difficulty).toBe(2 ** 49)
})
