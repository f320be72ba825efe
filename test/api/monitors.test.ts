/** The APIs for third-party monitors, served by a real miner on an embedded network. */
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { until } from '../wait.ts'
import { hwmonFolder, type RunningMiner, sensedCard, startMiner, ZEN } from './running.ts'

const TOKEN = 'a-token-of-tests'
const NO_DRIVER = 'there is no GPU driver here, not even a software one: npm install'
const bearer = { authorization: `Bearer ${TOKEN}` }
const rpc = (method: string, id: unknown = 1) => JSON.stringify({ jsonrpc: '2.0', id, method })

const accepted = ({ events }: RunningMiner) =>
  events.filter((event) => event.type === 'solution' && event.verdict === 'accepted').length
const isFull = async ({ json }: RunningMiner) => ((await json('/api/summary')) as Snapshot).hashrates['10s'] !== null

/** Placeholders for numbers and strings, to compare shapes only. */
const rate = expect.toSatisfy((value) => value === null || typeof value === 'number', 'a rate or null')
const rates = [rate, rate, null]
const count = expect.any(Number)
const text = expect.any(String)

interface Summary {
  readonly results: {
    readonly diff_current: number | null
    readonly best: number[]
    readonly shares_good: number
    readonly shares_total: number
  }
  readonly connection: { readonly accepted: number; readonly rejected: number }
  readonly hashrate: { readonly total: (number | null)[]; readonly highest: number | null; readonly threads?: unknown }
}

describe('monitors for XMRig', () => {
  it('monitors for XMRig read every key of the summary, with null for unknown values', async () => {
    const miner = await startMiner({ threads: 2 })
    await expect.poll(() => accepted(miner)).toBeGreaterThan(2)
    let early = (await miner.json('/2/summary')) as Summary
    // Before the first work there is no difficulty.
    while (early.results.diff_current === null) early = (await miner.json('/2/summary')) as Summary
    expect(early.hashrate).toEqual({ total: [null, null, null], highest: null })
    const average = { avg_time: count, avg_time_ms: count, hashes_total: count }
    const pool = new URL(miner.nodeUrl).host
    expect(early).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      worker_id: hostname(),
      uptime: count,
      restricted: true,
      resources: {
        memory: { free: count, total: count, resident_set_memory: count },
        load_average: [count, count, count],
        hardware_concurrency: count,
      },
      features: ['api', 'http', 'tls'],
      results: { diff_current: count, shares_good: count, shares_total: count, ...average, best: expect.any(Array) },
      algo: 'blake2s',
      connection: {
        ...{ pool, ip: '127.0.0.1', uptime: count, uptime_ms: count, ping: count, failures: 0 },
        ...{ tls: null, 'tls-fingerprint': null, algo: 'blake2s', diff: count, accepted: count, rejected: count },
        ...average,
      },
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      kind: 'miner',
      ua: expect.stringMatching(/^newcut\//),
      cpu: {
        ...{ brand: text, cores: rate, threads: count, packages: rate, l2: rate, l3: rate, arch: process.arch },
        ...{ flags: expect.any(Array), x64: expect.any(Boolean), aes: expect.anything(), avx2: expect.anything() },
      },
      donate_level: 0,
      paused: false,
      algorithms: ['blake2s'],
      hashrate: { total: [null, null, null], highest: null },
    })
    const { results, connection } = early
    expect(results.best).toHaveLength(10)
    // Every solution meets the difficulty of its work.
    expect(results.best[0]).toBeGreaterThanOrEqual(20_000)
    expect(results.best).toEqual(results.best.toSorted((a, b) => b - a))
    expect(connection.accepted + connection.rejected).toBe(results.shares_total)

    await expect.poll(() => isFull(miner)).toBe(true)
    const { hashrate } = (await miner.json('/2/summary')) as Summary
    expect(hashrate).toEqual({ total: [count, null, null], highest: count })
    for (const path of ['/1/summary', '/api.json']) {
      const older = (await miner.json(path)) as Summary
      expect(Object.keys(older).toSorted()).toEqual(Object.keys(early).toSorted())
      expect(older.hashrate.threads).toEqual([
        [count, null, null],
        [count, null, null],
      ])
    }
    expect(await miner.json('/2/backends')).toEqual([
      {
        health: { temperature: null, power: null, clock: null, mem_clock: null, fan_speed: [] },
        ...{ type: 'cpu', enabled: true, algo: 'blake2s', hashrate: [count, null, null] },
        threads: [0, 1].map((index) => ({
          index,
          name: `thread${index}`,
          kernel: text,
          hashrate: [count, null, null],
        })),
      },
      { type: 'opencl', enabled: false, algo: null, hashrate: [null, null, null], threads: [] },
      { type: 'cuda', enabled: false, algo: null, hashrate: [null, null, null], threads: [] },
    ])
  })
})

