/** The newest blocks of a pool: their outcomes, and the accounts that payouts count them for. */
import { expect, it } from 'vitest'
import {
  MAX_BLOCKS,
  PoolBlocks,
  type PoolBlocksOptions,
  type PreviousRunBlock,
} from '../../src/faces/api/pool-blocks.ts'
import type { LifeStep } from '../../src/ground/chain/solution.ts'
import { accountOf, keyOf, MemoryShares, share } from '../payouts/memory-shares.ts'
import { step } from '../web/dashboard/common.ts'

const AT_MS = 1_764_000_000_000
const [ANN, BEN] = ['a', 'b'].map(accountOf)

const former = (hash: string, foundMs = AT_MS): PreviousRunBlock => ({
  ...{ hash, chain: 3, height: 7, difficulty: 9, state: 'confirmed', effort: 0.5, reward: '1.5', device: 'rig:w' },
  foundAt: new Date(foundMs).toISOString(),
})

/** A share log that counts its readings. */
class CountedShares extends MemoryShares {
  readings = 0

  override shares(range: Parameters<MemoryShares['shares']>[0]) {
    this.readings++
    return super.shares(range)
  }
}

function blocksOf(given: Partial<PoolBlocksOptions> = {}) {
  const blocks = new PoolBlocks({ recent: [], userOf: () => undefined, shares: null, nowMs: () => AT_MS, ...given })
  const tell = (hash: string, life: LifeStep) => blocks.onEvent(step(hash, life))
  const solve = (hash: string, device = 'rig:w') =>
    blocks.onEvent({ ...step(hash, { step: 'handed-in' }), device, step: 'found', work: '', difficulty: 5 })
  return { blocks, tell, solve }
}

it('the list of blocks keeps the newest hundred, and does not search the log for the others', async () => {
  const shares = new CountedShares()
  const recent = Array.from({ length: MAX_BLOCKS }, (_, i) => former(`old${i}`))
  const { blocks, solve } = blocksOf({ recent, shares, userOf: () => ANN })
  expect(blocks.newest.map(({ hash }) => hash)).toEqual(recent.map(({ hash }) => hash).toReversed())
  for (let i = 0; i < 60; i++) solve(`new${i}`)
  expect(blocks.newest).toHaveLength(MAX_BLOCKS)
  expect(blocks.newest[0].hash).toBe('new59')
  expect(blocks.newest.at(-1)?.hash).toBe('old60')
  await blocks.withUsers()
  expect(shares.readings).toBe(40)
})

it('a block has the account of the user whose rig found it, and its device without a user', () => {
  const users: Record<string, string> = { 'rig:a': keyOf('A'), 'rig:b': 'bob', 'rig:c': '' }
  const { blocks, solve } = blocksOf({ userOf: (device) => users[device] })
  for (const device of ['rig:a', 'rig:b', 'rig:c', 'cpu']) solve(device, device)
  const miners = Object.fromEntries(blocks.newest.map(({ hash, miner }) => [hash, miner]))
  expect(miners).toEqual({ 'rig:a': ANN, 'rig:b': 'bob', 'rig:c': 'rig:c', cpu: 'cpu' })
})

it('a later step of a block changes only its state, and the step of an unknown block adds none', () => {
  const { blocks, tell, solve } = blocksOf({ recent: [former('old')] })
  tell('other', { step: 'confirmed', depth: 1 })
  blocks.onEvent({ type: 'reward', hash: 'other', chain: 0, height: 1, amount: '1.0' })
  tell('old', { step: 'orphaned' })
  solve('new')
  blocks.onEvent({ type: 'reward', hash: 'new', chain: 0, height: 1, amount: '0.98' })
  tell('new', { step: 'confirmed', depth: 6 })
  expect(blocks.newest).toMatchObject([
    { hash: 'new', state: 'confirmed', reward: '0.98', effort: 0.5, difficulty: 5, foundAtMs: AT_MS },
    { hash: 'old', state: 'orphaned', reward: '1.5', foundAtMs: AT_MS },
  ])
})

it('the share of a block may come from a second before it until ten minutes after it', async () => {
  const shares = new MemoryShares([
    share({ user: 'too early', timeMs: AT_MS - 1_001, block: 'a' }),
    share({ user: 'early', timeMs: AT_MS - 1_000, block: 'b' }),
    share({ user: 'late', timeMs: AT_MS + 599_999, block: 'c' }),
    share({ user: 'too late', timeMs: AT_MS + 600_000, block: 'd' }),
  ])
  const { blocks } = blocksOf({ shares, recent: ['a', 'b', 'c', 'd'].map((hash) => former(hash)) })
  const miners = (await blocks.withUsers()).map(({ hash, miner }) => [hash, miner])
  expect(Object.fromEntries(miners)).toEqual({ a: 'rig:w', b: 'early', c: 'late', d: 'rig:w' })
})

it('the list of blocks searches the log until a share can come no more, once for requests at a time', async () => {
  const shares = new CountedShares()
  let nowMs = AT_MS
  const { blocks } = blocksOf({ shares, recent: [former('a'), former('b')], nowMs: () => nowMs })
  await Promise.all([blocks.withUsers(), blocks.withUsers(), blocks.withUsers()])
  expect(shares.readings).toBe(2)
  nowMs += 600_000
  shares.add(share({ user: keyOf('b'), timeMs: AT_MS + 2, block: 'b' }))
  expect((await blocks.withUsers()).map(({ miner }) => miner)).toEqual([BEN, 'rig:w'])
  expect(shares.readings).toBe(4)
  nowMs++
  await blocks.withUsers()
  expect(shares.readings).toBe(5)
  await blocks.withUsers()
  expect(shares.readings).toBe(5)
})

it('a state that a block reaches during the search of the log is kept', async () => {
  const shares = new MemoryShares([share({ user: BEN, timeMs: AT_MS, block: 'a' })])
  const { blocks, tell } = blocksOf({ shares, recent: [former('a')] })
  const naming = blocks.withUsers()
  tell('a', { step: 'orphaned' })
  expect(await naming).toMatchObject([{ hash: 'a', miner: BEN, state: 'orphaned' }])
})

it('a log that cannot be read is read again, however old the block is', async () => {
  const shares = new MemoryShares([share({ user: BEN, timeMs: AT_MS, block: 'a' })])
  const whole = shares.shares
  shares.shares = async function* () {
    yield* []
    throw new Error('the log is away')
  }
  const { blocks } = blocksOf({ shares, recent: [former('a')], nowMs: () => AT_MS + 3_600_000 })
  expect(await blocks.withUsers()).toMatchObject([{ miner: 'rig:w' }])
  shares.shares = whole
  expect(await blocks.withUsers()).toMatchObject([{ miner: BEN }])
})
