/**
 * Some seeds of the simulation. simulation.ts has the events of each, and bounds.ts the invariants. `npm run sim --
 * --seed N` runs a failing seed with a trace. seeds.test.ts runs many seeds.
 */
import { describe, expect, it } from 'vitest'
import { isFull, rotating } from '../rotation.ts'
import { failuresOf } from './failures.ts'
import { type Family, families } from './faults.ts'
import { familyOf, scenarioOf } from './scenario.ts'
import { simulate } from './simulation.ts'

const SEEDS = Array.from({ length: 54 }, (_, seed) => seed)
/** Seeds with one node and with several: each list has all families in turn, so six in a row have each once. */
const lone = SEEDS.filter((seed) => scenarioOf(seed).nodes === 1)
const several = SEEDS.filter((seed) => scenarioOf(seed).nodes > 1)

/** Warnings of Node, for example about listener leaks. */
const warnings: string[] = []
process.on('warning', ({ message }) => void warnings.push(message))

const conditions: Readonly<Record<Family, string>> = {
  answers: 'answers of all kinds are wrong',
  connections: 'connections are slow, reset or half open',
  streams: 'update streams stall, end, or say nothing or too much',
  chains: 'chains are reorganised and clocks are wrong',
  outages: 'the node restarts, is gone, or is another one',
  everything: 'anything goes wrong',
}

describe('simulated network', () => {
  const seeds = [...rotating(lone, families.length), ...rotating(several, families.length / 3)]
  /** Traces of the first seed of each family, by seed. */
  const traces = new Map<number, string>()
  let accepted = 0
  let others = 0

  for (const family of families) {
    it(`a miner keeps its promises while ${conditions[family]}`, async () => {
      const failures: string[] = []
      for (const seed of seeds.filter((each) => familyOf(each) === family)) {
        const outcome = await simulate(seed)
        failures.push(...failuresOf(outcome))
        if (seeds.indexOf(seed) < families.length) traces.set(seed, outcome.trace)
        const { stale, orphaned, rejected, lost } = outcome.verdicts
        expect(outcome.verdicts.accepted, `seed ${seed}`).toBeGreaterThan(0)
        accepted += outcome.blocks
        others += stale + orphaned + rejected + lost
      }
      expect(failures).toEqual([])
    })
  }

  it('the simulation really mines, and really goes wrong', () => {
    expect(accepted).toBeGreaterThan(8 * seeds.length)
    expect(others).toBeGreaterThan(isFull ? 14 : 0)
  })

  it('the simulation does the same for the same seed', async () => {
    for (const [seed, trace] of rotating([...traces], 1)) expect((await simulate(seed)).trace).toBe(trace)
    expect(new Set(traces.values()).size).toBe(families.length)
  })

  it('the simulation causes no warning of Node, such as about a listener leak', () => {
    expect(warnings).toEqual([])
  })
})
