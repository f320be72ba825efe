import { describe, expect, it } from 'vitest'
import { type DryRun, Mempools } from '../../src/devnet/mempool/mempools.ts'
import { Chains } from '../../src/devnet/rules/chains.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { indexBlock, MemoryTransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import { TimeSlicer } from '../../src/devnet/time-slicer.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import type { Header } from '../../src/ground/chain/header.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { type Change, type Signed, signed } from './command.ts'
import { brief, PATIENT, start, TEXT } from './common.ts'
import { makeBlock } from './forks.ts'
import type { Ground } from './ground.ts'
import { headPayload, insert, insertTexts, keysIn, pending } from './mempool-common.ts'
import { mineWhole } from './miner.ts'
import { noTrial } from './no-trial.ts'
import { commandOf, pendingOf } from './read-command.ts'
import type { Peer } from './request.ts'

const keysOf = (commands: readonly Signed[]) => commands.map((command) => command.hash)
const pendingKeys = async (peer: Peer) => (await pending(peer)).hashes

/** A block with these transactions on top of `parent`, in the store but not on the cut. */
function fork(ground: Ground, parent: Header, commands: readonly Signed[]): Header {
  const { header, payload } = makeBlock(ground, new Map([[0, parent]]), 0, { account: 'fork', commands })
  expect(ground.chains.insert(header, payload)).toMatchObject({ status: 'added' })
  return header
}

const headOf = (chains: Chains) => chains.cut.get(0) as Header
const idOf = ({ hash }: Header) => Buffer.from(hash).toString('base64url')

describe('a reorganisation', () => {
  it('a reorganisation restores transactions that only the old branch holds, and removes those of the new one', async () => {
    const started = await start({ graph: 'singleton', pow: false }, PATIENT)
    const { devnet, peer } = started
    const { chains } = devnet
    const [inBoth, inOld, later, fromNew] = [signed(), signed(), signed(), signed()]
    const texts = (command: Signed) => [JSON.stringify(command)]
    const genesis = headOf(chains)
    await insert(peer, [inBoth, inOld])
    await mineWhole(peer)
    const old = headOf(chains)
    await insert(peer, [later, fromNew])
    const first = fork(devnet, genesis, [inBoth, fromNew])
    const second = fork(devnet, first, [])
    // Orphans do not change the mempool.
    expect(await pendingKeys(peer)).toEqual(keysOf([later, fromNew]))
    expect(brief(await insertTexts(peer, texts(inOld)))).toEqual([
      400,
      TEXT,
      'element 0: Transaction already exists on chain',
    ])
    expect(chains.adopt(new Map([[0, second]]))).toBe(true)
    expect(await pendingKeys(peer)).toEqual(keysOf([later, inOld]))
    await insert(peer, [inOld])
    for (const command of [inBoth, fromNew]) {
      expect(brief(await insertTexts(peer, texts(command)))).toEqual([
        400,
        TEXT,
        'element 0: Transaction already exists on chain',
      ])
    }
    await mineWhole(peer)
    expect(keysIn(headPayload(started))).toEqual(keysOf([later, inOld]))
    // A second reorganisation returns to the old branch.
    const heads = [fork(devnet, old, [])]
    for (let i = 0; i < 3; i++) heads.push(fork(devnet, heads[i], []))
    expect(chains.adopt(new Map([[0, heads[3]]]))).toBe(true)
    expect(await pendingKeys(peer)).toEqual(keysOf([fromNew, later]))
    expect((await insertTexts(peer, texts(inOld))).status).toBe(400)
  })

  it('a reorganisation agrees with a model: pending is everything that was sent and is not on the branch of the head', async () => {
    const { devnet, peer } = await start({ graph: 'singleton', pow: false }, PATIENT)
    const { chains } = devnet
    const sent: Signed[] = []
    /** The transactions on the branch of each block. */
    const held = new Map<string, Signed[]>([[idOf(headOf(chains)), []]])
    let tips = [headOf(chains)]
    for (let step = 0; step < 40; step++) {
      const fresh = [signed(), signed()]
      await insert(peer, fresh)
      sent.push(...fresh)
      // Extends the branch of a random earlier block with some of the transactions that it lacks.
      const parent = tips[Math.floor((((step * 7919) % 101) / 101) * tips.length)]
      const branch = held.get(idOf(parent)) ?? []
      const missing = sent.filter((command) => !branch.includes(command))
      const chosen = missing.filter((_, i) => (i + step) % 3 === 0)
      const block = fork(devnet, parent, chosen)
      held.set(idOf(block), [...branch, ...chosen])
      tips = [...tips.slice(-4), block]
      chains.adopt(new Map([[0, block]]))
      const onBranch = held.get(idOf(headOf(chains))) ?? []
      const expected = sent.filter((command) => !onBranch.includes(command))
      expect([...(await pendingKeys(peer))].sort(), `step ${step}`).toEqual(keysOf(expected).sort())
    }
    expect(Number(headOf(chains).height)).toBeGreaterThan(8)
    expect(chains.store.count(0)).toBeGreaterThan(Number(headOf(chains).height) + 10)
  })
})

