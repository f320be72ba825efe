/**
 * Tests a device before it mines: its solutions do not show that it misses others. Works in Node.js and on web pages;
 * both have the global `crypto`.
 */
import { HIGHS, LOWS, MIDDLES } from '../range.ts'
import { type Batch, judgeNonce, noncesOf, prepareWork, SEARCHED_WORK_BYTES } from './layout.ts'
import type { BatchRunner } from './search-loop.ts'

const LANES = 512
const TRIPS = 4
/** One nonce in 16 is a candidate. */
const TARGET = (1n << 252n) - 1n

/**
 * Compares the candidates of the device with those of the CPU in random work. The nonces cross the points where their
 * low and middle words wrap around.
 * @returns null if they are equal, else a sentence
 */
export async function selfTestGpu(runner: BatchRunner): Promise<string | null> {
  const work = prepareWork(crypto.getRandomValues(new Uint8Array(SEARCHED_WORK_BYTES)), TARGET)
  const batch: Batch = {
    low: LOWS - TRIPS / 2,
    first: MIDDLES - LANES / 2,
    high: crypto.getRandomValues(new Uint32Array(1))[0] % HIGHS,
    lanes: LANES,
    trips: TRIPS,
    step: 1,
  }
  const wanted = noncesOf(batch).filter((nonce) => judgeNonce(work, nonce) !== 'false')
  const { found, nonces } = await runner.run(0, work, batch)
  const known = new Set(nonces)
  if (found === wanted.length && wanted.every((nonce) => known.has(nonce))) return null
  return `the device hashes wrongly: of ${wanted.length} nonces it found ${wanted.filter((n) => known.has(n)).length}`
}
