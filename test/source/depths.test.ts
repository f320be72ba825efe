/** Depths of blocks on virtual time, with chains that grow and fork by generated moves. */
import { setMaxListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NewcutError } from '../../src/ground/base/errors.ts'
import type { FollowUp } from '../../src/ground/chain/solution.ts'
import { NodeCalls } from '../../src/mining/source/node/calls.ts'
import { type ChainStep, DepthWatch, UNSEEN_DEPTH } from '../../src/mining/source/node/depths.ts'
import type { BlockName, BlockPosition, Branch } from '../../src/mining/source/node/mining-node.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'

const CONFIRMATIONS = 6

/** A chain of named blocks, as a node reports it. */
class Chain {
  readonly ids: string[] = ['genesis']
  /** Blocks that the node has, on its chain or beside it. */
  readonly known = new Set<string>()
  asked = 0
  isAway = false
  #made = 0

  get head(): number {
    return this.ids.length - 1
  }

  grow(blocks: number): void {
    for (let i = 0; i < blocks; i++) {
      const id = `block ${this.#made++}`
      this.ids.push(id)
      this.known.add(id)
    }
  }

  /** Replaces the last `depth` blocks by a branch that is `more` blocks longer. */
  fork(depth: number, more: number): void {
    const dropped = Math.min(depth, this.head)
    this.ids.length -= dropped
    this.grow(dropped + more)
  }

  positionOf = async ({ height, hash }: BlockName): Promise<BlockPosition> => {
    if (this.isAway) throw new NewcutError('NODE_UNREACHABLE', 'connection refused')
    const id = Buffer.from(hash).toString()
    const depth = this.head - height + 1
    if (depth < 1) return { kind: 'awaited' }
    if (this.ids[height] === id) return { kind: 'on-chain', depth }
    return { kind: this.known.has(id) ? 'orphaned' : 'passed', depth }
  }

  branch = async (_chain: number, lowest: number, highest: number): Promise<Branch> => {
    this.asked++
    if (this.isAway) throw new NewcutError('NODE_UNREACHABLE', 'connection refused')
    const heights = Array.from({ length: highest - lowest + 1 }, (_, i) => lowest + i)
    const known = heights.filter((height) => height <= this.head)
    return { head: this.head, ids: new Map(known.map((height) => [height, this.ids[height]])) }
  }
}

function ground() {
  const [clock, chain, stop] = [new VirtualClock(), new Chain(), new AbortController()]
  const onFault = (error: unknown) => {
    throw error
  }
  const depths = new DepthWatch({ node: chain, calls: new NodeCalls(clock), confirmations: CONFIRMATIONS, onFault })
  chain.grow(1)
  setMaxListeners(0, stop.signal)
  /** Follows the current head. */
  const follow = (last: ChainStep = { step: 'confirmed', depth: 1 }) => {
    const told: FollowUp[] = []
    const id = chain.ids[chain.head]
    const followed = { height: chain.head, id, told, isOver: false }
    const block = { chain: 0, height: chain.head, hash: Buffer.from(id), id }
    void (async () => {
      for await (const step of depths.follow(block, last, stop.signal)) told.push(step)
      followed.isOver = true
    })()
    return followed
  }
  return { clock, chain, stop, depths, follow }
}

const confirmed = (depth: number): FollowUp => ({ step: 'confirmed', depth })
const orphaned = { step: 'orphaned', mayReturn: true } as const

describe('confirmed block', () => {
  it('a confirmed block is reported at greater depths until it is deep enough', async () => {
    const { clock, chain, depths, follow } = ground()
    const { told } = follow()
    for (let i = 0; i < 8; i++) {
      chain.grow(1)
      depths.lookSoon(0)
      await clock.pass(1000)
    }
    expect(told).toEqual([2, 3, 4, 5, 6].map(confirmed))
    expect(clock.pending).toBe(0)
  })

  it('a confirmed block is an orphan when it is replaced, and confirmed again when its branch wins', async () => {
    const { clock, chain, depths, follow } = ground()
    const block = follow()
    const before = [...chain.ids]
    chain.fork(1, 1)
    depths.lookSoon(0)
    await clock.pass(1000)
    chain.ids.splice(0, Number.POSITIVE_INFINITY, ...before)
    chain.grow(2)
    depths.lookSoon(0)
    await clock.pass(1000)
    chain.grow(3)
    await clock.pass(10_000)
    expect(block.told).toEqual([orphaned, confirmed(3), confirmed(6)])
    expect(block.isOver).toBe(true)
  })

  it('a confirmed block is an orphan for good once the block in its place is deep enough', async () => {
    const { clock, chain, follow } = ground()
    const block = follow()
    chain.fork(1, 1)
    await clock.pass(6_000)
    expect(block).toMatchObject({ told: [orphaned], isOver: false })
    chain.grow(4)
    await clock.pass(6_000)
    expect(block).toMatchObject({ told: [orphaned, { step: 'orphaned' }], isOver: true })
    expect(clock.pending).toBe(0)
  })

  it('a confirmed block is not an orphan while its node does not know it: another may be there for a while', async () => {
    const { clock, chain, follow } = ground()
    const [block, before] = [follow(), [...chain.ids]]
    chain.fork(1, 9)
    chain.known.delete(block.id)
    await clock.pass(300_000)
    expect(block).toMatchObject({ told: [], isOver: false })
    chain.ids.splice(0, Number.POSITIVE_INFINITY, ...before)
    chain.grow(1)
    await clock.pass(6_000)
    expect(block.told).toEqual([confirmed(2)])
    chain.fork(2, 9)
    await clock.pass(590_000)
    expect(block.told).toEqual([confirmed(2)])
    await clock.pass(20_000)
    expect(block).toMatchObject({ told: [confirmed(2), { step: 'orphaned' }], isOver: true })
  })

  it('the source checks a confirmed block without news too, and while its node is away', async () => {
    const { clock, chain, follow } = ground()
    const { told } = follow()
    chain.isAway = true
    chain.grow(3)
    await clock.pass(60_000)
    expect(told).toEqual([])
    chain.isAway = false
    await clock.pass(10_000)
    expect(told).toEqual([confirmed(4)])
  })

  it('the source checks a confirmed block with all others of its chain at once, and at most once a second', async () => {
    const { clock, chain, depths, follow } = ground()
    for (let i = 0; i < 50; i++) {
      follow()
      chain.grow(1)
    }
    for (let i = 0; i < 100; i++) {
      depths.lookSoon(0)
      await clock.pass(50)
    }
    expect(chain.asked).toBeLessThanOrEqual(6)
  })

  it('the source does not check a confirmed block after the miner or the source ends', async () => {
    for (const end of ['miner', 'source']) {
      const { clock, depths, stop, follow } = ground()
      const [one, other] = [follow(), follow()]
      await settle()
      if (end === 'miner') stop.abort()
      else depths.stop()
      await settle()
      expect(one.isOver).toBe(true)
      expect(other.isOver).toBe(true)
      expect(clock.pending).toBe(0)
    }
  })
})

