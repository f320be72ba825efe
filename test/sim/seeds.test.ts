/** Many seeds of the simulation, in one process per core, and every seed that has shown a fault. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { rotating } from '../rotation.ts'
import { failuresOf } from './failures.ts'
import { runJobs } from './jobs.ts'
import { kept, keptWhole } from './kept.ts'
import type { Outcome } from './simulation.ts'

/** A run that is not full has 60 of them. */
const SEEDS = Array.from({ length: 204 }, (_, seed) => seed)
/** For all of them. On a machine with three times as much load they take 10 minutes. */
const TIMEOUT_MS = 3_600_000

const script = fileURLToPath(new URL('../../dist/test/sim/main.js', import.meta.url))

async function outcomesOf(seeds: readonly number[], isPlain = false): Promise<Map<number, Outcome>> {
  const outcomes = new Map<number, Outcome>()
  const left = [...seeds]
  await runJobs<Outcome>(availableParallelism(), {
    script,
    next: () => left.shift(),
    isPlain,
    onOutcome: (outcome) => void outcomes.set(outcome.seed, outcome),
  })
  expect(outcomes.size).toBe(seeds.length)
  return outcomes
}

const failuresIn = (outcomes: ReadonlyMap<number, Outcome>) => [...outcomes.values()].flatMap(failuresOf)

const seeds = rotating(SEEDS, 60)
it(`a miner keeps its promises in ${seeds.length} seeds, the first ${seeds[0]}`, { timeout: TIMEOUT_MS }, async () => {
  expect(failuresIn(await outcomesOf(seeds))).toEqual([])
})

it('a miner for one node keeps its promises in seeds that have shown a fault', { timeout: TIMEOUT_MS }, async () => {
  expect(
    failuresIn(
      await outcomesOf(
        kept.map(([seed]) => seed),
        true,
      ),
    ),
  ).toEqual([])
})

it('a miner keeps its promises in the full scenarios that have shown a fault', {
  timeout: TIMEOUT_MS,
}, async () => {
  expect(failuresIn(await outcomesOf(keptWhole.map(([seed]) => seed)))).toEqual([])
})
