import { describe, expect, it } from 'vitest'
import { adjusted, SHARE_MS, shared, type Vardiff, vardiff } from '../../src/stratum/vardiff.ts'
import { randomFrom } from '../random.ts'

const LIMITS = { least: 1, most: 2 ** 60 }

/** A rig of this rate hands in shares at random for so long. Returns its last state and the gaps between its shares. */
function mined(state: Vardiff, hashrate: number, fromMs: number, toMs: number, random: () => number) {
  const gapsMs: number[] = []
  let now = fromMs
  let sharedAt = fromMs
  for (let look = fromMs + 1000; now < toMs; ) {
    const gap = (-Math.log(1 - random()) * state.difficulty * 1000) / hashrate
    if (now + gap > look) {
      // No share until then: chance has no memory.
      now = look
      look += 1000
    } else {
      now += gap
      gapsMs.push(now - sharedAt)
      sharedAt = now
      state = shared(state)
    }
    state = adjusted(state, now, LIMITS)
  }
  return { state, gapsMs }
}

// A difficulty that is right on average may be off by a factor of five at one moment: few shares tell little.
describe('the difficulty of a rig', () => {
  it.each([1e6, 1e9, 1e12, 1e15])(
    'comes to a share in ten seconds within five minutes at %d hashes a second',
    (rate) => {
      const random = randomFrom(rate % 1000)
      const { state } = mined(vardiff(1e9, 0), rate, 0, 300_000, random)
      const pace = state.difficulty / rate / (SHARE_MS / 1000)
      expect(pace).toBeGreaterThan(1 / 5)
      expect(pace).toBeLessThan(5)
      const { gapsMs } = mined(state, rate, 300_000, 4_000_000, random)
      const mean = gapsMs.reduce((sum, gap) => sum + gap, 0) / gapsMs.length
      expect(mean).toBeGreaterThan(SHARE_MS / 2.5)
      expect(mean).toBeLessThan(SHARE_MS * 2.5)
    },
  )

  it('follows a rig that becomes a hundred times as fast, or as slow', () => {
    for (const factor of [100, 0.01]) {
      const random = randomFrom(7)
      const { state } = mined(vardiff(1e10, 0), 1e9, 0, 300_000, random)
      const after = mined(state, 1e9 * factor, 300_000, 900_000, random).state
      const pace = after.difficulty / (1e9 * factor) / (SHARE_MS / 1000)
      expect(pace).toBeGreaterThan(1 / 5)
      expect(pace).toBeLessThan(5)
    }
  })

  it('stays within its limits', () => {
    const flood = Array.from({ length: 100 }).reduce<Vardiff>(shared, vardiff(1000, 0))
    expect(adjusted(flood, 1, { least: 1, most: 5000 }).difficulty).toBe(5000)
    expect(adjusted(vardiff(1000, 0), 3_600_000, { least: 500, most: 5000 }).difficulty).toBe(500)
  })

  it('is left alone while too little is known, and while it fits', () => {
    const state = shared(vardiff(1000, 0))
    expect(adjusted(state, 5000, LIMITS)).toBe(state)
    const four = shared(shared(shared(state)))
    expect(adjusted(four, 40_000, LIMITS).difficulty).toBe(1000)
  })
})
