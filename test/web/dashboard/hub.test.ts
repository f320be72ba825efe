/** The dashboard's hub on virtual time: messages to its readers, and its history. */
import { describe, expect, it } from 'vitest'
import { Hub, MAX_READERS } from '../../../src/faces/web/dashboard/hub.ts'
import { devicesByLine, ratesOf } from '../../../src/faces/web/dashboard/lines.ts'
import type { DashboardChange, DashboardState, ShownBlock } from '../../../src/faces/web/dashboard/state.ts'
import type { Snapshot } from '../../../src/mining/mine/snapshot.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { snapshotWith, step } from './common.ts'

const about = { version: '1', network: 'development', account: 'k:a' }

function opened(earlier: readonly ShownBlock[] = []) {
  const clock = new VirtualClock()
  const miner = { now: snapshotWith() }
  const hub = new Hub({ about, snapshot: () => miner.now, clock, earlier })
  return { clock, hub, miner }
}

/** A reader that records its messages. */
function reading(hub: Hub) {
  const states: DashboardState[] = []
  const changes: DashboardChange[] = []
  const end = hub.read(
    (name, json) => (name === 'state' ? states.push(JSON.parse(json)) : changes.push(JSON.parse(json))),
    () => undefined,
  )
  return { states, changes, end }
}

describe('a reader', () => {
  it('a reader of the dashboard gets the full state at once, and the changes each second', async () => {
    const { clock, hub, miner } = opened()
    const { states, changes } = reading(hub)
    expect(states).toHaveLength(1)
    expect(states[0]).toEqual({
      ...{ about, nowMs: clock.wallMs(), summary: snapshotWith(), blocks: [] },
      history: { atMs: [], total: [], lines: [] },
    })
    await clock.pass(1000)
    miner.now = snapshotWith({ hashes: 6, connected: false })
    await clock.pass(1000)
    await clock.pass(1000)
    expect(changes.slice(1).map(({ summary }) => summary)).toEqual([{ hashes: 6, connected: false }, {}])
  })

  it('a reader of the dashboard gets work and blocks soon, but at most every 200 ms', async () => {
    const { clock, hub } = opened()
    const { changes } = reading(hub)
    await clock.pass(1500)
    expect(changes).toHaveLength(1)
    for (const hash of ['hash0', 'hash1']) hub.onEvent(step(hash, { step: 'handed-in' }))
    for (let i = 0; i < 50; i++) {
      hub.onEvent(step(`hash${i % 2}`, { step: 'confirmed', depth: i + 1 }))
      await clock.pass(10)
    }
    expect(changes.length).toBeGreaterThan(2)
    expect(changes.length).toBeLessThanOrEqual(5)
    const told = new Map(changes.flatMap(({ blocks = [] }) => blocks.map((block) => [block.hash, block.depth])))
    expect([...told.keys()]).toEqual(['hash0', 'hash1'])
  })

  it('a reader of the dashboard gets the full state again when a field disappears', async () => {
    const { clock, hub, miner } = opened()
    miner.now = snapshotWith({ chains: [] })
    const { states, changes } = reading(hub)
    await clock.pass(1000)
    miner.now = snapshotWith()
    await clock.pass(1000)
    expect(states.length).toBe(2)
    expect(changes.length).toBe(1)
    expect(states[1].summary).not.toHaveProperty('chains')
  })

  it('a reader that joins others misses nothing that disappeared and came back', async () => {
    const { clock, hub, miner } = opened()
    const first = reading(hub)
    await clock.pass(1000)
    miner.now = snapshotWith({ connected: false })
    const second = reading(hub)
    miner.now = snapshotWith()
    await clock.pass(1000)
    expect(second.states[0].summary.connected).toBe(false)
    expect(second.changes[0].summary.connected).toBe(true)
    first.end()
    second.end()
    // Without readers, only the sampling of rates continues.
    expect(clock.pending).toBe(1)
    hub.close()
    expect(clock.pending).toBe(0)
  })

  it(`the dashboard has ${MAX_READERS} readers at most`, () => {
    const { hub } = opened()
    const ends = Array.from({ length: MAX_READERS }, () => reading(hub).end)
    expect(hub.hasRoom).toBe(false)
    ends[0]()
    expect(hub.hasRoom).toBe(true)
  })
})

