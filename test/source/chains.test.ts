import { expect, it } from 'vitest'
import { type Cut, extensionOf } from '../../src/ground/chain/cut.ts'
import { decodeHeader, encodeHeader } from '../../src/ground/chain/header.ts'
import { graphAt, type Network } from '../../src/ground/chain/network.ts'
import { development, recapDevelopment } from '../../src/ground/chain/network-data.ts'
import { blockingChainOf, ChainDisplay } from '../../src/mining/source/node/chains.ts'
import { madeWork } from './simulated-node.ts'

const head = (chain: number, height: number) => {
  return decodeHeader(encodeHeader({ ...madeWork(chain, height - 1).fields, hash: new Uint8Array(32).fill(chain) }))
}

/** Heights of the chains after each block, each on a chain that could be mined. @param pick uniform in [0, 1) */
function* braids(network: Network, blocks: number, pick: () => number): Generator<Map<number, number>> {
  const heights = new Map(graphAt(network, 1).adjacents.map((_, chain) => [chain, 0]))
  for (let i = 0; i < blocks; i++) {
    const open = [...heights.keys()].filter((chain) => blockingChainOf(network.graphHistory, heights, chain) === null)
    const chain = open[Math.floor(pick() * open.length)]
    heights.set(chain, (heights.get(chain) ?? 0) + 1)
    yield heights
  }
}

/** Random numbers in [0, 1), the same in each run. */
function numbers(): () => number {
  let last = 1
  return () => {
    last = (last * 48_271) % 2_147_483_647
    return last / 2_147_483_647
  }
}

it('a chain waits exactly when the rules of the braid say so', () => {
  let blocked = 0
  for (const heights of braids(development, 300, numbers())) {
    const cut: Cut = new Map([...heights].map(([chain, height]) => [chain, head(chain, height)]))
    for (const chain of heights.keys()) {
      const extension = extensionOf(development, cut, chain)
      expect(blockingChainOf(development.graphHistory, heights, chain)).toBe(
        typeof extension === 'number' ? extension : null,
      )
      if (typeof extension === 'number') blocked++
    }
  }
  expect(blocked).toBeGreaterThan(100)
})

it('chains wait at a change of the graph until all are there', () => {
  const { graphHistory } = recapDevelopment
  const heights = new Map(Array.from({ length: 10 }, (_, chain) => [chain, 60]))
  expect(blockingChainOf(graphHistory, heights, 0)).toBeNull()
  heights.set(7, 59)
  expect(blockingChainOf(graphHistory, heights, 0)).toBe(7)
  expect(blockingChainOf(graphHistory, heights, 7)).toBeNull()
})

it('heights come from the cut, difficulties from the last look', () => {
  const seen = new ChainDisplay(development.graphHistory, [3])
  expect(seen.statuses()).toEqual([])
  seen.updateHeads({ cut: new Map(Array.from({ length: 20 }, (_, chain) => [chain, head(chain, 5)])) })
  expect(seen.statuses()[3]).toEqual({
    ...{ chain: 3, height: 5, difficulty: 1, waitsFor: null, adjacents: [8, 13, 18], isWanted: true },
  })
  seen.updateHeights(
    new Map(Array.from({ length: 20 }, (_, chain) => [chain, { height: chain === 3 ? 6 : 5, hash: '' }])),
  )
  expect(seen.statuses().map(({ height }) => height)).toEqual(Array.from({ length: 20 }, (_, i) => (i === 3 ? 6 : 5)))
  expect(seen.statuses()[3].waitsFor).toBe(8)
  expect(seen.statuses()[4]).toMatchObject({ difficulty: 1, isWanted: false })
})

it('a node with unknown graphs has no chains to show', () => {
  const seen = new ChainDisplay([], [0])
  seen.updateHeights(new Map([[0, { height: 1, hash: '' }]]))
  expect(seen.statuses()).toEqual([])
})
