import { afterEach, describe, expect, it } from 'vitest'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { type ApiServer, startApi } from '../../src/faces/api/server.ts'
import type { LifeStep, Verdict } from '../../src/ground/chain/solution.ts'
import type { StratumStatus } from '../../src/mining/engine/rigs.ts'
import { RefusalCounter } from '../../src/mining/engine/stratum/refusal-counter.ts'
import { noShares } from '../../src/mining/engine/stratum/users.ts'
import { NO_RATES } from '../../src/mining/mine/hashrate.ts'
import { pauseCauses } from '../../src/mining/mine/pauses.ts'
import type { DeviceSnapshot, Snapshot } from '../../src/mining/mine/snapshot.ts'
import { snapshotWith } from '../mine/snapshot.ts'
import { step } from '../web/dashboard/common.ts'

const device = (name: string, changes: Partial<DeviceSnapshot> = {}): DeviceSnapshot => {
  return { engine: 'cpu', device: name, kernel: 'js', hashes: 0, faults: 0, hashrates: NO_RATES, ...changes }
}

const energy = { watts: null, joules: null, hashrate: null, unread: 0 }
const fleet = { fleet: 'farm', isLeading: true, leader: 'host-1', rigs: 6, energy }

const snapshotOf = (devices: readonly DeviceSnapshot[], hashes: number) => snapshotWith({ devices, hashes })

