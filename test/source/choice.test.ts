import { afterEach, describe, expect, it } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import type { MinerAccount } from '../../src/ground/chain/payload.ts'
import {
  chooseChain,
  expectedRewardsOf,
  isBetter,
  type MinableChain,
  minableChainsOf,
} from '../../src/mining/source/node/choice.ts'
import { HeadReader } from '../../src/mining/source/node/head-reader.ts'
import type { CutHeads } from '../../src/mining/source/node/mining-node.ts'

const account: MinerAccount = { account: 'k:test', predicate: 'keys-all', publicKeys: [] }
const never = new AbortController().signal
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const prospect = (chain: number, share: number, sinceMs = 0): MinableChain => ({
  chain,
  parent: '',
  probability: share,
  sinceMs,
})
const pace = { chains: 20, blockDelayMs: 30_000, roundTripMs: 100, nowMs: 10_000 }
const order = (...prospects: MinableChain[]) => [...expectedRewardsOf(prospects, pace).keys()]

describe('choice of chains', () => {
  it('the source chooses the chain with the easiest target', () => {
    expect(order(prospect(4, 1e-9), prospect(7, 1.1e-9), prospect(2, 0.9e-9))).toEqual([7, 4, 2])
  })

  it('the source chooses the freshest parent among equal targets, the more so the further away the node is', () => {
    const prospects = [prospect(4, 1e-9, 0), prospect(7, 1e-9, 9_000), prospect(2, 1e-9, 4_000)]
    expect(order(...prospects)).toEqual([7, 2, 4])
    const gain = (roundTripMs: number) => {
      const chances = expectedRewardsOf(prospects, { ...pace, roundTripMs })
      return (chances.get(7) ?? 0) / (chances.get(4) ?? 1)
    }
    expect(gain(0)).toBe(1)
    expect(gain(200)).toBeGreaterThan(gain(20))
  })

  it('the choice weighs a fresh parent against an easy target', () => {
    const old = prospect(1, 1.001e-9, 0)
    const fresh = prospect(2, 1e-9, 10_000)
    expect(order(old, fresh)).toEqual([2, 1])
    expect(order({ ...old, probability: 1.1e-9 }, fresh)).toEqual([1, 2])
  })

  it('the expected reward of a chain is its probability times the chance that no other block comes first', () => {
    // All 20 blocks of the network in 30 s are on one chain: 1/15 of a block in 100 ms.
    expect(expectedRewardsOf([prospect(0, 1e-9)], pace).get(0)).toBeCloseTo(1e-9 * Math.exp(-1 / 15), 18)
  })

  it('the source chooses the best remaining chain, and any if nothing is known', () => {
    const chances = expectedRewardsOf([prospect(1, 1e-9), prospect(2, 2e-9)], pace)
    expect(chooseChain([0, 1, 2], chances, () => 0)).toBe(2)
    expect(chooseChain([0, 1], chances, () => 0)).toBe(1)
    expect(chooseChain([0, 5], chances, () => 0.99)).toBe(5)
    expect(chooseChain([], chances, () => 0)).toBe(null)
    expect(isBetter(chances, 2, 1)).toBe(true)
    expect(isBetter(chances, 1, 0), 'a chain that cannot be mined').toBe(true)
    expect(isBetter(chances, 2, 2)).toBe(false)
  })

  it('the choice knows for which chains a node gives work, and with which targets, over many epochs', async () => {
    const node = await startDevnet({ port: 0, pow: true, difficulty: 50n, graph: 'petersen', blockDelayMs: 60_000 })
    cleanups.push(() => node.close())
    const client = await NodeClient.connect({ url: node.url })
    cleanups.push(() => client.close())
    const reader = new HeadReader(client)
    const chains = client.info.nodeChains.map(Number)
    const targets = new Set<bigint>()
    let blocked = 0
    for (let round = 0; round < 24; round++) {
      const heads = await reader.read(await headsOf(client), never)
      const prospects = minableChainsOf(heads, chains, [], 0)
      const shares = new Map(prospects.map(({ chain, probability: share }) => [chain, share]))
      for (const chain of chains) {
        const { work } = await client.work(account, chain)
        expect(work.fields.chainId === chain, `chain ${chain} can be mined`).toBe(shares.has(chain))
        if (work.fields.chainId !== chain) blocked++
        else expect(shares.get(chain)).toBe(Number(work.fields.target) / 2 ** 256)
        targets.add(work.fields.target)
      }
      // This clock sets nearly all times, so targets do not depend on the speed of the machine.
      await told(node, 'clock', { advanceMs: round % 20 < 10 ? 15_000 : 35_000 })
      await extend(node, 5)
    }
    expect(blocked).toBeGreaterThan(0)
    expect(targets.size, 'epochs').toBeGreaterThan(3)
  })

  it('the choice keeps the time since a chain can be mined while its parent stays', async () => {
    const node = await startDevnet({ port: 0, pow: false, graph: 'pair' })
    cleanups.push(() => node.close())
    const client = await NodeClient.connect({ url: node.url })
    cleanups.push(() => client.close())
    const reader = new HeadReader(client)
    const at = async (nowMs: number, before: MinableChain[]) => {
      return minableChainsOf(await reader.read(await headsOf(client), never), [0, 1], before, nowMs)
    }
    const since = (prospects: MinableChain[]) => prospects.map(({ chain, sinceMs }) => [chain, sinceMs])
    const first = await at(10, [])
    expect(since(first)).toEqual([
      [0, 10],
      [1, 10],
    ])
    await client.solved((await client.work(account, 0)).work.bytes)
    const second = await at(20, first)
    expect(since(second)).toEqual([[1, 10]])
    await client.solved((await client.work(account, 1)).work.bytes)
    expect(since(await at(30, second))).toEqual([
      [0, 30],
      [1, 30],
    ])
  })

  it('the choice finds no chain in heads that do not fit together', async () => {
    const node = await startDevnet({ port: 0, pow: false, graph: 'pair' })
    cleanups.push(() => node.close())
    const client = await NodeClient.connect({ url: node.url })
    cleanups.push(() => client.close())
    const heads = await new HeadReader(client).read(await headsOf(client), never)
    const far = new Map([...heads.cut].map(([chain, head]) => [chain, { ...head, height: BigInt(5 * chain) }]))
    expect(minableChainsOf({ ...heads, cut: far }, [0, 1], [], 0)).toEqual([])
    expect(minableChainsOf({ ...heads, cut: new Map() }, [0, 1], [], 0)).toEqual([])
  })
})

/** The current cut of a node. */
async function headsOf(client: NodeClient): Promise<CutHeads> {
  const { hashes } = await client.cut()
  return new Map(Object.entries(hashes).map(([chain, head]) => [Number(chain), head]))
}

/** Makes a block on each of this many chains. */
async function extend(node: Devnet, blocks: number): Promise<void> {
  const chains = Array.from({ length: blocks }, () => Math.floor(Math.random() * node.cut.size))
  await told(node, 'make-blocks', Object.fromEntries(chains.map((chain) => [chain, 1])))
}

async function told({ url }: Devnet, what: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/devnet/${what}`, { method: 'POST', body: JSON.stringify(body), headers })
  expect(answer.status).toBe(200)
}