describe('systems of rigs', () => {
  it('/hiveos and /mmpos show the processor as one device, with its temperature', async () => {
    const miner = await startMiner({ threads: 2, hwmon: hwmonFolder([ZEN]) })
    const hive = { hs_units: 'khs', temp: [71], fan: [null], uptime: count, ver: text, algo: 'blake2s' }
    await expect.poll(() => miner.json('/hiveos')).toMatchObject({ temp: [71] })
    const early = await miner.json('/hiveos')
    expect(early).toEqual({ ...hive, hs: [null], ar: [count, count], bus_numbers: [null] })
    await expect.poll(() => isFull(miner)).toBe(true)
    await expect.poll(() => accepted(miner)).toBeGreaterThan(2)
    const [stats, mmp, summary] = [
      await miner.json('/hiveos'),
      await miner.json('/mmpos'),
      await miner.json('/api/summary'),
    ]
    expect(stats).toMatchObject({ hs: [expect.toSatisfy((khs) => khs > 10, 'thousands of hashes')] })
    expect(mmp).toEqual({
      ...{
        busid: ['cpu'],
        hash: [count],
        units: 'hs',
        miner_name: 'newcut',
        miner_version: (stats as { ver: string }).ver,
      },
      air: [expect.stringMatching(/^[1-9]\d*$/), '0', expect.stringMatching(/^\d+$/)],
      shares: { accepted: [count], rejected: [count], invalid: [0] },
    })
    const { shares, air } = mmp as { shares: { accepted: number[] }; air: string[] }
    expect(shares.accepted).toEqual([Number(air[0])])
    const [cpu] = (summary as Snapshot).hardware
    expect(cpu).toMatchObject({ name: 'cpu', devices: ['thread0', 'thread1'], celsius: 71.25 })
    expect(cpu.hashrates.highest).toBeGreaterThan(10_000)
  })

  it('/hiveos and /mmpos show a card with its bus, temperature, fan and power', async (context) => {
    const card = await sensedCard()
    if (card === null) return context.skip(NO_DRIVER)
    const { name, setup } = card
    const miner = await startMiner({ ...setup, hwmon: hwmonFolder([ZEN]), difficulty: 1_000_000n })
    await expect
      .poll(() => miner.json('/hiveos'))
      .toMatchObject({
        ...{ temp: [71, 57], fan: [null, 43], bus_numbers: [null, 0x5d] },
      })
    expect(await miner.json('/mmpos')).toMatchObject({ busid: ['cpu', 0x5d] })
    const health = { temperature: 57, power: 212.5, clock: null, mem_clock: null, fan_speed: [43] }
    expect(await miner.json('/2/backends')).toMatchObject([
      { type: 'cpu', enabled: true },
      { type: 'opencl', enabled: true, threads: [{ index: 0, name, bus_id: '5d:00.0', hashrate: rates, health }] },
      { type: 'cuda', enabled: false },
    ])
    const metrics = await (await fetch(`${miner.url}/metrics`)).text()
    expect(metrics).toContain('newcut_temperature_celsius{engine="gpu",device="gpu0"} 57')
    expect(metrics).toContain('newcut_temperature_celsius{engine="cpu",device="cpu"} 71.25')
    expect(metrics).toContain('newcut_fan_speed_ratio{engine="gpu",device="gpu0"} 0.43')
    expect(metrics).toContain('newcut_power_watts{engine="gpu",device="gpu0"} 212.5')
    expect(metrics).toMatch(/^newcut_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+",kernel="\S+ wgsl"\} 1$/m)
  })
})

describe('control by JSON-RPC', () => {
  it('control by JSON-RPC pauses, resumes and stops a miner for clients with the token', async () => {
    const miner = await startMiner({ token: TOKEN })
    expect(await miner.json('/2/summary')).toMatchObject({ restricted: false, paused: false })
    await expect.poll(() => accepted(miner)).toBeGreaterThan(0)
    const paused = await miner.call(rpc('pause', 'x'), { ...bearer, 'content-type': 'application/json' })
    expect(paused.status).toBe(200)
    expect(await paused.json()).toEqual({ jsonrpc: '2.0', id: 'x', result: { status: 'OK' } })
    expect(await miner.json('/2/summary')).toMatchObject({ paused: true, results: { diff_current: null } })
    expect(await miner.json('/healthz')).toEqual({ status: 'paused', connected: expect.any(Boolean) })
    expect(await (await fetch(`${miner.url}/metrics`)).text()).toContain('newcut_paused 1')
    // Slices in progress still count. After them the clock runs on and the hash count stays the same.
    const sample = async () => (await miner.json('/api/summary')) as Snapshot
    let [first, last] = [await sample(), await sample()]
    await until(async () => {
      if (last.hashes !== first.hashes) first = last
      last = await sample()
      return last.hashes === first.hashes && last.uptimeMs >= first.uptimeMs + 500
    })
    expect(last).toMatchObject({ paused: true, work: null })

    const before = accepted(miner)
    expect((await miner.call(rpc('resume'), bearer)).status).toBe(200)
    await expect.poll(() => accepted(miner)).toBeGreaterThan(before)
    expect(await (await fetch(`${miner.url}/metrics`)).text()).toContain('newcut_paused 0')

    const stopped = await miner.call(rpc('stop', 7), bearer)
    expect(await stopped.json()).toEqual({ jsonrpc: '2.0', id: 7, result: { status: 'OK' } })
    expect((await miner.ended).solutions.accepted).toBeGreaterThan(before)
    await expect(fetch(`${miner.url}/healthz`)).rejects.toThrow()
  })

  it('control by JSON-RPC refuses clients without the token, and everybody if none is configured', async () => {
    const open = await startMiner()
    const refused = await open.call(rpc('pause'), bearer)
    expect(refused.status).toBe(403)
    expect(await refused.json()).toEqual({ error: expect.stringContaining('--http-token') })
    expect(await open.json('/2/summary')).toMatchObject({ restricted: true, paused: false })
    const guarded = await startMiner({ token: TOKEN })
    for (const headers of [{}, { authorization: 'Bearer another-token' }, { authorization: TOKEN }]) {
      const { status, headers: answered } = await guarded.call(rpc('pause'), headers)
      expect(answered.get('www-authenticate')).toBe('Bearer')
      expect(status).toBe(401)
    }
    expect(await guarded.json('/api/summary')).toMatchObject({ paused: false })
    // Reading needs no token.
    expect((await fetch(`${guarded.url}/2/backends`)).status).toBe(200)
  })

  it('control by JSON-RPC answers invalid requests as JSON-RPC 2.0 requires', async () => {
    const miner = await startMiner({ token: TOKEN })
    const answers = async (body: string) => {
      const response = await miner.call(body, bearer)
      const received = await response.text()
      return [response.status, received === '' ? null : JSON.parse(received)]
    }
    const failure = (code: number, id: unknown = null) => {
      return { jsonrpc: '2.0', id, error: { code, message: expect.any(String) } }
    }
    expect(await answers('{"jsonrpc":')).toEqual([400, failure(-32700)])
    expect(await answers('')).toEqual([400, failure(-32700)])
    for (const body of ['1', 'null', '[]', '{}', '{"method":1}', '{"jsonrpc":"1.0","method":"pause"}']) {
      expect([body, ...(await answers(body))]).toEqual([body, 400, failure(-32600)])
    }
    expect(await answers(rpc('explode', 3))).toEqual([200, failure(-32601, 3)])
    expect(await miner.json('/2/summary')).toMatchObject({ paused: false })
    // A request without an id is a notification and gets no response.
    expect(await answers('{"jsonrpc":"2.0","method":"pause"}')).toEqual([204, null])
    expect(await miner.json('/2/summary')).toMatchObject({ paused: true })
    const batch = `[${rpc('resume', 1)},${rpc('what', 2)}]`
    expect(await answers(batch)).toEqual([
      200,
      [{ jsonrpc: '2.0', id: 1, result: { status: 'OK' } }, failure(-32601, 2)],
    ])
    expect(await miner.json('/2/summary')).toMatchObject({ paused: false })
    expect((await miner.call('x'.repeat(2000), bearer)).status).toBe(413)
  })
})