it('a block that an earlier run saw is checked at once, and a node that does not know it does not make it an orphan', async () => {
  const { clock, chain, follow } = ground()
  const block = follow({ step: 'confirmed', depth: UNSEEN_DEPTH })
  await clock.pass(10)
  expect(block.told).toEqual([confirmed(1)])
  const other = follow({ step: 'confirmed', depth: UNSEEN_DEPTH })
  chain.fork(1, 9)
  chain.known.delete(other.id)
  await clock.pass(300_000)
  expect(other.told).toEqual([])
})

it('a block that its node does not know does not delay blocks of far greater height', async () => {
  const { clock, chain, follow } = ground()
  const low = follow()
  chain.fork(1, 1)
  chain.known.delete(low.id)
  chain.grow(300)
  const high = follow()
  chain.grow(5)
  await clock.pass(12_000)
  expect(low.told).toEqual([])
  expect(high.told).toEqual([confirmed(6)])
})

it('a block is checked although newer ones are found before each check', async () => {
  const { clock, chain, depths, follow } = ground()
  const { told } = follow()
  for (let i = 0; i < CONFIRMATIONS; i++) {
    chain.grow(1)
    follow()
    depths.lookSoon(0)
    await clock.pass(1000)
  }
  expect(told).toEqual([2, 3, 4, 5, 6].map(confirmed))
})

it('blocks are checked in turn if they are too many for one question, also while newer ones are found', async () => {
  const { clock, chain, depths, follow } = ground()
  const blocks = [follow()]
  for (let i = 0; i < 250; i++) {
    chain.grow(1)
    blocks.push(follow())
  }
  const settled = () => blocks.filter(({ isOver }) => isOver).length
  // Three questions cover all blocks that existed at the first one, and the fourth starts over.
  for (let i = 0; i < 4; i++) {
    if (i < 3) expect(settled()).toBe(100 * i)
    chain.grow(1)
    blocks.push(follow())
    depths.lookSoon(0)
    await clock.pass(1000)
  }
  expect(blocks.length - settled()).toBe(CONFIRMATIONS - 1)
})

it('a block that was stale at first is confirmed if its chain switches to it', async () => {
  const { clock, chain, follow } = ground()
  const block = follow({ step: 'stale', mayReturn: true })
  chain.grow(2)
  await clock.pass(6_000)
  expect(block.told).toEqual([confirmed(3)])
})

it('the last report about a block is correct once its chain is above the block, whatever reorgs came before', async () => {
  const move = fc.oneof(
    fc.record({ kind: fc.constant('grow' as const), blocks: fc.nat({ max: 3 }) }),
    fc.record({ kind: fc.constant('fork' as const), depth: fc.integer({ min: 1, max: 5 }), more: fc.nat({ max: 2 }) }),
    fc.record({ kind: fc.constant('follow' as const) }),
    fc.record({ kind: fc.constant('away' as const) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat({ max: 5000 }) }),
  )
  const property = fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
    const { clock, chain, depths, follow } = ground()
    const blocks: ReturnType<typeof follow>[] = []
    const settled = new Map<string, boolean>()
    for (const each of moves) {
      if (each.kind === 'grow') chain.grow(each.blocks)
      else if (each.kind === 'fork') chain.fork(each.depth, each.more)
      else if (each.kind === 'follow') blocks.push(follow())
      else if (each.kind === 'away') chain.isAway = !chain.isAway
      else await clock.pass(each.ms)
      if (each.kind === 'grow' || each.kind === 'fork') depths.lookSoon(0)
      await settle()
      for (const block of blocks) {
        if (block.isOver && !settled.has(block.id)) settled.set(block.id, chain.ids[block.height] === block.id)
      }
    }
    chain.isAway = false
    const before = chain.ids.length
    chain.grow(CONFIRMATIONS)
    await clock.pass(25_000)
    for (const block of blocks) {
      expect(block.isOver).toBe(true)
      const last = block.told.at(-1)?.step ?? 'confirmed'
      // A fork below the settled depth no longer changes the verdict.
      const isThere = settled.get(block.id) ?? chain.ids[block.height] === block.id
      expect(last, `height ${block.height} of ${before}`).toBe(isThere ? 'confirmed' : 'orphaned')
    }
    expect(clock.pending).toBe(0)
  })
  await fc.assert(property, { numRuns: 60 })
})
