/** Some seeds of the simulated pool (sim/simulation.ts). `npm run sim:pool -- --seed N` runs a failing one with a trace. */
import { expect, it } from 'vitest'
import { simulatePool } from './sim/simulation.ts'

/** 52 is the first with a deep reorganisation. */
const SEEDS = [...Array.from({ length: 30 }, (_, seed) => seed), 52]

it('a pool pays everybody all of his parts, and nothing twice, whatever fails', async () => {
  const counts = new Map<string, number>()
  for (const seed of SEEDS) {
    const { violations, counts: own } = await simulatePool(seed)
    expect(violations, `seed ${seed}`).toEqual([])
    for (const [name, count] of Object.entries(own)) counts.set(name, (counts.get(name) ?? 0) + count)
  }
  // Everything really happens.
  const names = [
    'paid',
    'expired',
    'kills',
    'reorgs',
    'deep reorgs',
    'flips refused',
    'second payers refused',
    'drains',
  ]
  for (const name of names) expect(counts.get(name) ?? 0, name).toBeGreaterThan(0)
})

it('a pool does the same for the same seed', async () => {
  const traces = [[], []] as string[][]
  for (const trace of traces) await simulatePool(14, (line) => trace.push(line))
  expect(traces[1]).toEqual(traces[0])
  expect(traces[0].length).toBeGreaterThan(10)
})
