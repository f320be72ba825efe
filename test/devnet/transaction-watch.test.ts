/** The limits within which a node reports transactions. */

import { expect, it } from 'vitest'
import { Mempools } from '../../src/devnet/mempool/mempools.ts'
import { Chains } from '../../src/devnet/rules/chains.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { indexBlock, MemoryTransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import { TimeSlicer } from '../../src/devnet/time-slicer.ts'
import { TransactionWatch } from '../../src/devnet/watch/transaction-watch.ts'
import { type GraphName, graphs } from '../../src/ground/chain/graph.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import type { TransactionEvent } from '../../src/ground/schema/devnet-events.ts'
import { type Signed, signed } from './command.ts'
import { Fork, growCut } from './forks.ts'
import { Heard } from './heard.ts'
import { noTrial } from './no-trial.ts'
import { commandOf, pendingOf } from './read-command.ts'

/** Chains that execute nothing, and their transaction events. `onStatus` receives the number of events after each one. */
function watched(onTold: (count: number) => void = () => undefined, graph: GraphName = 'singleton') {
  const network = { ...development, graphHistory: [{ from: 0, graph: graphs[graph] }], window: null }
  let last = BigInt(Date.now()) * 1000n - 3_600_000_000n
  const chains = new Chains({ network, checkPow: false, now: () => ++last })
  const index = new MemoryTransactionIndex()
  chains.onBlock((block) => indexBlock(index, block))
  const time = { nowMs: 0 }
  const turns = new TimeSlicer(() => time.nowMs)
  const pools = new Mempools({ chains, index, nowMs: Date.now, trial: noTrial, turns, rules: rulesFor(network, '3.2') })
  const heard = new Heard()
  const tell = (event: TransactionEvent) => {
    heard.tell(event)
    onTold(heard.all.length)
  }
  const watch = new TransactionWatch({ chains, pools, turns, report: tell })
  return { chains, pools, watch, heard, turns, time, ground: { chains } }
}

const RESULT = Buffer.from('{"gas":1,"result":{"status":"success","data":true}}')
const inBlock = (command: Signed) => ({ transaction: Buffer.from(JSON.stringify(command)), output: RESULT })

it('nothing is reported while other work runs, so a block does not wait for it', async () => {
  const { ground, heard } = watched()
  const command = signed()
  growCut(ground, 0, { transactions: [inBlock(command)] })
  expect(heard.all).toEqual([])
  expect(await heard.brief(1)).toEqual([`included 0 ${command.hash}`])
})

it('reporting a large block alternates with other work', async () => {
  // Half a millisecond each: a whole block takes far longer than a slice.
  const { ground, heard, turns, time } = watched(() => {
    time.nowMs += 0.5
  })
  const block = Array.from({ length: 512 }, () => inBlock(signed()))
  growCut(ground, 0, { transactions: block })
  const toldBefore: number[] = []
  const other = function* () {
    for (;;) {
      toldBefore.push(heard.all.length)
      if (heard.all.length === 512) return
      time.nowMs += 5
      yield
    }
  }
  await turns.run('commands', other())
  // The other work began before all events were reported, and took more than one turn.
  expect(toldBefore[0]).toBeLessThan(512)
  expect(new Set(toldBefore).size).toBeGreaterThan(1)
})

it('an undone transaction is reported at the place where it went, even if it has moved on since', async () => {
  const { ground, chains, pools, heard } = watched()
  const command = signed()
  const fork = new Fork(ground, 'fork')
  growCut(ground, 0, { transactions: [inBlock(command)] })
  fork.grow(0)
  fork.grow(0)
  expect(chains.adopt(fork.cut)).toBe(true)
  expect(pools.poolOf(0).get(command.hash)).toBeDefined()
  await null
  growCut(ground, 0, { transactions: [inBlock(command)] })
  expect(heard.all).toEqual([])
  const [first, undone, again] = await heard.events(3)
  expect(first).toMatchObject({ step: 'included', height: 1, isAgain: false })
  expect(undone).toMatchObject({ step: 'undone', height: 1, wentTo: 'pool', reason: null })
  expect(again).toMatchObject({ step: 'included', height: 3, isAgain: true })
})

