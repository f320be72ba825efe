/** The figures of a miner in the shapes of XMRig's API, HiveOS and mmpOS. */
import { describe, expect, it } from 'vitest'
import { Connection } from '../../src/faces/api/connection.ts'
import { hiveStats, mmpStats } from '../../src/faces/api/rigs.ts'
import { backendsOf, summaryOf } from '../../src/faces/api/summary.ts'
import type { LifeStep } from '../../src/ground/chain/solution.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import type { HardwareSnapshot } from '../../src/mining/mine/hardware.ts'
import { NO_RATES, NO_WINDOWS } from '../../src/mining/mine/hashrate.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { snapshotWith } from '../mine/snapshot.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { step } from '../web/dashboard/common.ts'

const solutions = { accepted: 3, unconfirmed: 5, stale: 2, orphaned: 1, rejected: 1, lost: 1 }
const caches = { l2: 1, l3: 1, cores: 1, threads: 1, packages: 1 }
const processor = { brand: 'brand', aes: true, avx2: true, x64: true, ...caches, arch: 'x64', flags: [] }
const identity = { version: '1.2.3', processor, restricted: false, fingerprint: 'ab' }
const work: MinerEvent = {
  ...{ type: 'work', job: '1', issuer: 'http://a', chain: 0, height: 1, difficulty: 1, reason: 'start', preemptMs: 0 },
}
const trouble: MinerEvent = { type: 'trouble', message: 'the node is away' }
const recovered: MinerEvent = { type: 'recovered', message: 'the node is back' }

function hardware(name: string, changes: Partial<HardwareSnapshot> = {}): HardwareSnapshot {
  return {
    ...{ name, engine: 'gpu', devices: [name], model: null, vendor: null, pci: null, celsius: null, fanPercent: null },
    ...{ watts: null, hashes: 0, hashrates: NO_WINDOWS, solutions, hardwareErrors: 0, ...changes },
  }
}

const windows = (rate: number, minute: number | null = null) => ({ ...NO_WINDOWS, '10s': rate, '60s': minute })

/** The summary of a miner with these parts and a connection with these events. */
function summary(parts: Partial<Snapshot> = {}, events: readonly MinerEvent[] = [], clock = new VirtualClock()) {
  const connection = new Connection(clock)
  for (const event of events) connection.onEvent(event)
  return summaryOf(snapshotWith(parts), connection, identity, 2)
}

describe('the connection to a node', () => {
  it('the connection to a node counts outages, and lasts since the first work or the last recovery', async () => {
    const clock = new VirtualClock()
    const connection = new Connection(clock)
    await clock.pass(4_000)
    expect(connection.connectedMs).toBe(0)
    expect(connection.failures).toBe(0)
    connection.onEvent(work)
    await clock.pass(7_000)
    connection.onEvent(work)
    expect(connection.connectedMs).toBe(7_000)
    connection.onEvent(trouble)
    connection.onEvent(recovered)
    await clock.pass(2_500)
    expect(connection.connectedMs).toBe(2_500)
    expect(connection.failures).toBe(1)
    expect(summaryOf(snapshotWith(), connection, identity, 2).connection).toMatchObject({
      ...{ uptime: 2, uptime_ms: 2_500, failures: 1 },
    })
  })

  it('the connection to a node has the median time of the newest hundred answers, without refused and unanswered solutions', () => {
    const connection = new Connection(new VirtualClock())
    const at = (hash: string, life: LifeStep, elapsedMs: number) =>
      connection.onEvent({ ...step(hash, life), elapsedMs })
    const answer = (hash: string, tookMs: number, life: LifeStep = { step: 'acknowledged' }) => {
      at(hash, { step: 'handed-in' }, 10)
      at(hash, life, 10 + tookMs)
    }
    expect(connection.answerMs).toBeNull()
    for (const tookMs of [30, 10, 200]) answer(`a${tookMs}`, tookMs)
    expect(connection.answerMs).toBe(30)
    answer('stale', 1, { step: 'stale' })
    answer('refused', 1, { step: 'rejected', reason: 'unknown', message: '' })
    // A second answer, and the answer to a solution of an earlier run.
    at('a30', { step: 'acknowledged' }, 9_999)
    at('before', { step: 'acknowledged' }, 9_999)
    expect(connection.answerMs).toBe(30)
    for (let i = 0; i < 100; i++) answer(`b${i}`, 70)
    answer('c', 80)
    for (let i = 0; i < 50; i++) answer(`d${i}`, 5)
    expect(connection.answerMs).toBe(70)
    answer('e', 5)
    expect(connection.answerMs).toBe(5)
  })

  it('the connection to a node forgets the oldest of more than a thousand solutions without an answer', () => {
    const connection = new Connection(new VirtualClock())
    for (let i = 0; i <= 1000; i++) connection.onEvent(step(`h${i}`, { step: 'handed-in' }))
    connection.onEvent({ ...step('h0', { step: 'acknowledged' }), elapsedMs: 900 })
    expect(connection.answerMs).toBeNull()
    connection.onEvent({ ...step('h1', { step: 'acknowledged' }), elapsedMs: 50 })
    expect(connection.answerMs).toBe(40)
  })
})