describe('the past', () => {
  it('the history of the dashboard has two hours of rates, with or without readers', async () => {
    const { clock, hub, miner } = opened()
    await clock.pass(3 * 3600_000)
    miner.now = snapshotWith({ hashrates: { '10s': null, '60s': null, '15m': null } })
    await clock.pass(10_000)
    const { atMs, total, lines } = hub.state().history
    expect(atMs).toHaveLength(720)
    expect((atMs.at(-1) ?? 0) - atMs[0]).toBe(719 * 10_000)
    expect(atMs.at(-1)).toBe(clock.wallMs())
    expect(total.slice(-2)).toEqual([1_235_000, null])
    expect(lines.map(({ name, rates }) => [name, rates.length])).toEqual([['gpu0', 720]])
  })

  it('a reader of the dashboard gets each sample as soon as it exists', async () => {
    const { clock, hub } = opened()
    const { changes } = reading(hub)
    await clock.pass(21_000)
    const samples = changes.flatMap((change) => change.samples ?? [])
    expect(samples.map(({ total, lines }) => [total, lines])).toEqual([
      [1_235_000, { gpu0: 1_235_000 }],
      [1_235_000, { gpu0: 1_235_000 }],
    ])
  })

  it('the dashboard lists the last blocks, newest first, including those of earlier runs', () => {
    const earlier = { ...{ hash: 'old', chain: 1, height: 2, device: 'cpu', effort: 1, foundAtMs: 5, reward: '2' } }
    const { hub, clock } = opened([{ ...earlier, state: 'confirmed', depth: 1, message: null }])
    hub.onEvent(step('new', { step: 'handed-in' }))
    hub.onEvent(step('new', { step: 'confirmed', depth: 1 }))
    hub.onEvent({ type: 'reward', hash: 'new', chain: 3, height: 1, amount: '1.5' })
    hub.onEvent(step('old', { step: 'confirmed', depth: 6 }))
    hub.onEvent(step('bad', { step: 'handed-in' }))
    hub.onEvent(step('bad', { step: 'rejected', reason: 'no-payload', message: 'too old' }))
    expect(hub.state().blocks).toMatchObject([
      { hash: 'bad', state: 'rejected', message: 'too old', depth: null },
      { hash: 'new', state: 'confirmed', depth: 1, reward: '1.5', foundAtMs: clock.wallMs() - 10 },
      { hash: 'old', state: 'confirmed', depth: 6, reward: '2', foundAtMs: 5 },
    ])
    for (let i = 0; i < 500; i++) hub.onEvent(step(`many${i}`, { step: 'handed-in' }))
    expect(hub.state().blocks.map(({ hash }) => hash)).toHaveLength(200)
    // A block that was dropped from the list does not return with its later steps.
    hub.onEvent({ type: 'reward', hash: 'new', chain: 3, height: 1, amount: '9' })
    hub.onEvent(step('new', { step: 'confirmed', depth: 6 }))
    expect(hub.state().blocks.map(({ hash }) => hash)).not.toContain('new')
  })
})

describe('lines', () => {
  const devices = (engine: string, count: number): Snapshot['devices'] =>
    Array.from({ length: count }, (_, i) => ({ ...snapshotWith().devices[0], engine, device: `${engine}${i}` }))

  it('the lines of the chart are devices, and engines that have many', () => {
    const names = (all: Snapshot['devices']) => [...devicesByLine(all).keys()]
    expect(names([...devices('gpu', 2), ...devices('cpu', 8)])).toHaveLength(10)
    expect(names([...devices('gpu', 2), ...devices('cpu', 9)])).toEqual(['gpu0', 'gpu1', 'cpu'])
    expect(ratesOf(devices('cpu', 10))).toEqual({ cpu: 12_350_000 })
    expect(ratesOf([{ ...devices('cpu', 1)[0], hashrates: { '10s': null, '60s': null, '15m': null } }])).toEqual({
      cpu0: null,
    })
  })

  it('the number of lines of the chart is bounded', () => {
    const many = Array.from({ length: 100 }, (_, i) => devices(`e${i}`, 1)).flat()
    expect(devicesByLine(many).size).toBe(32)
  })
})
