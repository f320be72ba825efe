import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AutoMiner } from '../../src/devnet/control/auto-mine.ts'
import { BlockMaker, developmentAccount } from '../../src/devnet/control/block-maker.ts'
import { Chains } from '../../src/devnet/rules/chains.ts'
import { noJournal } from '../../src/devnet/rules/journal.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import type { Network } from '../../src/ground/chain/network.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import type { AutoMine } from '../../src/ground/schema/devnet-modes.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { randomFrom } from '../random.ts'
import { until } from '../wait.ts'
import { noSearch } from './block-payload.ts'
import { checkNode } from './checker.ts'
import { clockByHand, jsonOf, start } from './common.ts'
import { order } from './control-common.ts'
import { coordinatorOf } from './coordinator.ts'
import { Peer } from './request.ts'
import { startDevnet } from './whole-node.ts'

/** An automatic miner on virtual time, which also sets the creation times of blocks. */
function mining(
  mode: AutoMine,
  {
    difficulty = 1000n,
    adjusts = false,
    blockDelayMs = 1000,
    seed = 1,
    journal = noJournal,
    // Orders share the thread with real requests, so the clock for their time slices is real.
    orderClock = systemClock,
  } = {},
) {
  const network: Network = {
    ...development,
    graphHistory: [{ from: 0, graph: graphs.petersen }],
    genesisTarget: () => MAX_TARGET / difficulty,
    blockDelay: BigInt(blockDelayMs * 1000),
    window: adjusts ? development.window : null,
  }
  const clock = new VirtualClock()
  let last = 0n
  const now = () => {
    const us = BigInt(Math.floor(clock.wallMs() * 1000))
    last = us > last ? us : last + 1n
    return last
  }
  const chains = new Chains({ network, checkPow: false, now, journal })
  const random = randomFrom(seed)
  const coordinator = coordinatorOf(chains, { random, nowMs: clock.wallMs, clock })
  const account = developmentAccount
  const maker = new BlockMaker({
    chains,
    coordinator,
    account,
    search: noSearch,
    clock: orderClock,
    onNotice: () => undefined,
  })
  const miner = new AutoMiner({ mode, maker, clock, random })
  const heights = () => [...chains.cut.values()].map(({ height }) => Number(height))
  const blocks = () => heights().reduce((sum, height) => sum + height, 0)
  return { clock, chains, coordinator, maker, miner, heights, blocks }
}

