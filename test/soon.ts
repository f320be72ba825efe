import { expect } from 'vitest'

const ATTEMPTS = 3

/**
 * Expects an attempt to take less than `mostMs`. `attempt` returns the milliseconds it took. One fast attempt of three
 * is enough, since a busy machine may stand still for a while. All other expectations of an attempt must hold each time.
 */
export async function expectSoon(mostMs: number, attempt: () => number | Promise<number>): Promise<void> {
  const tookMs: number[] = []
  do tookMs.push(await attempt())
  while (tookMs.length < ATTEMPTS && tookMs[tookMs.length - 1] >= mostMs)
  expect(Math.min(...tookMs)).toBeLessThan(mostMs)
}
