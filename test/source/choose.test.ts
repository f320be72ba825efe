import { describe, expect, it } from 'vitest'
import { chooseUpstream, type NodeHealth } from '../../src/mining/source/failover/choose.ts'
import { type CutWeight, lagOf } from '../../src/mining/source/nodes/lag.ts'

const heads = (weight: number, ...heights: number[]): CutWeight => {
  return { weight: BigInt(weight), heights: new Map(heights.map((height, chain) => [chain, height])) }
}

describe('lag of a node', () => {
  it.each([
    ['a node alone', heads(1, 5, 5), [], 0],
    ['a node beside one with the same cut', heads(1, 5, 5), [heads(1, 5, 5)], 0],
    ['a node ahead', heads(9, 7, 7), [heads(1, 5, 5)], 0],
    ['a node behind on all chains', heads(1, 5, 5), [heads(9, 8, 8)], 3],
    ['a node behind on one chain', heads(1, 5, 5, 5), [heads(9, 8, 5, 5)], 1],
    ['a node behind two nodes', heads(1, 5, 5), [heads(8, 6, 6), heads(9, 9, 8)], 3.5],
    ['a node behind on one chain and ahead on another', heads(1, 5, 9), [heads(9, 9, 5)], 2],
    ['a node beside one that is longer, but lighter', heads(9, 5, 5), [heads(1, 90, 90)], 0],
    ['a node without a chain that the other has', heads(1, 5), [heads(9, 5, 4)], 2],
  ])('the lag of a node is right for %s', (_, own, others, lag) => {
    expect(lagOf(own, others)).toBe(lag)
  })
})

describe('node that gives work', () => {
  const well = (sinceMs: number): NodeHealth => ({ isUp: true, fitSinceMs: sinceMs })
  const unfit: NodeHealth = { isUp: true, fitSinceMs: null }
  const down: NodeHealth = { isUp: false, fitSinceMs: null }
  const at = { nowMs: 100, failbackMs: 60 }

  it('the node that gives work is one of higher priority when its timer fires, despite rounding', () => {
    for (let part = 0; part < 100; part++) {
      const sinceMs = 1_000_000 + part / 7
      const now = { nowMs: sinceMs + 60_000, failbackMs: 60_000 }
      expect(chooseUpstream([well(sinceMs), well(0)], 1, now), `fit since ${sinceMs}`).toBe(0)
    }
  })

  it.each([
    ['at first, the first that is fit', [down, well(99), well(0)], null, 1],
    ['the current one, while it is fit', [well(50), well(99), well(0)], 1, 1],
    ['one of higher priority that has been fit for long enough', [well(50), well(40), well(99)], 2, 1],
    ['never one of lower priority instead of a fit one', [down, well(99), well(0)], 1, 1],
    ['the first that is fit when the current one is down, however short', [unfit, well(99), down], 2, 1],
    ['the first that is fit when the current one is unfit', [down, unfit, well(100)], 1, 2],
    ['the current one, unfit as it is, when none is fit', [unfit, unfit, down], 1, 1],
    ['one that is unfit, when all others are down', [down, unfit, down], 0, 1],
    ['none when all are down', [down, down], 1, null],
    ['none of none', [], null, null],
  ])('the node that gives work is %s', (_, nodes, current, expected) => {
    expect(chooseUpstream(nodes, current, at)).toBe(expected)
  })
})
