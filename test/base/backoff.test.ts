/** The formula of all pauses between attempts. */
import { expect, it } from 'vitest'
import { aroundMs, backoffMs, jitteredMs } from '../../src/ground/base/backoff.ts'

const of = (jitter: number | undefined, random: number) =>
  [0, 1, 2, 3, 9, 5_000].map((failures) =>
    backoffMs({ firstMs: 100, maxMs: 1_000, ...(jitter !== undefined && { jitter }) }, failures, () => random),
  )

it('a pause is any time below a maximum that doubles up to its limit', () => {
  expect(of(undefined, 1)).toEqual([100, 200, 400, 800, 1_000, 1_000])
  expect(of(undefined, 0.25)).toEqual([25, 50, 100, 200, 250, 250])
  expect(of(undefined, 0)).toEqual([0, 0, 0, 0, 0, 0])
})

it('a pause with half jitter is at least half of that maximum', () => {
  expect(of(0.5, 1)).toEqual([100, 200, 400, 800, 1_000, 1_000])
  expect(of(0.5, 0.5)).toEqual([75, 150, 300, 600, 750, 750])
  expect(of(0.5, 0)).toEqual([50, 100, 200, 400, 500, 500])
})

it('a pause around a pace is half of it to one and a half times, up to its limit', () => {
  const around = (random: number) =>
    [0, 1, 2, 9].map((failures) => backoffMs(aroundMs(100, 300), failures, () => random))
  const rounded = [0, 0.5, 1].map((random) => around(random).map(Math.round))
  expect(rounded).toEqual([
    [50, 100, 150, 150],
    [100, 200, 300, 300],
    [150, 300, 450, 450],
  ])
})

it('a jittered pace is half of it to one and a half times', () => {
  expect([0, 0.5, 1].map((random) => jitteredMs(100, () => random))).toEqual([50, 100, 150])
})