describe('a scrape', () => {
  it('a scrape shows the state of each of several nodes, without lag and latency for one that does not answer', async () => {
    const node = { height: 9, version: '2.32', problem: null }
    let nodes: Snapshot['nodes'] = [
      { ...node, url: 'http://a', up: true, active: true, lag: 0.5, latencyMs: 20 },
      { ...node, url: 'http://b', up: true, active: false, lag: 0, latencyMs: 4 },
    ]
    const metrics = new Metrics(() => ({ ...snapshotOf([], 0), nodes }), '0.0.0')
    const before = await metrics.scrape()
    expect(before).toContain('newcut_node_up{node="http://a"} 1')
    expect(before).toContain('newcut_node_active{node="http://b"} 0')
    expect(before).toContain('newcut_node_lag_blocks{node="http://a"} 0.5')
    expect(before).toContain('newcut_node_latency_seconds{node="http://a"} 0.02')
    nodes = [{ ...nodes[0], up: false, active: false, lag: null, latencyMs: null }, nodes[1]]
    const after = await metrics.scrape()
    expect(after).toContain('newcut_node_up{node="http://a"} 0')
    expect(after.match(/node="http:\/\/a"/g)).toHaveLength(2)
    expect(after.match(/node="http:\/\/b"/g)).toHaveLength(4)
  })

  it('a scrape counts a repeated step once, and times only the first verdict', async () => {
    const metrics = new Metrics(() => snapshotOf([], 0), '0.0.0')
    const stale = { step: 'stale', mayReturn: true } as const
    metrics.onEvent({ ...step('a', stale), verdict: 'stale' })
    metrics.onEvent({ ...step('a', { step: 'stale' }), wasDecided: true })
    metrics.onEvent({ ...step('a', { step: 'confirmed', depth: 3 }), verdict: 'accepted', wasDecided: true })
    metrics.onEvent({ ...step('a', { step: 'confirmed', depth: 4 }), wasDecided: true })
    const text = await metrics.scrape()
    expect(text).toContain('newcut_blocks_total{state="stale"} 1')
    expect(text).toContain('newcut_blocks_total{state="confirmed"} 1')
    expect(text).toContain('newcut_solutions_total{verdict="accepted"} 1')
    expect(text).toContain('newcut_submit_duration_seconds_count 1')
  })

  it('a scrape reports a device as down while it restarts, and as up afterwards', async () => {
    let devices = [device('thread0', { state: 'restarting', reason: 'it died' }), device('thread1')]
    const metrics = new Metrics(() => snapshotOf(devices, 0), '0.0.0')
    const before = await metrics.scrape()
    expect(before).toContain('newcut_device_up{engine="cpu",device="thread0"} 0')
    expect(before).toContain('newcut_device_up{engine="cpu",device="thread1"} 1')
    devices = [device('thread0'), device('thread1')]
    expect(await metrics.scrape()).toContain('newcut_device_up{engine="cpu",device="thread0"} 1')
  })

  it('a scrape has the highest hashrate once it is known', async () => {
    let highestHashrate: number | null = null
    const metrics = new Metrics(() => snapshotWith({ highestHashrate }), '0.0.0')
    const value = async () =>
      /^newcut_hashrate_highest_hashes_per_second (\S+)$/m.exec(await metrics.scrape())?.[1] ?? null
    expect(await value()).toBeNull()
    highestHashrate = 12_345_678.5
    expect(await value()).toBe('12345678.5')
    highestHashrate = 20_000_000
    expect(await value()).toBe('20000000')
  })

  it('a scrape has no series for a removed device', async () => {
    const rates = { ...NO_RATES, '10s': 50 }
    let devices = [device('a', { hashes: 700, faults: 2, hashrates: rates }), device('b', { hashes: 300 })]
    const metrics = new Metrics(() => snapshotOf(devices, 1000), '0.0.0')
    metrics.onEvent({ type: 'hardwareError', device: 'a', nonce: '0' })
    expect((await metrics.scrape()).match(/device="a"/g)).toHaveLength(5)
    devices = devices.slice(1)
    const after = await metrics.scrape()
    expect(after).not.toContain('device="a"')
    expect(after).toContain('newcut_hashes_total{engine="cpu",device="b"} 300')
  })

  it('a scrape keeps hashes, faults and errors of removed devices in the totals of the miner', async () => {
    let devices = [device('a', { hashes: 700, faults: 2 }), device('b', { hashes: 300, faults: 1 })]
    const metrics = new Metrics(() => snapshotOf(devices, 1000), '0.0.0')
    metrics.onEvent({ type: 'hardwareError', device: 'a', nonce: '0' })
    await metrics.scrape()
    devices = []
    const after = await metrics.scrape()
    expect(after).toContain('newcut_miner_hashes_total 1000')
    expect(after).toContain('newcut_miner_faults_total 3')
    expect(after).toContain('newcut_miner_hardware_errors_total 1')
  })

  it('a scrape adds the hashes of a device that restarts from zero to its earlier ones', async () => {
    let devices = [device('a', { hashes: 700 })]
    const metrics = new Metrics(() => snapshotOf(devices, 0), '0.0.0')
    await metrics.scrape()
    devices = [device('a', { hashes: 50 })]
    expect(await metrics.scrape()).toContain('newcut_hashes_total{engine="cpu",device="a"} 750')
  })

  it('a scrape adds only new counts to the totals of the miner', async () => {
    let parts: Partial<Snapshot> = { hashes: 500, preemptions: 2, poolBlocks: 1 }
    const metrics = new Metrics(() => snapshotWith(parts), '0.0.0')
    await metrics.scrape()
    parts = { hashes: 700, preemptions: 5, poolBlocks: 1 }
    const text = await metrics.scrape()
    expect(text).toContain('newcut_miner_hashes_total 700\n')
    expect(text).toContain('newcut_work_preemptions_total 5\n')
    expect(text).toContain('newcut_pool_blocks_total 1\n')
  })

  it('a scrape tells devices of the same name apart, and counts the errors that a device reports', async () => {
    const errors = { hardwareErrors: 4 }
    let devices = [device('a', { hashes: 10 }), device('a', { engine: 'gpu', hashes: 70, ...errors })]
    const metrics = new Metrics(() => snapshotOf(devices, 0), '0.0.0')
    await metrics.scrape()
    devices = [device('a', { hashes: 15 }), device('a', { engine: 'gpu', hashes: 90, hardwareErrors: 6 })]
    const text = await metrics.scrape()
    expect(text).toContain('newcut_hashes_total{engine="cpu",device="a"} 15\n')
    expect(text).toContain('newcut_hashes_total{engine="gpu",device="a"} 90\n')
    expect(text).toContain('newcut_hardware_errors_total{device="a"} 6\n')
    expect(text).toContain('newcut_miner_hardware_errors_total 6\n')
  })

  it('a scrape has the rate of a device only while it is known', async () => {
    let devices = [device('a', { hashrates: { ...NO_RATES, '10s': 50 } })]
    const metrics = new Metrics(() => snapshotOf(devices, 0), '0.0.0')
    const name = 'newcut_hashrate_hashes_per_second{engine="cpu",device="a"}'
    expect(await metrics.scrape()).toContain(`${name} 50\n`)
    devices = [device('a')]
    expect(await metrics.scrape()).not.toContain(name)
  })

  it('times verdicts in seconds, except those that a reorganisation or an outage delays', async () => {
    const metrics = new Metrics(() => snapshotOf([], 0), '0.0.0')
    const tell = (hash: string, life: LifeStep, verdict: Verdict | null) =>
      metrics.onEvent({ ...step(hash, life), verdict, elapsedMs: 2_500 })
    tell('a', { step: 'acknowledged' }, null)
    tell('a', { step: 'confirmed', depth: 1 }, 'accepted')
    tell('b', { step: 'orphaned' }, 'orphaned')
    tell('c', { step: 'unconfirmed', message: '' }, 'unconfirmed')
    const text = await metrics.scrape()
    expect(text).toContain('newcut_submit_duration_seconds_sum 2.5\n')
    expect(text).toContain('newcut_submit_duration_seconds_count 1\n')
    expect(text).toContain('newcut_blocks_total{state="acknowledged"} 1\n')
    for (const verdict of ['accepted', 'orphaned', 'unconfirmed'])
      expect(text).toContain(`newcut_solutions_total{verdict="${verdict}"} 1\n`)
    expect(text).toContain('newcut_solutions_total{verdict="lost"} 0\n')
  })

  it('times the uptake of new cuts alone, and has the difficulty of each chain', async () => {
    const metrics = new Metrics(() => snapshotOf([], 0), '0.0.0')
    const of = { type: 'work', job: '1', issuer: 'http://a', height: 7, preemptMs: 250 } as const
    metrics.onEvent({ ...of, chain: 3, difficulty: 100, reason: 'start' })
    metrics.onEvent({ ...of, chain: 3, difficulty: 200, reason: 'newCut' })
    metrics.onEvent({ ...of, chain: 14, difficulty: 300, reason: 'switched' })
    const text = await metrics.scrape()
    expect(text).toContain('newcut_preempt_duration_seconds_sum 0.25\n')
    expect(text).toContain('newcut_preempt_duration_seconds_count 1\n')
    expect(text).toContain('newcut_difficulty_hashes{chain="3"} 200\n')
    expect(text).toContain('newcut_difficulty_hashes{chain="14"} 300\n')
  })

  it('a scrape has the age of work in seconds and its votes, and neither without work', async () => {
    let parts: Partial<Snapshot> = { work: { chain: 0, height: 1, difficulty: 1, ageMs: 1_500, forkVotes: 12 } }
    const metrics = new Metrics(() => snapshotWith(parts), '0.0.0')
    const text = await metrics.scrape()
    expect(text).toContain('newcut_work_age_seconds 1.5\n')
    expect(text).toContain('newcut_work_fork_votes 12\n')
    expect(text).toContain('newcut_update_stream_connected 1\n')
    parts = { work: null, connected: false }
    const after = await metrics.scrape()
    expect(after).not.toMatch(/^newcut_work_(age_seconds|fork_votes) /m)
    expect(after).toContain('newcut_update_stream_connected 0\n')
  })

  it('a scrape has each pause cause, the kernels that search, and who leads the fleet', async () => {
    let parts: Partial<Snapshot> = {
      ...{ paused: true, pauses: [{ by: 'schedule', text: '' }], fleet },
      devices: [device('a', { kernel: 'wasm' }), device('b'), device('c', { kernel: 'wasm' })],
    }
    const metrics = new Metrics(() => snapshotWith(parts), '1.2.3')
    const text = await metrics.scrape()
    expect(text).toContain('newcut_paused 1\n')
    expect(text.match(/^newcut_paused_by.*$/gm)).toEqual(
      pauseCauses.map((cause) => `newcut_paused_by{cause="${cause}"} ${cause === 'schedule' ? 1 : 0}`),
    )
    expect(text).toContain('newcut_fleet_leading{fleet="farm"} 1\n')
    expect(text).toContain('newcut_fleet_rigs{fleet="farm"} 6\n')
    parts = { devices: [device('b')], fleet: { ...fleet, isLeading: false } }
    const after = await metrics.scrape()
    expect(after).toContain('newcut_paused_by{cause="schedule"} 0\n')
    expect(after).toContain('newcut_fleet_leading{fleet="farm"} 0\n')
    expect(after.match(/^newcut_build_info.*$/gm)).toEqual([
      `newcut_build_info{version="1.2.3",node="${process.versions.node}",kernel="js"} 1`,
    ])
    expect(text).toContain('kernel="js wasm"} 1\n')
  })
})

