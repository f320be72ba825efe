/** Many seeds of the simulation, in one process per core, and every seed that has shown a fault. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { failuresOf } from './failures.ts'
import { runJobs } from './jobs.ts'
import { kept, keptWhole } from './kept.ts'
import type { Outcome } from './simulation.ts'

const SEEDS = 204
/** For all of them. On a machine with three times as much load they take 10 minutes. */
const TIMEOUT_MS = 3_600_000

const script = fileURLToPath(new URL('../../dist/test/sim/main.js', import.meta.url))

async function outcomesOf(seeds: readonly number[], isPlain = false): Promise<Map<number, Outcome>> {
  const outcomes = new Map<number, Outcome>()
  const left = [...seeds]
  await runJobs(availableParallelism(), {
    script,
    next: () => left.shift(),
    isPlain,
    onOutcome: (outcome) => void outcomes.set(outcome.seed, outcome),
  })
  expect(outcomes.size).toBe(seeds.length)
  return outcomes
}

const failuresIn = (outcomes: ReadonlyMap<number, Outcome>) => [...outcomes.values()].flatMap(failuresOf)

it(`a miner keeps its promises in ${SEEDS} seeds`, { timeout: TIMEOUT_MS }, async () => {
  expect(failuresIn(await outcomesOf(Array.from({ length: SEEDS }, (_, seed) => seed)))).toEqual([])
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