describe('the summary for XMRig', () => {
  it('the summary for XMRig counts failed solutions among all shares, and unconfirmed ones nowhere', () => {
    const { results, connection } = summary({ solutions })
    expect(results).toMatchObject({ shares_good: 3, shares_total: 8 })
    expect(connection).toMatchObject({ accepted: 3, rejected: 5 })
  })

  it('the summary for XMRig has the mean time of a share over the run, and none before the first share', async () => {
    const events = [work, trouble, recovered]
    const { results, connection } = summary({ solutions, uptimeMs: 100_400, hashes: 77 }, events)
    const average = { avg_time: 13, avg_time_ms: 12_550, hashes_total: 77 }
    expect(results).toMatchObject(average)
    expect(connection).toMatchObject(average)
    expect(summary({ uptimeMs: 100_400 }).results).toMatchObject({ avg_time: null, avg_time_ms: null })
  })

  it('the summary for XMRig has seconds of uptime, two digits of rates, and the ten best solutions', () => {
    const best = [9, 7, 4].map((difficulty) => ({ difficulty, chain: 0, height: 1, device: 'cpu' }))
    const rates = { '10s': 1.239, '60s': 2, '15m': null }
    const { uptime, hashrate, results, paused } = summary({
      ...{ uptimeMs: 65_900, hashrates: rates, highestHashrate: 3.456, paused: true },
      results: { expected: 1, found: 3, effort: 0, best },
    })
    expect(uptime).toBe(65)
    expect(paused).toBe(true)
    expect(hashrate).toEqual({ total: [1.24, 2, null], highest: 3.46 })
    expect(results.best).toEqual([9, 7, 4, 0, 0, 0, 0, 0, 0, 0])
  })

  it.each([
    ['https://node.example', { pool: 'node.example:443', ip: null, tls: 'TLS', 'tls-fingerprint': 'ab' }],
    ['http://node.example', { pool: 'node.example:80', ip: null, tls: null, 'tls-fingerprint': null }],
    ['http://10.0.0.7:1848', { pool: '10.0.0.7:1848', ip: '10.0.0.7', tls: null }],
    ['http://[fd00::7]:1848', { pool: '[fd00::7]:1848', ip: 'fd00::7' }],
    ['stratum+tcp://pool.example:1917', { pool: 'pool.example:1917', ip: null, tls: null, 'tls-fingerprint': null }],
    ['stratum+ssl://10.0.0.7:1917', { pool: '10.0.0.7:1917', ip: '10.0.0.7', tls: 'TLS' }],
    ['embedded', { pool: null, ip: null, tls: null }],
    [null, { pool: null, ip: null, tls: null }],
  ])('the summary for XMRig names the issuer %s', (issuer, expected) => {
    expect(summary({ issuer }).connection).toMatchObject(expected)
  })

  it('the summary for XMRig has the latency of the active node as ping, or else the time of answers', () => {
    const node = { up: true, lag: 0, height: 1, version: null, problem: null }
    const nodes = [
      { ...node, url: 'http://a', active: false, latencyMs: 1 },
      { ...node, url: 'http://b', active: true, latencyMs: 22.6 },
    ]
    const answers = [
      { ...step('a', { step: 'handed-in' }), elapsedMs: 0 },
      { ...step('a', { step: 'acknowledged' }), elapsedMs: 8.4 },
    ]
    expect(summary({ nodes }, answers).connection.ping).toBe(23)
    expect(summary({}, answers).connection.ping).toBe(8)
    expect(summary().connection.ping).toBeNull()
  })
})

