/** Hardware errors of a fleet's rigs: rigs report them to the leader, which shows them per rig. */
import { afterEach, describe, expect, it } from 'vitest'
import { joinFleet } from '../../src/compose/source/fleet.ts'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { decodeWork, encodeWork } from '../../src/ground/chain/header.ts'
import { solves } from '../../src/ground/chain/pow.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { MAX_NAMED, MemberTable } from '../../src/mining/engine/fleet/member-table.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { encodeMessage, LEASE_MS, type MemberReport, MemberReportAnswer } from '../../src/mining/fleet/messages.ts'
import { EngineSet } from '../../src/mining/mine/engine-set.ts'
import { Miner } from '../../src/mining/mine/miner.ts'
import { run, stopAll } from '../cli/run.ts'
import { HandEngine } from '../mine/by-hand.ts'
import { snapshotWith } from '../mine/snapshot.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { describeWith, lackOf } from '../needs.ts'
import { freshWork } from '../support/work.ts'
import { startLoneLeader } from './lone-leader.ts'

const figures = {
  version: '1',
  hashes: 0,
  rate: null,
  state: 'searching',
  reason: null,
  accepted: 0,
  refused: 0,
} as const

function report(session: string, parts: Partial<MemberReport> = {}): MemberReport {
  return { ...figures, rig: session, session, lease: null, seen: null, ...parts }
}

describe('the table of rigs', () => {
  it('the table of rigs counts errors that known rigs report, and wrong candidates that reached the leader, per rig', () => {
    const table = new MemberTable(() => 0.5)
    const errors = () => table.statuses(null).map(({ device, hardwareErrors }) => [device, hardwareErrors])
    const rows = () => table.rows(0, 10, 0).map(({ rig, hardwareErrors }) => [rig, hardwareErrors])
    table.report(report('a', { hardwareErrors: 5 }), 0)
    expect(errors()).toEqual([['rig:a', 0]])
    expect(rows()).toEqual([['a', 5]])
    table.report(report('a', { hardwareErrors: 7 }), 1)
    // An error that a report and a rejected candidate both mention counts once.
    table.report(report('a', { hardwareErrors: 6 }), 2)
    expect(errors()).toEqual([['rig:a', 2]])
    table.report(report('a', { hardwareErrors: 7 }), 3)
    table.report(report('b'), 3)
    table.fault('a', 'a')
    expect(errors()).toEqual([
      ['rig:a', 3],
      ['rig:b', 0],
    ])
    expect(rows()).toEqual([
      ['a', 8],
      ['b', 0],
    ])
    // A restarted machine counts from zero; the counter of the device continues.
    table.expire(LEASE_MS + 3)
    table.report(report('a2', { rig: 'a', hardwareErrors: 1 }), LEASE_MS + 4)
    table.report(report('a2', { rig: 'a', hardwareErrors: 2 }), LEASE_MS + 5)
    table.fault('a', 'a')
    expect(errors()).toContainEqual(['rig:a', 5])
    expect(rows()).toEqual([['a', 2]])
  })

  it('the table of rigs counts errors for a bounded number of rigs, and for all others together', () => {
    const table = new MemberTable(() => 0.5)
    for (let i = 0; i < MAX_NAMED + 10; i++) {
      table.report(report(`r${i}`), 0)
      table.report(report(`r${i}`, { hardwareErrors: 1 }), 1)
    }
    const errors = table.statuses(null).map(({ device, hardwareErrors }) => [device, hardwareErrors] as const)
    expect(errors).toHaveLength(MAX_NAMED + 1)
    expect(errors.at(-1)).toEqual(['rigs', 10])
  })
})

it('metrics show errors by device, beside those that the miner found itself, until the device is gone', async () => {
  const hashrates = { '10s': null, '60s': null, '15m': null }
  const device = {
    engine: 'fleet',
    kernel: 'nats',
    hashes: 0,
    faults: 0,
    hashrates,
  }
  let devices: { readonly device: string; readonly hardwareErrors?: number }[] = [
    { device: 'rig:a', hardwareErrors: 2 },
    { device: 'gpu0' },
  ]
  const metrics = new Metrics(() => snapshotWith({ devices: devices.map((each) => ({ ...device, ...each })) }), '0')
  const shown = async () => {
    const text = await metrics.scrape()
    return [...text.matchAll(/^newcut_(?:miner_)?hardware_errors_total(\S*) (\d+)$/gm)].map(([, labels, count]) => [
      labels,
      Number(count),
    ])
  }
  metrics.onEvent({ type: 'hardwareError', device: 'gpu0', nonce: '0' })
  const both = [
    ['{device="gpu0"}', 1],
    ['{device="rig:a"}', 2],
    ['', 3],
  ]
  expect(await shown()).toEqual(both)
  expect(await shown()).toEqual(both)
  devices = [{ device: 'rig:a', hardwareErrors: 5 }]
  expect(await shown()).toEqual([
    ['{device="rig:a"}', 5],
    ['', 6],
  ])
  devices = []
  expect(await shown()).toEqual([['', 6]])
})

