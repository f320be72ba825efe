/**
 * Slows down the search threads of a test file that only waits while a miner searches, so that it takes little
 * processor time. For networks whose blocks are found within the first slices, or on demand.
 */
import { afterAll, beforeAll } from 'vitest'

/** @param pauseMs pause of each thread after a slice, which takes about a millisecond */
export function paceSearch(pauseMs = 20): void {
  beforeAll(() => {
    process.env.TEST_SEARCH_PACE_MS = String(pauseMs)
  })
  afterAll(() => {
    delete process.env.TEST_SEARCH_PACE_MS
  })
}