describe('constant', () => {
  it('constant auto-mining makes a block on every chain in each block time, evenly over all chains', async () => {
    const { clock, heights, blocks, miner } = mining({ kind: 'constant', blockTimeMs: 2000 })
    await clock.pass(199)
    expect(blocks()).toBe(0)
    await clock.pass(1)
    expect(blocks()).toBe(1)
    await clock.pass(1800)
    expect(heights()).toEqual(Array(10).fill(1))
    await clock.pass(18_000)
    expect(heights()).toEqual(Array(10).fill(10))
    miner.stop()
    await clock.pass(10_000)
    expect(blocks()).toBe(100)
    expect(clock.pending).toBe(0)
  })

  it('constant auto-mining skips blocks if the disk is too slow', async () => {
    let isSlow = true
    const admit = () => {
      if (isSlow) throw new NewcutError('DATA_UNUSABLE', 'too many blocks wait to be written')
    }
    const { clock, blocks } = mining(
      { kind: 'constant', blockTimeMs: 2000 },
      { journal: { ...noJournal, expectRoom: admit } },
    )
    await clock.pass(2000)
    expect(blocks()).toBe(0)
    isSlow = false
    await clock.pass(2000)
    expect(blocks()).toBe(10)
  })

  it('constant auto-mining holds chains that depend on a paused chain back, and catches up once it is resumed', async () => {
    const { clock, heights, coordinator } = mining({ kind: 'constant', blockTimeMs: 1000 })
    coordinator.pause(0)
    await clock.pass(60_000)
    // Chains at distance 1 (2, 3, 5) reach height 1, all others 2.
    expect(heights()).toEqual([0, 2, 1, 1, 2, 1, 2, 2, 2, 2])
    coordinator.resume(0)
    await clock.pass(1000)
    expect(Math.min(...heights())).toBeGreaterThanOrEqual(2)
  })

  it('constant auto-mining makes every block even if timers are late', async () => {
    const { clock, blocks } = mining({ kind: 'constant', blockTimeMs: 5 })
    await clock.pass(100)
    expect(blocks()).toBe(200)
  })

  it('constant auto-mining sets no timer of more than an hour, because far longer ones would fire at once', async () => {
    const { clock, blocks } = mining({ kind: 'constant', blockTimeMs: 1e12 })
    const { after } = clock
    const waits: number[] = []
    clock.after = (delayMs, run) => {
      waits.push(delayMs)
      return after(delayMs, run)
    }
    await clock.pass(2 * 3_600_000)
    expect(waits).toEqual([3_600_000, 3_600_000])
    expect(blocks()).toBe(0)
  })

  it('constant auto-mining makes only the blocks of the last second after the machine has slept', async () => {
    const slow = mining({ kind: 'constant', blockTimeMs: 100 })
    const { monotonicMs } = slow.clock
    // An hour passes, and the last second of it holds 100 blocks.
    slow.clock.monotonicMs = () => monotonicMs() + 3_600_000
    await slow.clock.pass(15)
    expect(slow.blocks()).toBeGreaterThanOrEqual(100)
    expect(slow.blocks()).toBeLessThan(110)
  })
})

describe('simulated', () => {
  it('simulated auto-mining makes as many blocks as the hashrate would find, at exponential intervals', async () => {
    const { clock, chains, blocks } = mining({ kind: 'simulated', hashesPerSecond: 10_000 })
    const times: number[] = []
    chains.onBlock(() => void times.push(clock.monotonicMs()))
    await clock.pass(60_000)
    // 1000 hashes at 10 kH/s are 100 ms a block, 600 blocks in total; the standard deviation is 24.
    expect(blocks()).toBeGreaterThan(500)
    expect(blocks()).toBeLessThan(700)
    const gaps = times.slice(1).map((time, i) => time - times[i])
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
    const below = (factor: number) => gaps.filter((gap) => gap < factor * mean).length / gaps.length
    // 1 - 1/e and 1 - 1/e^2, each within four standard deviations.
    expect(Math.abs(below(1) - 0.632)).toBeLessThan(0.08)
    expect(Math.abs(below(2) - 0.865)).toBeLessThan(0.056)
  })

  it('the difficulty of simulated auto-mining settles at the intended block time for the hashrate', async () => {
    const { clock, chains } = mining({ kind: 'simulated', hashesPerSecond: 1e6 }, { adjusts: true, blockDelayMs: 500 })
    await clock.pass(75_000)
    const difficulties = [...chains.cut.values()].map(({ target }) => Number(MAX_TARGET / target))
    const mean = difficulties.reduce((a, b) => a + b, 0) / difficulties.length
    // 1 MH/s over ten chains, half a second each: 50,000 hashes.
    expect(mean).toBeGreaterThan(35_000)
    expect(mean).toBeLessThan(70_000)
  })

  it('simulated auto-mining follows a difficulty change by hand at once', async () => {
    const { clock, chains, blocks } = mining({ kind: 'simulated', hashesPerSecond: 1000 }, { difficulty: 10n ** 15n })
    await clock.pass(10_000)
    expect(blocks()).toBe(0)
    chains.changeRules({ target: MAX_TARGET / 100n })
    await clock.pass(10_000)
    expect(blocks()).toBeGreaterThan(60)
  })

  it('simulated auto-mining makes nothing while every chain is paused', async () => {
    const { clock, chains, coordinator, blocks } = mining({ kind: 'simulated', hashesPerSecond: 1e6 })
    for (const chain of chains.chainIds) coordinator.pause(chain)
    await clock.pass(500)
    const before = blocks()
    expect(before).toBe(0)
    for (const chain of chains.chainIds) coordinator.resume(chain)
    await clock.pass(500)
    expect(blocks()).toBeGreaterThan(300)
  })
})