it('metrics continue with a replacement device of the same name, and keep errors of a departed one', async () => {
  class Erring extends HandEngine {
    override devices = () => [{ device: 'd0', kernel: 'none', hashes: 0, faults: 0, hardwareErrors: this.hashed }]
  }
  const set = new EngineSet(new VirtualClock())
  const [first, second] = [new Erring(), new Erring()]
  const events = { onCandidate: () => undefined, onWarning: () => undefined }
  await set.start([first], 286, events)
  Object.assign(first, { hashed: 3 })
  set.exchange([first], [second])
  expect(set.devices()).toMatchObject([{ device: 'd0', hardwareErrors: 3 }])
  Object.assign(second, { hashed: 4 })
  expect(set.devices()).toMatchObject([{ hardwareErrors: 7 }])
  set.exchange([second], [])
  expect([set.devices(), set.goneDevices()]).toMatchObject([[], [{ hardwareErrors: 7 }]])
})

describeWith(lackOf('nats-server'), 'a fleet', () => {
  afterEach(stopAll)

  it('the list of rigs shows the wrong claims of a rig: those that it refused itself, and those that reached the leader', async ({
    onTestFinished,
  }) => {
    const { nats, devnet, face } = await startLoneLeader(onTestFinished)
    // A rig whose device makes one wrong claim a second.
    const address = { addresses: [readNatsAddress(nats.url)], trust: {}, fleet: 'main' }
    const stop = new AbortController()
    const reaching = { failFast: false, link: address, rig: 'alpha' } as const
    const reached = await joinFleet({ kind: 'fleet', ...reaching }, false, () => undefined, stop.signal)
    const engine = new HandEngine()
    const { source } = reached
    const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent: () => undefined })
    reached.attach?.(miner)
    const ended = miner.run(stop.signal)
    onTestFinished(async () => {
      stop.abort()
      await ended
      await reached.close()
    })
    await expect.poll(() => engine.works.length).toBeGreaterThan(0)
    // A rig of an older version: it reports no hardware errors, and sends a candidate that does not solve its work.
    const options = { ...address, agent: 'test', clock: systemClock, random: Math.random }
    const link = await FleetLink.open(options, null, new AbortController().signal)
    onTestFinished(() => link.close())
    const tell = () => link.request(link.subjects.report, report('beta'), MemberReportAnswer, 3_000)
    await expect.poll(() => tell().then(({ lease }) => lease)).not.toBeNull()
    const bytes = encodeWork({ ...decodeWork(freshWork(1n)), target: 1n })
    expect(solves(bytes)).toBe(false)
    const work = encodeBase64Url(bytes)
    const candidate = { job: '1-1', issuer: devnet.url, work, rig: 'beta', session: 'beta', hashes: 0 }
    await link.jetstream.publish(link.subjects.candidate, encodeMessage(candidate))

    const list = async () => {
      await tell()
      return JSON.parse((await run(['fleet', '--nats', nats.url, '--json'])).out).rigs as { hardwareErrors: number }[]
    }
    await expect.poll(list).toMatchObject([
      { rig: 'alpha', hardwareErrors: 0 },
      { rig: 'beta', hardwareErrors: 1 },
    ])
    for (let i = 0; i < 3; i++) await engine.claim(engine.newest.bytes)
    expect(miner.snapshot().hardwareErrors).toBe(3)
    await expect.poll(async () => (await list())[0].hardwareErrors).toBe(3)
    const { out } = await run(['fleet', '--nats', nats.url])
    expect(out).toMatch(/^rig +state +rate +blocks +errors +version$/m)
    expect(out).toMatch(/^alpha +searching +.* +0\/0 +3 +\d+\.\d+\.\d+$/m)
    expect(out).toMatch(/^beta +searching +.* +0\/0 +1 +1$/m)
    const summary = async () => (await fetch(`${face}/api/summary`)).json() as Promise<Record<string, unknown>>
    await expect.poll(summary).toMatchObject({
      hardware: expect.arrayContaining([
        expect.objectContaining({ name: 'rig:alpha', hardwareErrors: 3 }),
        expect.objectContaining({ name: 'rig:beta', hardwareErrors: 1 }),
      ]),
      hardwareErrors: 4,
    })
    const metrics = await (await fetch(`${face}/metrics`)).text()
    expect(metrics).toMatch(/^newcut_hardware_errors_total\{device="rig:alpha"\} 3$/m)
    expect(metrics).toMatch(/^newcut_hardware_errors_total\{device="rig:beta"\} 1$/m)
  })
})
