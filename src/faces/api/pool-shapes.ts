/**
 * Serves the rigs of a miner in the formats of pool dashboards, read-only: `/api/pools...` as miningcore, `/api/stats`
 * and `/api/live_stats` as NOMP. Payments come from the journal of `newcut payouts` in the miner's folder.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Clock } from '#ground/base/clock.ts'
import { printable } from '#ground/base/printable.ts'
import { isLostVerdict, verdictOf } from '#ground/chain/solution.ts'
import type { RigLedger } from '#mining/accounts/rig-ledger.ts'
import { rigRows, type WorkerRow } from '#mining/accounts/rig-rows.ts'
import { payeeOfUser } from '#mining/accounts/user-account.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { selectPage } from './pages.ts'
import { MAX_BLOCKS, type PoolBlock, PoolBlocks, type PreviousRunBlock } from './pool-blocks.ts'
import {
  balanceShape,
  coins,
  paymentPage,
  processingShape,
  type ReadPayouts,
  type ShownPayouts,
} from './pool-payments.ts'
import type { ServedPart } from './server.ts'
import { ALGORITHM } from './summary.ts'

interface PoolShapesOptions {
  readonly ledger: RigLedger
  readonly snapshot: () => Snapshot
  readonly network: string
  /** Name of the coin, such as KDA. */
  readonly symbol: string
  /** Intended time between blocks of a chain. */
  readonly blockDelayMs: number
  /** The account that block rewards go to. */
  readonly account: string
  /** Blocks of earlier runs, oldest first. */
  readonly recent: readonly PreviousRunBlock[]
  /** Reads the payouts, or null if the miner keeps no state. */
  readonly payouts: ReadPayouts | null
  readonly clock: Clock
}

/** Interval of hashrate samples. They cover one day. */
const SAMPLE_MS = 600_000
const MAX_SAMPLES = 144
const MAX_LISTED = 1_000
const TOP_MINERS = 15
/** Interval of the live stream's events, and the limit of open streams. */
const LIVE_MS = 10_000
const MAX_STREAMS = 32

interface Sample {
  readonly poolHashrate: number
  readonly connectedMiners: number
  readonly created: string
}

export class PoolResponses {
  readonly parts: readonly ServedPart[]
  readonly #options: PoolShapesOptions
  readonly #blocks: PoolBlocks
  readonly #samples: Sample[] = []
  readonly #streams = new Set<FastifyReply>()
  #cancelSample: () => void = () => undefined
  #cancelLive: () => void = () => undefined

