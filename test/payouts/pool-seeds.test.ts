/** Many seeds of the simulated pool. A run that is not full has other ones each time. */
import { expect, it } from 'vitest'
import { isFull, rotation } from '../rotation.ts'
import { simulatePool } from './sim/simulation.ts'

const SEEDS = isFull ? 2_000 : 300
const FIRST = isFull ? 0 : (rotation * SEEDS) % 100_000

it(`${SEEDS} seeds of a pool, from ${FIRST}, pay everybody all of his parts, and nothing twice`, async () => {
  const failed: string[] = []
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const { violations } = await simulatePool(seed)
    if (violations.length > 0) failed.push(`seed ${seed}: ${violations[0]}`)
  }
  expect(failed).toEqual([])
}, 3_600_000)