describe('with a clock of its own', () => {
  function network(trial: DryRun = noTrial) {
    let aheadMs = 0
    const nowMs = () => aheadMs + Date.now()
    const graph = { ...development, graphHistory: [{ from: 0, graph: graphs.singleton }], window: null }
    let last = 0n
    const now = () => {
      const us = BigInt(Date.now()) * 1000n
      last = last < us ? us : last + 1n
      return last
    }
    const chains = new Chains({ network: graph, checkPow: false, now })
    const index = new MemoryTransactionIndex()
    chains.onBlock((block) => indexBlock(index, block))
    // In this release the size of a proof costs no gas.
    const rules = rulesFor(graph, '2.32')
    const pools = new Mempools({ chains, index, nowMs, trial, turns: new TimeSlicer(), rules })
    const advance = (ms: number) => {
      aheadMs += ms
    }
    return { chains, index, pools, pool: pools.poolOf(0), advance }
  }

  it('a pool removes expired transactions everywhere, and notifies listeners', () => {
    const { pools, pool, advance } = network()
    const [short, long] = [signed({ ttl: 60 }), signed({ ttl: 600 })]
    expect(pools.insert(0, [short, long].map(commandOf))).toBe(null)
    let changes = 0
    pools.onChange((chain) => {
      changes += chain === 0 ? 1 : 100
    })
    const block = pool.nextBlock
    expect(pool.nextBlock).toBe(block)
    advance(50_000)
    expect(pool.size).toBe(2)
    expect(pool.nextBlock).toBe(block)
    expect(changes).toBe(0)
    advance(6_000)
    expect(pool.pending(null)).toEqual({ hashes: [long.hash], newest: 2 })
    expect(pool.get(short.hash)).toBeUndefined()
    expect(pool.size).toBe(1)
    expect(changes).toBe(1)
    expect(pool.nextBlock.map(({ key }) => key)).toEqual([long.hash])
    expect(pool.pending(1n).hashes).toEqual([long.hash])
    advance(600_000)
    expect(pool.nextBlock).toEqual([])
    expect(pool.get(long.hash)).toBeUndefined()
    expect(changes).toBe(2)
    expect(pools.insert(0, [commandOf(long)])).toMatchObject({
      invalid: [{ element: 0, fault: 'Transaction time-to-live is expired' }],
    })
  })

  it.each(['tryNow', 'tryLater'] as const)(
    'a pool refuses a transaction that a block took during its trial by %s',
    async (name) => {
      const command = signed()
      const trial: DryRun = {
        ...noTrial,
        tryNow: () => {
          if (name === 'tryLater') return undefined
          take()
          return null
        },
        tryLater: async () => {
          take()
          return null
        },
      }
      const { chains, pools, pool } = network(trial)
      const take = () => chains.adopt(new Map([[0, fork({ chains }, headOf(chains), [command])]]))
      expect(await pools.submit(0, [commandOf(command)])).toMatchObject({
        invalid: [{ element: 0, fault: 'Transaction already exists on chain' }],
      })
      expect(pool.size).toBe(0)
    },
  )

  it('a pool returns the same array for the next block until the choice changes', () => {
    const { pools, pool } = network()
    const add = (meta: Change) => expect(pools.insert(0, [commandOf(signed(meta))])).toBe(null)
    add({ gasLimit: 149_500, gasPrice: 1 })
    const block = pool.nextBlock
    add({ gasLimit: 600 })
    expect(pool.nextBlock).toBe(block)
    add({ gasLimit: 500 })
    expect(block).toHaveLength(1)
    expect(pool.nextBlock.length).toBe(2)
  })

  it('a pool lists every block of a transaction once in the index', () => {
    const { chains, index } = network()
    const command = signed()
    const [one, two] = [fork({ chains }, headOf(chains), [command]), fork({ chains }, headOf(chains), [command])]
    const places = [one, two].map((header) => ({ chain: 0, height: 1, block: idOf(header), index: 0 }))
    expect(index.find(command.hash)).toEqual(places)
    index.add(command.hash, { ...places[0] })
    expect(index.find(command.hash)).toEqual(places)
    expect(index.find('none')).toEqual([])
  })

  it('a pool does not restore a transaction that expired in a block', () => {
    const { chains, pools, pool, advance } = network()
    const [short, long] = [signed({ ttl: 60 }), signed({ ttl: 600 })]
    const genesis = headOf(chains)
    const block = fork({ chains }, genesis, [short, long])
    chains.adopt(new Map([[0, block]]))
    advance(100_000)
    chains.adopt(new Map([[0, fork({ chains }, fork({ chains }, genesis, []), [])]]))
    expect(pool.pending(null).hashes).toEqual([long.hash])
    expect(pools.insert(0, [commandOf(short)])).toMatchObject({
      invalid: [{ element: 0, fault: 'Transaction time-to-live is expired' }],
    })
  })

  it('a pool refuses transactions beyond its limits, and a full pool stays unchanged', () => {
    const { chains, pools, pool } = network()
    const genesis = headOf(chains)
    const mined = signed()
    chains.adopt(new Map([[0, fork({ chains }, genesis, [mined])]]))
    // The maximum number of bytes: 16 MiB.
    const cont = { pactId: 'p', step: 1, rollback: false, proof: 'x'.repeat(1_600_000), data: {} }
    const full = { full: { transactions: 10_000, bytes: 16_777_216 } }
    const large = Array.from({ length: 11 }, () => commandOf(signed({ ttl: 600 }, { payload: { cont } })))
    expect(pools.insert(0, large)).toEqual(full)
    expect(pool.size).toBe(0)
    expect(pools.insert(0, large.slice(0, 10))).toBe(null)
    expect(pools.insert(0, [commandOf(signed())])).toBe(null)
    pool.remove(pool.pending(null).hashes)
    // Removed transactions make room. Unchecked copies save the seconds that 10,000 signatures would take.
    const copied = pendingOf(signed())
    const many = Array.from({ length: 10_000 }, (_, i) => ({ ...copied, key: `copy ${i}` }))
    expect(pool.insert(many)).toBe(null)
    expect(pools.insert(0, [commandOf(signed())])).toEqual(full)
    expect(pool.insert(many)).toBe(null)
    chains.adopt(new Map([[0, fork({ chains }, fork({ chains }, genesis, []), [])]]))
    expect(pool.size).toBe(10_000)
    expect(pool.get(mined.hash)).toBeUndefined()
  })
})
