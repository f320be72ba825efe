import { describe, expect, it } from 'vitest'
import { Chains } from '../../src/devnet/rules/chains.ts'
import { NodeClock } from '../../src/devnet/rules/node-clock.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { targetOfDifficulty } from '../../src/ground/chain/target.ts'
import { grow } from './grow.ts'

const START_MS = 1_700_000_000_000

/** The clocks of a machine: time passes on both, and the wall clock can be set. */
class Machine {
  #wallMs = START_MS
  #monotonicMs = 5000

  wallMs = () => Math.floor(this.#wallMs)
  monotonicMs = () => this.#monotonicMs

  pass(milliseconds: number): void {
    this.#wallMs += milliseconds
    this.#monotonicMs += milliseconds
  }

  set(byMs: number): void {
    this.#wallMs += byMs
  }
}

const millisecondsOf = (clock: NodeClock) => Number(clock.microseconds()) / 1000 - START_MS

describe('the clock of a node', () => {
  it('the clock of a node reads the time of the machine, in finer steps than its wall clock', () => {
    const machine = new Machine()
    const clock = new NodeClock(machine)
    expect(millisecondsOf(clock)).toBe(0)
    machine.pass(0.25)
    expect(millisecondsOf(clock)).toBeCloseTo(0.25, 3)
    machine.pass(1000.5)
    expect(millisecondsOf(clock)).toBeCloseTo(1000.75, 3)
    expect(clock.aheadMs).toBe(0)
  })

  it('the clock of a node never returns the same time twice', () => {
    const clock = new NodeClock(new Machine())
    const times = Array.from({ length: 100 }, () => clock.microseconds())
    for (let i = 1; i < times.length; i++) expect(times[i]).toBe(times[i - 1] + 1n)
  })

  it('the clock of a node stands still a step after the newest block, or after where it stood', () => {
    const clock = new NodeClock({ wallMs: () => 0, monotonicMs: () => 0 })
    clock.hold({ at: 100n, step: 10n })
    clock.blockAdded(50n)
    expect(clock.held).toEqual({ at: 110n, step: 10n })
    clock.blockAdded(500n)
    expect(clock.microseconds()).toBe(510n)
    // The next block sets it going, and no block has the time of another.
    clock.hold({ at: 1000n, step: null })
    clock.blockAdded(1000n)
    expect(clock.held).toBe(null)
    expect(clock.microseconds()).toBe(1001n)
  })

  it("the clock of a node continues at the machine's pace if the wall clock is set back by 60 s", () => {
    const machine = new Machine()
    const clock = new NodeClock(machine)
    const before = millisecondsOf(clock)
    machine.set(-60_000)
    machine.pass(1000)
    expect(millisecondsOf(clock) - before).toBeCloseTo(1000, 2)
    machine.pass(1000)
    expect(millisecondsOf(clock) - before).toBeCloseTo(2000, 2)
    expect(clock.aheadMs).toBe(60_000)
  })

  it('the clock of a node follows if the wall clock is set ahead, as after a machine has slept', () => {
    const machine = new Machine()
    const clock = new NodeClock(machine)
    millisecondsOf(clock)
    machine.set(3_600_000)
    machine.pass(10)
    expect(millisecondsOf(clock)).toBeCloseTo(3_600_010, 2)
    expect(clock.aheadMs).toBe(0)
  })

  it('the clock of a node does not go back if a wall clock that was ahead is corrected', () => {
    const machine = new Machine()
    const clock = new NodeClock(machine)
    machine.set(3_600_000)
    const ahead = millisecondsOf(clock)
    machine.set(-3_600_000)
    machine.pass(10)
    expect(millisecondsOf(clock)).toBeCloseTo(ahead + 10, 2)
  })

  it("the clock of a node continues from the time of future blocks at the machine's pace", () => {
    const machine = new Machine()
    const clock = new NodeClock(machine)
    clock.catchUp(BigInt(START_MS + 60_000) * 1000n)
    expect(millisecondsOf(clock)).toBeCloseTo(60_000, 2)
    machine.pass(500)
    expect(millisecondsOf(clock)).toBeCloseTo(60_500, 2)
    machine.set(-5000)
    machine.pass(500)
    expect(millisecondsOf(clock)).toBeCloseTo(61_000, 2)
    expect(clock.aheadMs).toBe(65_000)
  })
})

it('difficulty does not change if the wall clock is set back by 60 s', () => {
  const machine = new Machine()
  const clock = new NodeClock(machine)
  const difficulty = 1_000_000n
  const network = {
    ...development,
    graphHistory: [{ from: 0, graph: graphs.pair }],
    genesisTarget: () => targetOfDifficulty(difficulty),
    blockDelay: 1_000_000n,
  }
  const chains = new Chains({ network, checkPow: false, now: clock.microseconds })
  for (let block = 0; block < 600; block++) {
    // Two chains make one block every half block delay.
    machine.pass(500)
    if (block === 300) machine.set(-60_000)
    grow({ chains }, 1)
  }
  for (const { target } of chains.cut.values()) {
    const ratio = Number((targetOfDifficulty(difficulty) * 1000n) / target) / 1000
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.25)
  }
})
