/**
 * Seeds of the simulation: what happens in each, and what must hold, is in simulation.ts and bounds.ts. A seed that fails
 * here is run with a trace by `npm run sim -- --seed N`.
 */
import { describe, expect, it } from 'vitest'
import { type Family, families } from './faults.ts'
import { familyOf, plainScenario } from './scenario.ts'
import { type Outcome, simulate } from './simulation.ts'

const SEEDS = 1_002
const TIMEOUT_MS = 300_000

/** Seeds that have shown something with one node, and what. They stay. */
const kept: readonly (readonly [seed: number, showed: string])[] = [
  [6, 'a block was counted lost after six attempts to hand it in'],
  [38, 'work came back 12 s after the end of a fault, since streams were opened again that late'],
  [65, 'work came back 12 s after the end of a fault'],
  [508, 'all chains waited for solutions whose answers were lost, 2.4 s after the end of an outage'],
  [2266, 'the same: questions that were lost in the outage kept others from their turn'],
  [3828, 'a solution that was on the chain was called rejected while the chain could not be asked'],
  [67, 'submissions that are repeated while one is under way'],
  [277, 'requests that were repeated on idle connections, all of them half open: work came back after 3.4 s'],
  [875, 'work that was lost before its answer came was searched, in calm times, until its chain moved on again'],
  [930, 'an answer of 2xx that was not of the node: 20 s until a solution had its verdict'],
  [979, 'work came back 5 s after connections were half open'],
  [1627, 'work came back 18 s after connections were half open'],
]

/** Seeds that have shown something with all that belongs to them: several nodes, disks, ends of the miner. They stay. */
const keptWhole: readonly (readonly [seed: number, showed: string])[] = [
  [103, 'work was asked of a node, and never again let go, because a solution of an earlier run was settled with it'],
  [125, 'a block was called stale since another node did not have it yet, while its own was just coming back'],
  [732, 'a block was called stale since its node failed to answer once, and another did not have it yet'],
  [84, 'after the block of a solution had left its chain, its parent was not searched until somebody else found one'],
  [934, 'work of a node with other chains, which had come up behind the address of the first, was searched for 4.4 s'],
]

/** One line for each thing that must not happen and did. */
function failuresOf({ seed, faults, violations }: Outcome): string[] {
  return violations.map(({ invariant, atMs, detail }) => {
    return `seed ${seed}, ${Math.round(atMs)} ms: ${invariant}: ${detail} (${faults.join('; ')})`
  })
}

/** What Node warned of, such as listeners that pile up. */
const warnings: string[] = []
process.on('warning', ({ message }) => void warnings.push(message))

async function failuresIn(seeds: readonly number[]): Promise<string[]> {
  const failures: string[] = []
  for (const seed of seeds) failures.push(...failuresOf(await simulate(seed)))
  return failures
}

const conditions: Readonly<Record<Family, string>> = {
  answers: 'answers of all kinds are wrong',
  connections: 'connections are slow, reset or half open',
  streams: 'update streams stall, end, or say nothing or too much',
  chains: 'chains are reorganised and clocks are wrong',
  outages: 'the node restarts, is gone, or is another one',
  everything: 'anything goes wrong',
}

describe('a miner on a simulated network', () => {
  const seeds = Array.from({ length: SEEDS }, (_, seed) => seed)
  for (const family of families) {
    it(`keeps its promises while ${conditions[family]}`, { timeout: TIMEOUT_MS }, async () => {
      expect(await failuresIn(seeds.filter((seed) => familyOf(seed) === family))).toEqual([])
    })
  }

  it.each(kept)('passes seed %i, which showed: %s', async (seed) => {
    expect(failuresOf(await simulate(seed, undefined, plainScenario))).toEqual([])
  })

  it.each(keptWhole)('passes seed %i with all that belongs to it, which showed: %s', async (seed) => {
    expect(await failuresIn([seed])).toEqual([])
  })

  it('makes Node warn of nothing, such as listeners that pile up', () => {
    expect(warnings).toEqual([])
  })

  it('does the same for the same seed', async () => {
    const seeds = families.map((_, seed) => seed)
    const first: string[] = []
    for (const seed of seeds) first.push((await simulate(seed)).trace)
    const second: string[] = []
    for (const seed of seeds.toReversed()) second.unshift((await simulate(seed)).trace)
    expect(second).toEqual(first)
    expect(new Set(first).size).toBe(seeds.length)
  })

  it('really mines, and really goes wrong', async () => {
    let accepted = 0
    let others = 0
    for (let seed = 0; seed < 18; seed++) {
      const { verdicts, blocks } = await simulate(seed)
      expect(verdicts.accepted).toBeGreaterThan(0)
      accepted += blocks
      others += verdicts.stale + verdicts.orphaned + verdicts.rejected + verdicts.lost
    }
    expect(accepted).toBeGreaterThan(150)
    expect(others).toBeGreaterThan(5)
  })
})
