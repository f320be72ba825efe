/** Power and energy of a miner from readings, statements and rigs. */
import { describe, expect, it } from 'vitest'
import { EnergyMeter, MAX_GAP_MS, type StatedPower, type TimedReading } from '../../src/mining/mine/energy.ts'
import type { SensorReading } from '../../src/mining/mine/hardware.ts'
import { type EngineDevice, Rates } from '../../src/mining/mine/rates.ts'

type TestReading = SensorReading & TimedReading

const thread: EngineDevice = { engine: 'cpu', device: 'thread0', hardware: 'cpu', kernel: 'js', hashes: 0, faults: 0 }
const card: EngineDevice = {
  ...{ engine: 'gpu', device: 'gpu0', hardware: 'gpu0', kernel: 'wgsl', hashes: 0, faults: 0 },
  ...{ model: 'X', vendor: 'nvidia' },
}

function readingOf(kind: 'cpu' | 'gpu', watts: number | null, readAtMs = 0, spanMs = 0): TestReading {
  const [vendor, model] = kind === 'cpu' ? ['', null] : ['nvidia', 'X']
  return { kind, vendor, model, pci: null, celsius: null, fanPercent: null, watts, readAtMs, spanMs }
}

/** A meter whose readings and statements a test sets. */
function meterWith(devices: readonly EngineDevice[], stated: StatedPower = {}) {
  const rates = new Rates()
  const world = { readings: [] as TestReading[], stated, paused: false, problem: null as string | null, devices }
  const meter = new EnergyMeter(rates, {
    readings: () => world.readings,
    statedPower: () => world.stated,
    problem: () => world.problem,
  })
  let hashes = 0
  /** Samples at this time, with this many hashes of each device since the last sample. */
  const sample = (atMs: number, done = 0) => {
    hashes += done
    const now = world.devices.map((device) => ({ ...device, hashes }))
    rates.sample(atMs, now, hashes * now.length)
    meter.sample(atMs, now, world.paused)
  }
  const snapshot = () => meter.snapshot(meter.groupsOf(world.devices), world.paused)
  return { world, sample, snapshot }
}

describe('measured energy', () => {
  it('measured energy is unknown, and not 0, without any reading', () => {
    const { sample, snapshot } = meterWith([thread])
    for (let second = 0; second <= 20; second++) sample(second * 1000, 1e6)
    expect(snapshot()).toEqual({
      ...{ watts: null, joules: null, joulesPerMegahash: null, source: null, unread: 1, hashrate: null, problem: null },
    })
  })

  it('measured energy is the power times the time that each reading covers, once', () => {
    const { world, sample, snapshot } = meterWith([thread])
    world.readings = [readingOf('cpu', 60, 5000, 5000)]
    for (const atMs of [5000, 6000, 7000]) sample(atMs)
    expect(snapshot().joules).toBe(300)
    world.readings = [readingOf('cpu', 100, 10_000, 5000)]
    sample(10_000)
    expect(snapshot().joules).toBe(800)
  })

  it('measured energy leaves out the time before a first reading and the time of a gap', () => {
    const { world, sample, snapshot } = meterWith([card])
    world.readings = [readingOf('gpu', 200, 0, 0)]
    sample(0)
    expect(snapshot()).toMatchObject({ watts: 200, joules: null, source: 'sensors' })
    world.readings = [readingOf('gpu', 200, 60_000, 0)]
    sample(60_000)
    expect(snapshot().joules).toBeNull()
    world.readings = []
    sample(65_000)
    world.readings = [readingOf('gpu', 200, 70_000, 5000)]
    sample(70_000)
    expect(snapshot().joules).toBe(1000)
  })

  it('the energy per hash comes from the current power and the rate of 10 s', () => {
    const { world, sample, snapshot } = meterWith([thread])
    world.readings = [readingOf('cpu', 60, 0, 0)]
    for (let second = 0; second < 10; second++) sample(second * 1000, 20e6)
    expect(snapshot()).toMatchObject({ watts: 60, hashrate: null, joulesPerMegahash: null })
    sample(10_000, 20e6)
    expect(snapshot()).toMatchObject({ hashrate: 20e6, joulesPerMegahash: 3, source: 'package', unread: 0 })
  })

  it('measured energy is the sum of cards and processor', () => {
    const { world, sample, snapshot } = meterWith([thread, card])
    world.readings = [readingOf('cpu', 50, 5000, 5000), readingOf('gpu', 150, 5000, 4000)]
    for (let second = 0; second <= 10; second++) sample(second * 1000, 5e6)
    expect(snapshot()).toMatchObject({ watts: 200, joules: 850, source: 'sensors', unread: 0, hashrate: 10e6 })
    expect(snapshot().joulesPerMegahash).toBe(20)
  })

  it('all energy figures leave out a device without a reading, and count it as unread', () => {
    const { world, sample, snapshot } = meterWith([thread, card])
    world.problem = 'only root may read it'
    world.readings = [readingOf('cpu', null), readingOf('gpu', 150, 5000, 5000)]
    for (let second = 0; second <= 10; second++) sample(second * 1000, 5e6)
    expect(snapshot()).toMatchObject({ watts: 150, joules: 750, hashrate: 5e6, joulesPerMegahash: 30, unread: 1 })
    expect(snapshot().problem).toBe('only root may read it')
    world.devices = [card]
    expect(snapshot()).toMatchObject({ unread: 0, problem: null })
  })

  it('the meter reports no problem if the processor is read, or does not search', () => {
    const { world, sample, snapshot } = meterWith([thread])
    world.problem = 'a problem'
    sample(0)
    expect(snapshot()).toMatchObject({ unread: 1, problem: 'a problem' })
    world.paused = true
    expect(snapshot()).toMatchObject({ unread: 0, problem: null })
  })

  it('the meter counts energy while mining is paused and computes no hash', () => {
    const { world, sample, snapshot } = meterWith([thread])
    for (let second = 0; second <= 10; second++) sample(second * 1000, 1e6)
    world.paused = true
    world.readings = [readingOf('cpu', 40, 15_000, 5000)]
    sample(15_000)
    expect(snapshot()).toMatchObject({ watts: 40, joules: 200, hashrate: 0, joulesPerMegahash: null })
  })

  it('measured energy includes the base power while the sensors deliver readings', () => {
    const { world, sample, snapshot } = meterWith([card], { baseWatts: 30 })
    sample(0)
    sample(1000)
    expect(snapshot()).toMatchObject({ watts: null, joules: null })
    world.readings = [readingOf('gpu', 100, 2000, 0)]
    for (const atMs of [2000, 3000, 4000]) sample(atMs)
    expect(snapshot()).toMatchObject({ watts: 130, joules: 60 })
    sample(4000 + MAX_GAP_MS + 1)
    expect(snapshot().joules).toBe(60)
    sample(4000 + 2 * MAX_GAP_MS + 1)
    expect(snapshot().joules).toBe(60 + (30 * MAX_GAP_MS) / 1000)
  })
})