describe('/healthz', () => {
  let api: ApiServer | null = null
  afterEach(() => api?.close())

  async function healthOf(snapshot: Snapshot): Promise<{ code: number; body: unknown }> {
    await api?.close()
    api = await startApi({ host: '127.0.0.1', port: 0 }, () => snapshot, new Metrics(() => snapshot, '0.0.0'))
    const response = await fetch(`${api.url}/healthz`)
    return { code: response.status, body: await response.json() }
  }

  it('/healthz answers 200 while one device searches, even if others do not', async () => {
    const devices = [device('gpu0', { state: 'parked', reason: 'no batch for 5 s' }), device('thread0')]
    expect(await healthOf(snapshotOf(devices, 0))).toEqual({ code: 200, body: { status: 'mining', connected: true } })
  })

  it('/healthz answers 503 with the reason when nothing searches', async () => {
    const devices = [device('gpu0', { engine: 'gpu', state: 'parked', reason: 'no batch for 5 s' })]
    const reason = 'gpu gpu0 is parked: no batch for 5 s'
    const body = { status: 'nothing searches', reason, connected: true }
    expect(await healthOf(snapshotOf(devices, 0))).toEqual({ code: 503, body })
  })

  it('/healthz names some of many devices that do not search, and counts the others', async () => {
    const devices = Array.from({ length: 1000 }, (_, index) => device(`d${index}`, { state: 'restarting' }))
    const { body } = await healthOf(snapshotOf(devices, 0))
    expect(body).toMatchObject({
      reason: 'cpu d0 is restarting; cpu d1 is restarting; cpu d2 is restarting; and 997 more',
    })
  })

  it('/healthz answers 503 while there is no work', async () => {
    const body = { status: 'no work', connected: true }
    expect(await healthOf({ ...snapshotOf([device('a')], 0), work: null })).toEqual({ code: 503, body })
  })

  it('/healthz answers 200 for a standby that does not search while another miner leads', async () => {
    const standby = { ...fleet, isLeading: false }
    const idle = { ...snapshotOf([], 0), work: null }
    expect(await healthOf({ ...idle, fleet: { ...standby, leader: 'host-7' } })).toEqual({
      code: 200,
      body: { status: 'stands by', leader: 'host-7', connected: true },
    })
    for (const other of [
      { ...standby, leader: null },
      { ...standby, isLeading: true, leader: 'host-7' },
    ])
      expect(await healthOf({ ...idle, fleet: other })).toMatchObject({ code: 503, body: { status: 'no work' } })
  })

  it('/healthz answers 200 while paused, even without work', async () => {
    const body = { status: 'paused', connected: true }
    expect(await healthOf(snapshotWith({ paused: true, work: null }))).toEqual({ code: 200, body })
  })

  it('/healthz counts each total of rigs separately, even if their reasons have the same name', async () => {
    const refusals = new RefusalCounter()
    for (let i = 0; i < 9; i++) refusals.request('digits')
    const rigs = () => ({
      ...{ sessions: 0, shares: noShares(), users: [], rigs: [], isLogWell: null, refusals: refusals.counts() },
      sentAway: { full: 1, digits: 2 },
    })
    const metrics = new Metrics(() => ({ ...snapshotOf([], 0), rigs: rigs() }), '0.0.0')
    for (let i = 0; i < 3; i++) await metrics.scrape()
    const text = await metrics.scrape()
    for (const line of [
      'newcut_rig_sent_away_total{reason="digits"} 2',
      'newcut_rig_sent_away_total{reason="full"} 1',
      'newcut_rig_refused_total{reason="digits"} 9',
      'newcut_rig_closed_total{reason="full"} 0',
      'newcut_share_log_failing 0',
    ]) {
      expect(text).toContain(`${line}\n`)
    }
  })

  it('/healthz counts refused rigs by reason', async () => {
    const rigs = {
      sessions: 0,
      shares: noShares(),
      users: [],
      rigs: [],
      isLogWell: null,
      refusals: new RefusalCounter().counts(),
      sentAway: { full: 2, few: 0 },
    }
    const metrics = new Metrics(() => ({ ...snapshotOf([], 0), rigs }), '0.0.0')
    await metrics.scrape()
    rigs.sentAway = { full: 5, few: 0 }
    const after = await metrics.scrape()
    expect(after).toContain('newcut_rig_sent_away_total{reason="full"} 5\n')
    expect(after).toContain('newcut_rig_sent_away_total{reason="few"} 0\n')
  })

  it('/healthz counts shares by user and rig, and drops the series of disconnected ones', async () => {
    const shares = (accepted: number, low = 0) => ({ ...noShares(), accepted, low })
    const user = (name: string, accepted: number) => {
      return { user: name, sessions: 1, hashes: 1000 * accepted, shares: shares(accepted, 1) }
    }
    const rig = (name: string, accepted: number) => {
      const of = { device: name, user: 'k:a', sessions: 1, difficulty: null }
      return { ...of, shares: shares(accepted), refusedAs: name === 'rig:y' ? ('stale' as const) : null }
    }
    const refusals = new RefusalCounter()
    const said = (sessions: number, accepted: number) => {
      return { sessions, shares: shares(accepted, 2), refusals: refusals.counts() }
    }
    refusals.request('digits')
    let rigs: StratumStatus = {
      ...{ ...said(2, 5), users: [user('k:a', 4), user('k:b', 1)], rigs: [rig('rig:x', 4)] },
      isLogWell: true,
    }
    const metrics = new Metrics(() => ({ ...snapshotOf([], 0), rigs }), '0.0.0')
    await metrics.scrape()
    for (let i = 0; i < 3; i++) refusals.request('digits')
    refusals.connection('idle')
    rigs = {
      ...{ ...said(1, 7), users: [user('k:a', 6)], rigs: [rig('rig:x', 6), rig('rig:y', 0)] },
      isLogWell: false,
    }
    const after = await metrics.scrape()
    for (const line of [
      'newcut_rig_sessions 1',
      'newcut_rig_shares_total{verdict="accepted"} 7',
      'newcut_rig_user_shares_total{user="k:a",verdict="accepted"} 6',
      'newcut_rig_user_shares_total{user="k:a",verdict="low"} 1',
      'newcut_rig_user_hashes_total{user="k:a"} 6000',
      'newcut_rig_user_sessions{user="k:a"} 1',
      'newcut_rig_device_shares_total{device="rig:x",verdict="accepted"} 6',
      'newcut_rig_device_shares_total{device="rig:y",verdict="accepted"} 0',
      'newcut_rig_device_refused{device="rig:x",reason="none"} 0',
      'newcut_rig_device_refused{device="rig:y",reason="stale"} 1',
      'newcut_share_log_failing 1',
      'newcut_rig_refused_total{reason="digits"} 4',
      'newcut_rig_refused_total{reason="line"} 0',
      'newcut_rig_closed_total{reason="idle"} 1',
      'newcut_rig_closed_total{reason="full"} 0',
    ]) {
      expect(after).toContain(`${line}\n`)
    }
    expect(after).not.toContain('k:b')
  })
})
