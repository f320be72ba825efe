/** Rigs in the shapes that pool dashboards read. */
import type { ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { selectPage } from '../../src/faces/api/pages.ts'
import type { PreviousRunBlock } from '../../src/faces/api/pool-blocks.ts'
import type { ReadPayouts } from '../../src/faces/api/pool-payments.ts'
import { PoolResponses } from '../../src/faces/api/pool-shapes.ts'
import { type ServedPart, startApi } from '../../src/faces/api/server.ts'
import { stepNames } from '../../src/ground/chain/solution.ts'
import { Accounts } from '../../src/mining/accounts/accounts.ts'
import type { LedgerStorage, RigLedger } from '../../src/mining/accounts/rig-ledger.ts'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { START_MS, shareOf } from '../accounts/shares.ts'
import { OpenResponse } from '../devnet/request.ts'
import { snapshotWith } from '../mine/snapshot.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { accountOf, keyOf, MemoryShares, share } from '../payouts/memory-shares.ts'
import { step } from '../web/dashboard/common.ts'

interface Given {
  /** Shares of rigs beyond those of k:a and k:b. */
  readonly others?: readonly ShareEntry[]
  readonly log?: MemoryShares
  readonly recent?: readonly PreviousRunBlock[]
  readonly payouts?: ReadPayouts
  readonly parts?: Partial<Snapshot>
}

async function serving({ others = [], log, payouts, parts, ...given }: Given = {}) {
  const clock = new VirtualClock()
  const accounts = new Accounts({ onWarning: () => undefined })
  for (let i = 0; i <= 360; i++)
    accounts.acceptLogged(shareOf(10_000 * i, { user: i % 3 === 0 ? 'k:b' : 'k:a', worker: 'w' }))
  for (let i = 0; i < 4; i++) accounts.refuse('k:a', 'w', 'low', START_MS + 3_600_000)
  accounts.join('k:a', 'w')
  for (const share of others) accounts.acceptLogged(share)
  const storage = log === undefined ? null : ({ store: log } as unknown as LedgerStorage)
  const ledger: RigLedger = { accounts, storage, nowMs: START_MS + 3_600_000, isWell: true }
  const recent = given.recent ?? [
    {
      ...{ hash: 'old', chain: 3, height: 7, difficulty: 9, state: 'orphaned' as const, effort: 0.5, reward: null },
      ...{ device: 'rig:w', foundAt: '2026-01-02T03:04:05.000Z' },
    },
  ]
  const snapshot = () => snapshotWith(parts)
  const about = {
    network: 'main net/01',
    symbol: 'QUAD',
    blockDelayMs: 12_000,
    account: 'k:pool',
    recent,
    payouts: payouts ?? null,
  }
  const shapes = new PoolResponses({ ledger, snapshot, ...about, clock })
  const responses: ServerResponse[] = []
  const watch: ServedPart = {
    path: '/',
    addTo: (app) => void app.addHook('onRequest', async (_request, { raw }) => void responses.push(raw)),
  }
  const api = await startApi(
    { host: '127.0.0.1', port: 0 },
    snapshot,
    new Metrics(snapshot, '0'),
    ...shapes.parts,
    watch,
  )
  onTestFinished(async () => {
    shapes.close()
    await api.close()
  })
  const read = async (path: string) => {
    const response = await fetch(api.url + path)
    return { status: response.status, body: (await response.json()) as ReturnType<typeof JSON.parse> }
  }
  return { shapes, clock, api, read, responses }
}

const atMs = START_MS + 3_600_000

const former = (hash: string, foundMs: number, device: string): PreviousRunBlock => ({
  ...{ hash, chain: 3, height: 7, difficulty: 9, state: 'confirmed', effort: 0.5, reward: null, device },
  foundAt: new Date(foundMs).toISOString(),
})

/** Two shares of a user. The first one only starts the time over which the rate is measured. */
const sharesOf = (user: string, difficulty: number) =>
  [atMs - 3_000_000, atMs].map((timeMs) => shareOf(0, { timeMs, user, difficulty }))

/** 2^40 hashes in ten seconds, in hashes a second. */
const RATE = 2 ** 40 / 10

describe('the shapes of miningcore', () => {
  it('the shapes of miningcore include the pool, its miners and each miner', async () => {
    const { read } = await serving()
    const { body } = await read('/api/pools')
    expect(body.pools).toMatchObject([
      {
        ...{ id: 'main-net-01', address: 'k:pool', totalPaid: 0, totalBlocks: 1, poolFeePercent: 0 },
        ...{ coin: { type: 'QUAD', name: 'QUAD', symbol: 'QUAD' }, lastPoolBlockTime: '2026-01-02T03:04:05.000Z' },
        paymentProcessing: { enabled: false },
      },
    ])
    const [{ poolStats, topMiners }] = body.pools
    expect(poolStats.poolHashrate / RATE).toBeCloseTo(1, 1)
    expect(poolStats.sharesPerSecond).toBeCloseTo(0.1, 2)
    expect(topMiners.map(({ miner }: { miner: string }) => miner)).toEqual(['k:a', 'k:b'])
    expect((await read('/api/pools/main-net-01')).body.pool.id).toBe('main-net-01')
    expect((await read('/api/pools/main-net-01/miners')).body).toEqual(topMiners)
    const miner = await read('/api/pools/main-net-01/miners/k:a')
    expect(miner.body).toMatchObject({ pendingShares: 240 * 2 ** 40, totalPaid: 0, lastPayment: null })
    expect(miner.body.performance.workers.w.hashrate / RATE).toBeCloseTo(2 / 3, 1)
    expect((await read('/api/pools/main-net-01/miners/nobody')).status).toBe(404)
    expect((await read('/api/pools/main-net-01/payments')).status).toBe(404)
  })

  it('the shapes of miningcore include blocks with their outcomes', async () => {
    const { read, shapes } = await serving()
    const blocks = async () => (await read('/api/pools/main-net-01/blocks')).body
    expect(await blocks()).toMatchObject([
      { hash: 'old', status: 'orphaned', blockHeight: 7, miner: 'rig:w', reward: 0 },
    ])
    const tell = (event: MinerEvent) => shapes.onEvent(event)
    tell({ ...step('new', { step: 'handed-in' }, 8), step: 'found', work: '', difficulty: 5 })
    expect(await blocks()).toMatchObject([{ hash: 'new', status: 'pending', blockHeight: 8 }, { hash: 'old' }])
    tell(step('new', { step: 'confirmed', depth: 1 }, 8))
    tell({ type: 'reward', hash: 'new', chain: 4, height: 8, amount: '0.98' })
    expect(await blocks()).toMatchObject([{ hash: 'new', status: 'confirmed', reward: 0.98 }, { hash: 'old' }])
  })

  it('the shapes of miningcore include a sample of the rate every ten minutes, for a day', async () => {
    const { read, clock } = await serving()
    const samples = async () => (await read('/api/pools/main-net-01/performance')).body.stats
    expect(await samples()).toEqual([])
    await clock.pass(600_000)
    expect(await samples()).toMatchObject([{ poolHashrate: expect.any(Number), created: expect.stringMatching(/Z$/) }])
    await clock.pass(200 * 600_000)
    expect(await samples()).toHaveLength(144)
  })
})

describe('miners are accounts, as in payouts', () => {
  const [ann, ben] = ['c', 'd'].map(accountOf)

  it('a miner of the pool API is an account, however its rigs write the key', async () => {
    const users = [keyOf('c'), ann, `K:${keyOf('C')}`]
    const others = users.map((user, i) => shareOf(0, { timeMs: atMs + i, user, worker: i < 2 ? 'w' : 'v' }))
    const { read } = await serving({ others })
    const { body } = await read('/api/pools/main-net-01/miners')
    expect(body.map(({ miner }: { miner: string }) => miner)).toEqual(['k:a', 'k:b', ann])
    for (const user of users) {
      const { body: one } = await read(`/api/pools/main-net-01/miners/${user}`)
      expect(one).toMatchObject({ pendingShares: 3 * 2 ** 40 })
      expect(Object.keys(one.performance.workers).toSorted()).toEqual(['v', 'w'])
    }
    const { workers } = (await read('/api/stats')).body.pools['main-net-01']
    expect(workers[`${ann}.w`]).toMatchObject({ shares: 2 * 2 ** 40 })
    expect(Object.keys(workers).toSorted()).toEqual([`${ann}.v`, `${ann}.w`, 'k:a.w', 'k:b.w'].toSorted())
  })

  it('the pool API knows a miner while the pool owes or has paid it anything, with payments and balance', async () => {
    const payment = { at: '2026-01-02T03:04:05.000Z', chain: 0, account: ann, amount: '2.0', requestKey: 'r' }
    const nothing = { pending: 0n, paid: 0n, payments: [] }
    const totals = new Map([
      [ann, { pending: 0n, paid: 2_000_000_000_000n, payments: [payment] }],
      [ben, { ...nothing, pending: 1n }],
    ])
    const payouts = { rules: null, paid: 0n, payments: [], balanceOf: (user: string) => totals.get(user) ?? nothing }
    const { read } = await serving({ payouts: async () => payouts })
    const at = '/api/pools/main-net-01/miners'
    expect((await read(`${at}/${ann}`)).body).toMatchObject({ pendingShares: 0, totalPaid: 2 })
    expect((await read(`${at}/${ann}/payments`)).body).toMatchObject([{ address: ann, amount: 2 }])
    for (const [user, status] of [
      [ann, 200],
      [ben, 200],
      ['k:a', 200],
      ['nobody', 404],
    ] as const)
      for (const path of [user, `${user}/payments`]) expect((await read(`${at}/${path}`)).status, path).toEqual(status)
  })

  it('the pool API counts blocks of earlier runs for a miner, by the share log', async () => {
    const log = new MemoryShares([
      share({ user: ann, timeMs: atMs - 1, block: 'other' }),
      share({ user: keyOf('d'), timeMs: atMs + 3, block: 'first' }),
      share({ user: 'bob', timeMs: atMs + 90_000, block: 'second' }),
      share({ user: 'late', timeMs: atMs + 3_600_000, block: 'third' }),
    ])
    const recent = ['first', 'second', 'third'].map((hash) => former(hash, atMs, 'rig:a'))
    const { read } = await serving({ log, recent: [...recent, former('own', atMs, 'cpu')] })
    const { body } = await read('/api/pools/main-net-01/blocks')
    const minerOf = Object.fromEntries(body.map((block: { hash: string; miner: string }) => [block.hash, block.miner]))
    expect(minerOf).toEqual({ first: ben, second: 'bob', third: 'rig:a', own: 'cpu' })
  })

  it('the pool API counts blocks of earlier runs once the share log can be read again', async () => {
    const log = new MemoryShares([share({ user: ben, timeMs: atMs, block: 'first' })])
    const whole = log.shares
    log.shares = async function* () {
      yield* []
      throw new Error('the log is away')
    }
    const { read } = await serving({ log, recent: [former('first', atMs, 'rig:a')] })
    const miner = async () => (await read('/api/pools/main-net-01/blocks')).body[0].miner
    expect(await miner()).toBe('rig:a')
    log.shares = whole
    expect(await miner()).toBe(ben)
  })
})

describe('pages', () => {
  it.each(['blocks', 'miners'])('the pages of /%s are those of page and pageSize', async (list) => {
    const { read, shapes } = await serving()
    shapes.onEvent({ ...step('new', { step: 'handed-in' }, 8), step: 'found', work: '', difficulty: 5 })
    const at = (query: string) => read(`/api/pools/main-net-01/${list}${query}`)
    const { body: all } = await at('')
    expect(all).toHaveLength(2)
    expect((await at('?pageSize=1')).body).toEqual([all[0]])
    expect((await at('?page=1&pageSize=1')).body).toEqual([all[1]])
    expect((await at('?page=2&pageSize=1')).body).toEqual([])
    for (const query of ['page=x', 'pageSize=1001', 'page=-1', 'page=1&page=2']) {
      const { status, body } = await at(`?${query}`)
      expect(JSON.stringify(body), query).toContain('whole number')
      expect(status, query).toBe(400)
    }
  })

  it('pages have one item at least and a thousand at most, and end with page 1,000,000', () => {
    const items = Array.from({ length: 2_500 }, (_, i) => i)
    const at = (query: object) => selectPage(items, query, 15)
    expect([at({}), at({ page: '0' }), at({ page: '1' })].map((page) => [page[0], page.length])).toEqual([
      [0, 15],
      [0, 15],
      [15, 15],
    ])
    expect(at({ pageSize: '0', page: '3' })).toEqual([3])
    expect(at({ pageSize: '1000', page: '2' })).toEqual(items.slice(2_000))
    expect(at({ page: '1000000' })).toEqual([])
    for (const page of ['1000001', '1e3', '', ' 1', '0x1', '1.0', '9'.repeat(400)]) {
      expect(() => at({ page })).toThrow(expect.objectContaining({ statusCode: 400 }))
    }
    expect(() => at({ page: '\u001b[2Jx' })).toThrow(/^page: expected a whole number from 0 to 1000000, not \[2Jx$/)
  })
})

describe('figures', () => {
  it('the network figures cover all chains and the current work', async () => {
    const chain = { chain: 0, height: 1, waitsFor: null, adjacents: [], isWanted: true }
    const chains = [300, null, 600].map((difficulty) => ({ ...chain, difficulty }))
    const parts = {
      ...{ chains, work: { chain: 0, height: 77, difficulty: 500, ageMs: 0, forkVotes: 0 } },
      results: { expected: 1, found: 1, effort: 0.75, best: [] },
    }
    const { read } = await serving({ parts })
    expect((await read('/api/pools/main-net-01')).body.pool).toMatchObject({
      networkStats: { networkHashrate: 75, networkDifficulty: 500, blockHeight: 77 },
      poolEffort: 0.75,
    })
    const { read: readIdle } = await serving({ parts: { work: null } })
    expect((await readIdle('/api/pools/main-net-01')).body.pool).toMatchObject({
      networkStats: { networkHashrate: 0, networkDifficulty: 0, blockHeight: 0 },
    })
  })

  it('the list of top miners has the fifteen fastest accounts, the fastest first', async () => {
    const others = Array.from({ length: 20 }, (_, i) => sharesOf(`u${i}`, 2 ** (50 + i))).flat()
    const { read } = await serving({ others })
    const { topMiners } = (await read('/api/pools/main-net-01')).body.pool
    expect(topMiners.map(({ miner }: { miner: string }) => miner)).toEqual(
      Array.from({ length: 15 }, (_, i) => `u${19 - i}`),
    )
  })

  it('rates as text have the unit that leaves one to three digits', async () => {
    const users = Array.from({ length: 81 }, (_, i) => `u${i}`)
    const { read } = await serving({ others: users.flatMap((user, i) => sharesOf(user, 100 * 2 ** i)) })
    const { workers, hashrateString } = (await read('/api/stats')).body.pools['main-net-01']
    const units = ['H', 'KH', 'MH', 'GH', 'TH', 'PH', 'EH']
    const present = new Set([hashrateString.split(' ')[1]])
    for (const user of users) {
      const { hashrate, hashrateString: text } = workers[`${user}.shelf-1`]
      const [value, unit] = text.split(' ')
      present.add(unit)
      expect(Math.abs(Number(value) * 1000 ** units.indexOf(unit) - hashrate)).toBeLessThan(0.005 + hashrate / 100)
      if (hashrate >= 1) expect(Number(value)).toBeGreaterThanOrEqual(1)
      if (hashrate < 1e21) expect(Number(value)).toBeLessThanOrEqual(1000)
    }
    expect([...present].toSorted()).toEqual(units.toSorted())
  })

  it('the figures of blocks distinguish confirmed, orphaned and pending ones, also as NOMP counts them', async () => {
    const recent = stepNames.map((state) => ({ ...former(state, atMs, 'cpu'), state }))
    const { read } = await serving({ recent })
    const { body } = await read('/api/pools/main-net-01/blocks')
    const statusOf = Object.fromEntries(
      body.map((block: { hash: string; status: string }) => [block.hash, block.status]),
    )
    expect(statusOf).toEqual({
      ...{ found: 'pending', 'handed-in': 'pending', acknowledged: 'pending', credited: 'pending' },
      ...{ confirmed: 'confirmed', unconfirmed: 'pending' },
      ...{ stale: 'orphaned', orphaned: 'orphaned', rejected: 'orphaned', lost: 'orphaned' },
    })
    const stats = (await read('/api/stats')).body
    expect(stats.time).toBe(atMs / 1000)
    expect(stats.pools['main-net-01'].poolStats).toMatchObject({ validBlocks: 1 })
  })

  it('the answer about an unknown miner repeats the printable beginning of its name', async () => {
    const { read } = await serving()
    const { status, body } = await read(`/api/pools/main-net-01/miners/%1b%5b2J${'x'.repeat(90)}`)
    expect(body).toEqual({ error: `no miner [2J${'x'.repeat(76)}…` })
    expect(status).toBe(404)
  })
})

describe('the shapes of NOMP', () => {
  it('the shapes of NOMP include workers with their shares', async () => {
    const { read } = await serving()
    const { body } = await read('/api/stats')
    const pool = body.pools['main-net-01']
    expect(body.global.workers).toBe(1)
    expect(pool.workers['k:a.w']).toMatchObject({ shares: 240 * 2 ** 40, invalidshares: 4 })
    expect(pool.workers['k:a.w'].hashrateString).toMatch(/^7\d\.\d\d GH$/)
    expect(pool).toMatchObject({ workerCount: 1, poolStats: { validShares: 361, validBlocks: 0, invalidShares: 4 } })
  })

  it('the shapes of NOMP are available as a stream too', async () => {
    const { api, clock } = await serving()
    const stop = new AbortController()
    const response = await fetch(`${api.url}/api/live_stats`, { signal: stop.signal })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const event = async () => new TextDecoder().decode((await reader.read()).value)
    expect(await event()).toMatch(/^data: \{"time":/)
    await clock.pass(10_000)
    expect(await event()).toMatch(/^data: \{"time":/)
    stop.abort()
  })

  it('the stream of NOMP has 32 readers at most, and one that closes leaves its place', async () => {
    const { api } = await serving()
    const url = `${api.url}/api/live_stats`
    const streams = await Promise.all(Array.from({ length: 32 }, () => OpenResponse.open(url)))
    const refused = await fetch(url)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toEqual({ error: '32 streams are open' })
    streams[7].destroy()
    const openAgain = async () => {
      const stream = await OpenResponse.open(url)
      if (stream.status !== 200) return stream.status
      onTestFinished(() => stream.destroy())
      return stream.status
    }
    await expect.poll(openAgain).toBe(200)
    expect((await fetch(url)).status).toBe(503)
  })

  it('the stream of NOMP sends an event every ten seconds, however many readers come', async () => {
    const { api, clock } = await serving()
    const url = `${api.url}/api/live_stats`
    const first = await OpenResponse.open(url)
    const { length } = await first.read(1)
    await clock.pass(9_000)
    const second = await OpenResponse.open(url)
    await clock.pass(1_000)
    for (let events = 2; events <= 4; events++) {
      await first.read(events * length)
      await clock.pass(10_000)
    }
    await second.read(4 * length)
  })

  it('the stream of NOMP has a timer only while a client reads, and ends with the miner', async () => {
    const { api, clock, shapes } = await serving()
    // One timer is that of the samples.
    expect(clock.pending).toBe(1)
    const url = `${api.url}/api/live_stats`
    const gone = await OpenResponse.open(url)
    expect(clock.pending).toBe(2)
    gone.destroy()
    await expect.poll(() => clock.pass(10_000).then(() => clock.pending)).toBe(1)
    const stream = await OpenResponse.open(url)
    shapes.close()
    await stream.closed
    expect(clock.pending).toBe(0)
  })

  it('the stream of NOMP skips events for a reader that does not read', async () => {
    const others = Array.from({ length: 20 }, (_, i) => shareOf(i, { user: `${i}${'x'.repeat(20_000)}` }))
    const { api, clock, responses } = await serving({ others })
    const stream = await OpenResponse.open(`${api.url}/api/live_stats`)
    stream.pause()
    const { length } = await (await fetch(`${api.url}/api/stats`)).text()
    for (let i = 0; i < 60; i++) await clock.pass(10_000)
    // One event may wait here, beside what the network holds.
    expect(responses[0].writableLength).toBeLessThan(1.5 * length)
  })

  it('the stream of NOMP has no HEAD, which would never be answered', async () => {
    const { api } = await serving()
    expect((await fetch(`${api.url}/api/live_stats`, { method: 'HEAD' })).status).toBe(404)
  })
})