describe('stated power', () => {
  it('a stated power replaces the sensors, while anything searches', () => {
    const { world, sample, snapshot } = meterWith([thread, card], { watts: 300 })
    world.problem = 'a problem'
    world.readings = [readingOf('gpu', 150, 5000, 5000)]
    for (let second = 0; second <= 10; second++) sample(second * 1000, 5e6)
    expect(snapshot()).toEqual({
      ...{ watts: 300, joules: 3000, hashrate: 10e6, joulesPerMegahash: 30 },
      ...{ source: 'stated', unread: 0, problem: null },
    })
    world.paused = true
    sample(11_000)
    sample(12_000)
    expect(snapshot()).toMatchObject({ watts: null, joules: 3000, joulesPerMegahash: null })
  })

  it('the energy of a stated power leaves out gaps', () => {
    const { sample, snapshot } = meterWith([thread], { watts: 100 })
    sample(0)
    sample(MAX_GAP_MS + 1)
    expect(snapshot().joules).toBeNull()
    sample(2 * MAX_GAP_MS + 1)
    expect(snapshot().joules).toBe((100 * MAX_GAP_MS) / 1000)
  })

  it('a stated power can change while newcut mines', () => {
    const { world, sample, snapshot } = meterWith([thread], { watts: 100 })
    sample(0)
    sample(1000)
    world.stated = { watts: 50 }
    sample(2000)
    sample(3000)
    expect(snapshot()).toMatchObject({ watts: 50, joules: 250 })
  })
})

describe('fleet energy', () => {
  const meter = new EnergyMeter(new Rates())

  it('the energy of a fleet is the sum of its rigs, and says how many are not in it', () => {
    const sums = { watts: 500, joules: 7000, hashrate: 50e6, unread: 2 }
    expect(meter.snapshot([], false, sums)).toEqual({
      ...{ ...sums, joulesPerMegahash: 10, source: 'rigs', problem: null },
    })
  })

  it('the energy of a fleet is unknown if no rig reports it', () => {
    const sums = { watts: null, joules: null, hashrate: null, unread: 3 }
    expect(meter.snapshot([], false, sums)).toMatchObject({ source: null, joulesPerMegahash: null, unread: 3 })
  })
})