describe('the backends for XMRig', () => {
  const thread = (device: string, rate: number) => {
    const hashrates = { ...NO_RATES, '10s': rate }
    return { engine: 'cpu', device, hardware: 'cpu', kernel: 'js', hashes: 0, faults: 0, hashrates }
  }
  const cards = [
    hardware('gpu0', { vendor: 'amd', model: 'Red', pci: '03:00.0', celsius: 60, hashrates: windows(100, 90) }),
    hardware('gpu1', { vendor: 'nvidia', model: 'Green', pci: '5d:00.0', fanPercent: 40, hashrates: windows(200) }),
    hardware('gpu2', { vendor: 'nvidia', watts: 250.5, hashrates: windows(300, 310) }),
  ]
  const cpu = hardware('cpu', { engine: 'cpu', celsius: 71.25, hashrates: windows(30) })

  it('the backends for XMRig separate cards by vendor, each with its own number and health', () => {
    const devices = [thread('thread0', 10), { ...thread('gpu0', 100), engine: 'gpu' }, thread('thread1', 20)]
    const [own, opencl, cuda] = backendsOf(snapshotWith({ devices, hardware: [cpu, ...cards] }))
    expect(own).toMatchObject({
      ...{ type: 'cpu', enabled: true, hashrate: [30, null, null], health: { temperature: 71.25 } },
      threads: [
        { index: 0, name: 'thread0', hashrate: [10, null, null] },
        { index: 1, name: 'thread1', hashrate: [20, null, null] },
      ],
    })
    expect(own.threads).toHaveLength(2)
    expect(opencl).toMatchObject({
      ...{ type: 'opencl', enabled: true, hashrate: [100, 90, null] },
      threads: [{ index: 0, name: 'Red', bus_id: '03:00.0', health: { temperature: 60, power: null, fan_speed: [] } }],
    })
    // A sum is unknown while one of its parts is.
    expect(cuda).toMatchObject({ type: 'cuda', enabled: true, algo: 'blake2s', hashrate: [500, null, null] })
    expect(cuda.threads).toMatchObject([
      { index: 0, name: 'Green', bus_id: '5d:00.0', hashrate: [200, null, null], health: { fan_speed: [40] } },
      { index: 1, name: 'gpu2', bus_id: null, hashrate: [300, 310, null], health: { power: 250.5, fan_speed: [] } },
    ])
  })

  it('the backends for XMRig are off without hardware of theirs', () => {
    const off = { enabled: false, algo: null, hashrate: [null, null, null], threads: [] }
    expect(backendsOf(snapshotWith())).toEqual([
      { type: 'cpu', ...off },
      { type: 'opencl', ...off },
      { type: 'cuda', ...off },
    ])
  })
})

describe('the figures for mining systems', () => {
  const parts = [
    hardware('cpu', { engine: 'cpu', celsius: 71.6, hashrates: windows(1_499.6), hardwareErrors: 1 }),
    hardware('gpu0', {
      ...{ pci: '5d:00.0', fanPercent: 42.4, hashrates: windows(2_000_000), hardwareErrors: 3 },
      solutions: { ...solutions, accepted: 2, stale: 0 },
    }),
    hardware('gpu1'),
  ]
  const snapshot = snapshotWith({ hardware: parts, uptimeMs: 61_900, solutions, hardwareErrors: 4 })

  it('/hiveos reports thousands of hashes, with null for unknown figures', () => {
    expect(hiveStats(snapshot, '1.2.3')).toEqual({
      ...{ hs: [1.5, 2_000, null], hs_units: 'khs', temp: [72, null, null], fan: [null, 42, null], uptime: 61 },
      ...{ ver: '1.2.3', ar: [3, 5], algo: 'blake2s', bus_numbers: [null, 0x5d, null] },
    })
  })

  it('/mmpos reports hashes, with accepted, invalid and rejected solutions', () => {
    expect(mmpStats(snapshot, '1.2.3')).toEqual({
      ...{ busid: ['cpu', 0x5d, null], hash: [1_500, 2_000_000, null], units: 'hs', air: ['3', '4', '5'] },
      shares: { accepted: [3, 2, 3], rejected: [5, 3, 5], invalid: [1, 3, 0] },
      ...{ miner_name: 'newcut', miner_version: '1.2.3' },
    })
  })
})