it('a transaction that a full pool refuses is not reported as pending', async () => {
  const { pools, heard } = watched()
  const copied = pendingOf(signed())
  expect(pools.poolOf(0).insert(Array.from({ length: 10_000 }, (_, i) => ({ ...copied, key: `copy ${i}` })))).toBe(null)
  expect(pools.insert(0, [commandOf(signed())])).toHaveProperty('full')
  pools.poolOf(0).remove(['copy 0'])
  const taken = signed()
  expect(pools.insert(0, [commandOf(taken)])).toBe(null)
  expect(await heard.brief(1)).toEqual([`pending 0 ${taken.hash}`])
})

it('the watch reports only the number of transactions beyond 20,000 at once', async () => {
  const { watch, heard } = watched()
  const command = commandOf(signed())
  const refused = Array.from({ length: 19_999 }, () => ({ hash: command.key, command, fault: 'no' }))
  watch.reportRefused(0, 400, refused)
  watch.reportRefused(0, 400, refused.slice(0, 2))
  watch.reportRefusedRequest(0, 400, 'no')
  watch.reportRefusedRequest(0, 400, 'no')
  const told = await heard.events(20_001)
  expect(told.filter(({ step }) => step === 'refused')).toHaveLength(20_000)
  expect(told[20_000]).toEqual({ step: 'skipped', steps: 3 })
  // Their number is reported once, and then there is room again.
  for (const [i, reason] of ['again', 'at last'].entries()) {
    watch.reportRefusedRequest(0, 400, reason)
    const count = 20_002 + i
    expect((await heard.events(count))[count - 1]).toMatchObject({ step: 'refused', reason })
  }
})

it('blocks are still reported once each and in order after 10,000 moves of heads', async () => {
  const commands = Array.from({ length: 4 }, () => signed())
  const grow = (i: number) => growCut(ground, 0, { transactions: [inBlock(commands[i])] })
  const { ground, chains, heard } = watched((count) => {
    // Another block arrives while the postponed ones are being reported.
    if (count === 2) grow(3)
  })
  grow(0)
  // Listeners hear of a rule change as of a new head.
  for (let i = 0; i < 10_000; i++) chains.changeRules({ blockDelay: 1_000_000n })
  grow(1)
  grow(2)
  expect(await heard.brief(4)).toEqual(commands.map(({ hash }) => `included 0 ${hash}`))
  // No postponed event remains that would come late.
  const last = signed()
  growCut(ground, 0, { transactions: [inBlock(last)] })
  expect((await heard.brief(5)).slice(4)).toEqual([`included 0 ${last.hash}`])
})

it('a postponed chain is reported up to its head, whatever moves meanwhile', async () => {
  const [a, b, c, d, e] = Array.from({ length: 5 }, () => signed())
  const grow = (chain: number, command: Signed) => growCut(ground, chain, { transactions: [inBlock(command)] })
  const { ground, chains, heard } = watched((count) => {
    if (count !== 2) return
    grow(0, d)
    grow(0, e)
  }, 'pair')
  grow(1, a)
  for (let i = 0; i < 5000; i++) chains.changeRules({ blockDelay: 1_000_000n })
  grow(0, b)
  grow(1, c)
  const told = [`1 ${a.hash}`, `1 ${c.hash}`, `0 ${b.hash}`, `0 ${d.hash}`, `0 ${e.hash}`]
  expect(await heard.brief(5)).toEqual(told.map((each) => `included ${each}`))
  const last = signed()
  grow(1, last)
  expect((await heard.brief(6)).slice(5)).toEqual([`included 1 ${last.hash}`])
})
