import { describe, expect, it } from 'vitest'
import { LoadPauser } from '../../src/mining/mine/load-gate.ts'
import { fractionOfOthers } from '../../src/mining/sensors/load.ts'

/**
 * A load gate with a sample every 2 s. `pass` lets seconds pass at a load, and returns the seconds at which the gate changed.
 */
function gate(limit = 0.2) {
  const each = new LoadPauser(limit)
  let nowMs = 1000
  const seconds: number[] = []
  const pass = (time: number, share: number): number[] => {
    seconds.length = 0
    for (let i = 0; i < time; i += 2) {
      const before = each.isBusy
      each.addSample(nowMs, nowMs + 2000, share)
      nowMs += 2000
      if (each.isBusy !== before) seconds.push(i + 2)
    }
    return [...seconds]
  }
  /** The machine sleeps for an hour; the next sample covers the sleep. */
  const sleep = (share: number) => {
    each.addSample(nowMs, nowMs + 3_600_000, share)
    nowMs += 3_600_000
  }
  return { gate: each, pass, sleep }
}

describe('load gate', () => {
  it('the load of other programs pauses mining after 6 s above the limit, until it stays 30 s below half of it', () => {
    const { gate: load, pass } = gate()
    expect(pass(60, 0.15)).toEqual([])
    expect(load.isBusy).toBe(false)
    expect(pass(60, 0.25)).toEqual([4])
    expect(load.fraction).toBeCloseTo(0.25)
    // To resume, the load must fall below half of the limit.
    expect(pass(300, 0.15)).toEqual([])
    expect(load.isBusy).toBe(true)
    expect(pass(60, 0.05)).toEqual([16])
    expect(load.isBusy).toBe(false)
  })

  it('the load gate pauses a new miner after 6 s, not after the first sample', () => {
    expect(gate().pass(60, 1)).toEqual([6])
  })

  it('the load gate ignores a short burst of load, and does not resume after a short lull', () => {
    const { gate: load, pass } = gate()
    pass(30, 0)
    expect(pass(2, 0.5)).toEqual([])
    expect(pass(30, 0)).toEqual([])
    expect(pass(6, 0.6)).toEqual([4])
    expect(pass(20, 0)).toEqual([])
    expect(pass(2, 1)).toEqual([])
    expect(load.isBusy).toBe(true)
    // Three per cent on average over 30 s.
    expect(pass(40, 0)).toHaveLength(1)
  })

  it('a pause of the load gate lasts at least 30 s', () => {
    const { pass } = gate()
    pass(60, 0)
    expect(pass(6, 0.3)).toEqual([6])
    expect(pass(60, 0)).toEqual([30])
  })

  it('the load gate starts over after the machine slept', () => {
    const each = gate()
    each.pass(30, 0.9)
    expect(each.gate.isBusy).toBe(true)
    each.sleep(0)
    expect(each.gate.isBusy).toBe(true)
    expect(each.pass(28, 0)).toEqual([])
    expect(each.pass(4, 0)).toEqual([2])
    each.sleep(1)
    expect(each.pass(4, 1)).toEqual([])
    expect(each.pass(4, 1)).toEqual([2])
  })

  it('the load of other programs is the use of all processors minus that of newcut', () => {
    const reading = (atMs: number, busyMs: number, ownMs: number) => ({ atMs, busyMs, ownMs, processors: 4 })
    expect(fractionOfOthers(reading(0, 5000, 900), reading(2000, 9000, 2900))).toBeCloseTo(0.25)
    expect(fractionOfOthers(reading(0, 0, 0), reading(2000, 1990, 2000))).toBe(0)
    expect(fractionOfOthers(reading(0, 0, 0), reading(2000, 8100, 0))).toBe(1)
    expect(fractionOfOthers(reading(7, 1, 0), reading(7, 2, 0))).toBe(0)
  })
})