describe('startDevnet({ autoMine })', () => {
  it.each<[AutoMine, string, boolean]>([
    [{ kind: 'constant', blockTimeMs: 20 }, 'a block on every chain each 20 ms', false],
    [{ kind: 'simulated', hashesPerSecond: 100_000 }, 'blocks as 100 kH/s would find them', true],
  ])('auto-mining with %j makes valid chains that grow', async (autoMine, mode, adjusts) => {
    const { devnet, additions } = await start({ graph: 'petersen', autoMine, difficulty: 100n, blockDelayMs: 20 })
    const peer = new Peer(devnet.url)
    onTestFinished(() => peer.close())
    expect(jsonOf(await peer.get('/devnet/status')).mode).toBe(mode)
    await until(() => additions.length >= 250)
    for (const chain of devnet.chains.chainIds) await order(peer, '/devnet/pause', { chain })
    expect(new Set(additions.map(({ status }) => status))).toEqual(new Set(['added']))
    const report = await checkNode({ url: devnet.url, pow: false, adjusts, pageSizes: [100, 100] })
    expect(report.violations).toEqual([])
    expect(report.headers).toBe(10 + additions.length)
  })

  it('on-demand auto-mining makes no blocks by itself; orders and miners do, with any nonce', async () => {
    const { time, clock } = clockByHand()
    const onDemand = { graph: 'pair', autoMine: { kind: 'on-demand' }, difficulty: 10n ** 12n } as const
    const { devnet, additions } = await start(onDemand, { clock })
    const peer = new Peer(devnet.url)
    onTestFinished(() => peer.close())
    await time.pass(3_600_000)
    expect(additions).toEqual([])
    await order(peer, '/make-blocks', { 0: 2 })
    expect(additions).toHaveLength(3)
    expect(devnet.chains.checkPow).toBe(false)
  })

  it('startDevnet({ autoMine }) refuses auto-mining with proof of work, and paces that are not above 0', async () => {
    const code = 'BAD_OPTION'
    await expect(startDevnet({ port: 0, pow: true, autoMine: { kind: 'on-demand' } })).rejects.toMatchObject({ code })
    for (const pace of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const constant = { kind: 'constant', blockTimeMs: pace } as const
      await expect(startDevnet({ port: 0, autoMine: constant })).rejects.toMatchObject({ code })
    }
  })
})

it('an order waits for a slow disk, so few blocks are unwritten', async () => {
  const writes: (() => void)[] = []
  let changes = 0
  const journal = {
    expectRoom: () => undefined,
    noteChange: () => void changes++,
    durable: () =>
      new Promise<void>((resolve) => {
        writes.push(resolve)
      }),
  }
  // Each reading of the clock is one millisecond later, so the count of readings decides the slices.
  let nowMs = 0
  const orderClock = { ...systemClock, monotonicMs: () => ++nowMs }
  const { maker } = mining({ kind: 'on-demand' }, { journal, orderClock })
  const made = maker.make(new Map([[0, 30]]), new AbortController().signal)
  let isOver = false
  void made.then(() => {
    isOver = true
  })
  let waits = 0
  for (;;) {
    await until(() => writes.length > 0 || isOver)
    if (isOver) break
    const before = changes
    for (let i = 0; i < 10; i++) await turn()
    expect(changes).toBe(before)
    waits++
    writes.shift()?.()
  }
  expect((await made).get(0)).toHaveLength(30)
  // About 300 blocks, with two changes each.
  expect(changes / waits).toBeLessThan(30)
})
