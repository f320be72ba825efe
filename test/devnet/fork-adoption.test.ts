/** A network adopts a fork by the votes of its blocks. A real miner mines it, and a client verifies every header. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { NodeClient } from '../../src/client/node/public.ts'
import { networkOf, settingsOf } from '../../src/devnet/rules/settings.ts'
import { COUNTING_BLOCKS, type ForkState, forkStateOf } from '../../src/ground/chain/fork.ts'
import type { GraphName } from '../../src/ground/chain/graph.ts'
import { run } from '../cli/run.ts'
import { isFull } from '../rotation.ts'
import { makeBlocks } from './commands-common.ts'
import { fork, grow } from './grow.ts'
import { type Devnet, type DevnetOptions, startDevnet } from './whole-node.ts'

const VOTING = 20
const EPOCH = VOTING + COUNTING_BLOCKS
/** Blocks come slower than they should, so the difficulty only falls, and the miner hardly searches. */
const settings = { graph: 'pair', difficulty: 20n, blockDelayMs: 1, forkEpoch: VOTING } as const
const KEY = 'ab'.repeat(32)

async function networkWith(options: Partial<DevnetOptions> = {}) {
  const devnet = await startDevnet({ port: 0, ...settings, ...options })
  onTestFinished(() => devnet.close())
  return devnet
}

/** Fork states of the whole chain; the client verifies each header. */
async function verifiedStates(url: string, chain: number, graph: GraphName = settings.graph): Promise<ForkState[]> {
  const client = await NodeClient.connect({ url })
  onTestFinished(() => client.close())
  const verify = { network: networkOf(settingsOf({ ...settings, graph })) }
  const headers = await client.headers(chain, { verify }).all()
  return headers.map(({ featureFlags }) => forkStateOf(featureFlags))
}

/**
 * Mines an epoch, and some blocks after it. The node itself makes most of the blocks that only count votes: a miner has
 * no say in them.
 * @returns the output of the miners
 */
async function mineEpoch({ url, cut }: Devnet, ...flags: readonly string[]): Promise<string> {
  const chains = [...cut.keys()]
  const options = ['--fork-epoch', `${VOTING}`, ...flags]
  if (isFull) return mineWith(url, chains.length * OF_EPOCH, ...options)
  const first = await mineWith(url, chains.length * (VOTING + EDGE), ...options)
  await makeBlocks({ url }, Object.fromEntries(chains.map((chain) => [chain, COUNTING_BLOCKS - 2 * EDGE])))
  return first + (await mineWith(url, chains.length * (OF_EPOCH - EPOCH + EDGE), ...options))
}

/** Mines this many blocks. Returns the output of the miner. */
async function mineWith(url: string, blocks: number, ...more: readonly string[]): Promise<string> {
  const fixed = ['--threads', '1', '--gpu', 'none', '--http', 'off', '--state', 'off', '--public-key', KEY]
  const { code, out, err } = await run(['mine', '--node', url, '--blocks', `${blocks}`, ...fixed, ...more])
  expect(code).toBe(0)
  expect(err).toBe('')
  return out
}

/** Blocks of a chain up to a few heights after the first epoch. */
const OF_EPOCH = EPOCH + 8
/** Counting blocks at both ends of their part that a miner mines. */
const EDGE = 4
/** One chain, where nothing is said about several. */
const graph = 'singleton'

describe('a network whose nodes know fork number 1', () => {
  it('a network whose nodes know fork number 1 adopts it on all chains once its blocks have voted for it, and its miner reports its votes', async () => {
    const devnet = await networkWith()
    const out = await mineEpoch(devnet)
    for (const chain of [0, 1]) {
      const states = await verifiedStates(devnet.url, chain)
      expect(states.slice(0, VOTING).map(({ votes }) => votes)).toEqual(
        Array.from({ length: VOTING }, (_, height) => 1000 * height),
      )
      expect(states.slice(1, EPOCH).every(({ number }) => number === 0)).toBe(true)
      expect(states.slice(EPOCH, EPOCH + 2)).toEqual([
        { number: 1, votes: 1000 },
        { number: 1, votes: 1000 },
      ])
    }
    const votes = [...out.matchAll(/^\S+ vote +(.*)$/gm)].map(([, text]) => text)
    // The last vote comes from a node without a further fork to vote for.
    expect(votes[0]).toBe('votes for fork 1')
    expect(votes.at(-1)).toBe('does not vote for fork 2')
    expect(out).toMatch(/ summary .*\n.*\n.*\n.* does not vote for fork 2\n/)
  })

  it.each([
    ['the node votes for none', { forkTarget: 0 }, []],
    ['its miner votes against it', {}, ['--fork-vote', 'no']],
  ] as const)('a network whose nodes know fork number 1 does not adopt it if %s', async (_, options, flags) => {
    const devnet = await networkWith({ graph, ...options })
    const out = await mineEpoch(devnet, ...flags)
    const states = await verifiedStates(devnet.url, 0, graph)
    expect(states.slice(0, EPOCH + 2)).toEqual(Array(EPOCH + 2).fill({ number: 0, votes: 0 }))
    expect(out).toContain('does not vote for fork 1')
  })

  it('a network whose nodes know fork number 1 adopts it if its miner votes for it and its node does not', async () => {
    const devnet = await networkWith({ graph, forkTarget: 0 })
    await mineEpoch(devnet, '--fork-vote', 'yes')
    const states = await verifiedStates(devnet.url, 0, graph)
    expect(states[EPOCH].number).toBe(1)
  })

  it('a network whose nodes know fork number 1 switches to a heavier branch that adopted it', async () => {
    const devnet = await networkWith({ pow: false })
    const { chains } = devnet
    grow(devnet, 2 * (EPOCH - 1))
    const before = new Map(chains.cut)
    const numbers = () => [...chains.cut.values()].map(({ featureFlags }) => forkStateOf(featureFlags).number)
    expect(numbers()).toEqual([0, 0])
    const short = fork(devnet, before, 4)
    const long = fork(devnet, before, 8)
    expect(chains.adopt(short)).toBe(true)
    expect(numbers()).toEqual([1, 1])
    expect(chains.adopt(long)).toBe(true)
    expect(numbers()).toEqual([1, 1])
    // Work on the head has the fork number of its branch.
    grow(devnet, 2)
    expect(numbers()).toEqual([1, 1])
  })
})