  constructor(options: PoolShapesOptions) {
    this.#options = options
    const userOf = (device: string) => options.snapshot().rigs?.rigs.find((rig) => rig.device === device)?.user
    const { recent, ledger, clock } = options
    this.#blocks = new PoolBlocks({
      recent,
      userOf,
      shares: ledger.storage?.store ?? null,
      nowMs: () => clock.wallMs(),
    })
    this.parts = [
      { path: '/api/pools', addTo: (app) => this.#addPools(app) },
      { path: '/api/stats', addTo: (app) => void app.get('/api/stats', () => this.#stats()) },
      { path: '/api/live_stats', addTo: (app) => this.#addLive(app) },
    ]
    this.#sample()
  }

  /** Receives every event of the miner. */
  onEvent(event: MinerEvent): void {
    this.#blocks.onEvent(event)
  }

  close(): void {
    this.#cancelSample()
    this.#cancelLive()
    for (const { raw } of this.#streams) raw.end()
  }

  #addPools(app: FastifyInstance): void {
    const id = this.#id
    const { payouts } = this.#options
    app.get('/api/pools', async () => ({ pools: [this.#pool(await this.#payouts())] }))
    app.get(`/api/pools/${id}`, async () => ({ pool: this.#pool(await this.#payouts()) }))
    app.get(`/api/pools/${id}/blocks`, async ({ query }) =>
      selectPage(await this.#blocks.withUsers(), query, MAX_BLOCKS).map((block) => blockShape(id, block)),
    )
    app.get(`/api/pools/${id}/performance`, () => ({ stats: this.#samples }))
    app.get(`/api/pools/${id}/miners`, ({ query }) => selectPage(this.#miners(), query, MAX_LISTED))
    app.get<MinerRoute>(`/api/pools/${id}/miners/:address`, async ({ params: { address } }, reply) => {
      const totals = await this.#payouts()
      if (!this.#isKnown(address, totals)) return sendUnknownMiner(reply, address)
      const { nowMs } = this.#options.ledger
      return reply.send(minerShape(this.#rowsOf(address), balanceShape(totals, address, nowMs), nowMs))
    })
    if (payouts !== null) this.#addPayments(app, payouts)
  }

  #addPayments(app: FastifyInstance, read: ReadPayouts): void {
    const id = this.#id
    const { symbol } = this.#options
    app.get(`/api/pools/${id}/payments`, async ({ query }, reply) => {
      const payouts = await read()
      return payouts === null ? sendUnreadable(reply) : reply.send(paymentPage(payouts.payments, query, symbol))
    })
    app.get<MinerRoute>(`/api/pools/${id}/miners/:address/payments`, async ({ params: { address }, query }, reply) => {
      const payouts = await read()
      if (payouts === null) return sendUnreadable(reply)
      if (!this.#isKnown(address, payouts)) return sendUnknownMiner(reply, address)
      return reply.send(paymentPage(payouts.balanceOf(address).payments, query, symbol))
    })
  }

  async #payouts(): Promise<ShownPayouts | null> {
    return (await this.#options.payouts?.()) ?? null
  }

  /** The pool id: the network's name, safe in a path. */
  get #id(): string {
    return this.#options.network.replace(/[^\w-]/g, '-')
  }

  #rows(): WorkerRow[] {
    const { accounts, nowMs } = this.#options.ledger
    return rigRows(accounts, nowMs)
  }

  /** Workers of an account, however their rigs write its name. */
  #rowsOf(address: string): WorkerRow[] {
    const payee = payeeOfUser(address)
    return this.#rows().filter(({ user }) => payeeOfUser(user) === payee)
  }

  /** Whether the pool has shares of this miner, or owes or has paid it anything. */
  #isKnown(address: string, payouts: ShownPayouts | null): boolean {
    const { pending, paid } = payouts?.balanceOf(address) ?? { pending: 0n, paid: 0n }
    return pending > 0n || paid > 0n || this.#rowsOf(address).length > 0
  }

  #miners() {
    const users = [...groupBy(this.#rows(), ({ user }) => payeeOfUser(user))]
    return users
      .map(([miner, rows]) => ({ miner, hashrate: rateOf(rows), sharesPerSecond: sharesPerSecond(rows) }))
      .toSorted((a, b) => b.hashrate - a.hashrate)
  }

  #pool(payouts: ShownPayouts | null) {
    const { account, snapshot, symbol, blockDelayMs } = this.#options
    const { work, rigs, chains = [] } = snapshot()
    const rows = this.#rows()
    const [last] = this.#blocks.newest
    return {
      id: this.#id,
      coin: { type: symbol, name: symbol === 'KDA' ? 'Kadena' : symbol, symbol, algorithm: ALGORITHM },
      ports: {},
      ...processingShape(payouts),
      address: account,
      poolStats: {
        connectedMiners: rigs?.sessions ?? 0,
        poolHashrate: rateOf(rows),
        sharesPerSecond: sharesPerSecond(rows),
      },
      networkStats: {
        networkHashrate: networkRate(chains, blockDelayMs),
        networkDifficulty: work?.difficulty ?? 0,
        blockHeight: work?.height ?? 0,
      },
      topMiners: this.#miners().slice(0, TOP_MINERS),
      totalPaid: coins(payouts?.paid ?? 0n),
      totalBlocks: this.#blocks.newest.length,
      lastPoolBlockTime: last === undefined ? null : new Date(last.foundAtMs).toISOString(),
      poolEffort: snapshot().results.effort,
    }
  }

  #stats() {
    const rows = this.#rows()
    const workers = Object.fromEntries([...groupBy(rows, nameOf)].map(([name, all]) => [name, nompWorker(all)]))
    const hashrate = rateOf(rows)
    const connected = rows.filter(({ connections }) => connections > 0).length
    const pool = {
      name: this.#id,
      symbol: this.#options.symbol,
      algorithm: ALGORITHM,
      workers,
      hashrate,
      hashrateString: rateText(hashrate),
      workerCount: connected,
      poolStats: {
        validShares: sumOf(rows, ({ accepted }) => accepted),
        validBlocks: this.#blocks.newest.filter(({ state }) => state === 'confirmed').length,
        invalidShares: sumOf(rows, refusedOf),
      },
    }
    const algos = { [ALGORITHM]: { workers: connected, hashrate, hashrateString: rateText(hashrate) } }
    const time = Math.floor(this.#options.ledger.nowMs / 1000)
    return { time, global: { workers: connected, hashrate }, algos, pools: { [this.#id]: pool } }
  }

  #addLive(app: FastifyInstance): void {
    app.get('/api/live_stats', { exposeHeadRoute: false }, (_request, reply) => {
      if (this.#streams.size >= MAX_STREAMS) return reply.code(503).send({ error: `${MAX_STREAMS} streams are open` })
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      this.#streams.add(reply)
      reply.raw.on('close', () => this.#streams.delete(reply))
      reply.raw.write(this.#liveEvent())
      if (this.#streams.size === 1) this.#live()
      return reply
    })
  }

  #liveEvent = () => `data: ${JSON.stringify(this.#stats())}\n\n`

  /** Sends an event to all live streams. Slow readers miss events. */
  #live(): void {
    this.#cancelLive()
    this.#cancelLive = this.#options.clock.after(LIVE_MS, () => {
      if (this.#streams.size === 0) return
      const event = this.#liveEvent()
      for (const { raw } of this.#streams) if (!raw.writableNeedDrain) raw.write(event)
      this.#live()
    })
  }

  #sample(): void {
    const { clock, snapshot } = this.#options
    this.#cancelSample = clock.after(SAMPLE_MS, () => {
      const created = new Date(clock.wallMs()).toISOString()
      const connectedMiners = snapshot().rigs?.sessions ?? 0
      this.#samples.push({ poolHashrate: rateOf(this.#rows()), connectedMiners, created })
      if (this.#samples.length > MAX_SAMPLES) this.#samples.shift()
      this.#sample()
    })
  }
}

interface MinerRoute {
  Params: { address: string }
}

const sendUnreadable = (reply: FastifyReply) =>
  reply.code(503).send({ error: 'the journal of payouts cannot be read; the console of the miner says why' })

const sendUnknownMiner = (reply: FastifyReply, address: string) =>
  reply.code(404).send({ error: `no miner ${printable(address, 80)}` })

function groupBy(rows: readonly WorkerRow[], keyOf: (row: WorkerRow) => string): Map<string, WorkerRow[]> {
  const groups = new Map<string, WorkerRow[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

/** The network hashrate in H/s, from the difficulty of all chains. */
function networkRate(chains: NonNullable<Snapshot['chains']>, blockDelayMs: number): number {
  return (1000 * chains.reduce((sum, { difficulty }) => sum + (difficulty ?? 0), 0)) / blockDelayMs
}

const sumOf = (rows: readonly WorkerRow[], of: (row: WorkerRow) => number) =>
  rows.reduce((total, row) => total + of(row), 0)

/** The total hashrate over one hour, in H/s. */
const rateOf = (rows: readonly WorkerRow[]) => sumOf(rows, ({ hashrates }) => hashrates['1h'] ?? 0)

/** Estimates shares per second from hashrates and present difficulties. */
function sharesPerSecond(rows: readonly WorkerRow[]): number {
  return rows.reduce(
    (sum, { hashrates, difficulty }) => sum + (difficulty === null ? 0 : (hashrates['1h'] ?? 0) / difficulty),
    0,
  )
}

const refusedOf = ({ refused }: WorkerRow) => Object.values(refused).reduce((sum, count) => sum + count, 0)
const nameOf = ({ user, worker }: WorkerRow) => (worker === '' ? payeeOfUser(user) : `${payeeOfUser(user)}.${worker}`)

function nompWorker(rows: readonly WorkerRow[]) {
  const hashrate = rateOf(rows)
  const [shares, invalidshares] = [sumOf(rows, ({ hashes }) => hashes), sumOf(rows, refusedOf)]
  return { shares, invalidshares, hashrate, hashrateString: rateText(hashrate) }
}

/** Formats a hashrate as NOMP does: `1.50 TH`. */
function rateText(rate: number): string {
  const units = ['H', 'KH', 'MH', 'GH', 'TH', 'PH', 'EH']
  const step = rate < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(rate) / 3))
  return `${(rate / 1000 ** step).toFixed(2)} ${units[step]}`
}

function minerShape(rows: readonly WorkerRow[], balance: ReturnType<typeof balanceShape>, nowMs: number) {
  const created = new Date(nowMs).toISOString()
  const workers = Object.fromEntries(
    [...groupBy(rows, ({ worker }) => worker)].map(([worker, all]) => [
      worker,
      { hashrate: rateOf(all), sharesPerSecond: sharesPerSecond(all) },
    ]),
  )
  return {
    pendingShares: sumOf(rows, ({ hashes }) => hashes),
    ...balance,
    performance: { created, workers },
    performanceSamples: [{ created, workers }],
  }
}

function blockShape(poolId: string, block: PoolBlock) {
  const { chain, height, difficulty, state, effort, reward, hash, miner, foundAtMs } = block
  const status = state === 'confirmed' ? 'confirmed' : isLostVerdict(verdictOf(state)) ? 'orphaned' : 'pending'
  return {
    poolId,
    chain,
    blockHeight: height,
    networkDifficulty: difficulty,
    status,
    effort,
    reward: reward === null ? 0 : Number(reward),
    hash,
    miner,
    created: new Date(foundAtMs).toISOString(),
  }
}
