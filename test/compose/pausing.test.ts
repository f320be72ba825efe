import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Pausing } from '../../src/compose/pausing.ts'
import { Pauses } from '../../src/mine/pauses.ts'
import { parseSchedule } from '../../src/mine/schedule.ts'
import { type LoadReading, readLoad } from '../../src/sensors/load.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

const zone = process.env.TZ
beforeEach(() => {
  process.env.TZ = 'UTC'
})
afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

describe('pausing by the wall clock', () => {
  it('pauses and resumes the miner, to the second, until it ends', async () => {
    const schedule = parseSchedule('mon-fri 22:40-23:00')
    if ('problem' in schedule) throw new Error(schedule.problem)
    const clock = new VirtualClock()
    // Tuesday, 22:30:00
    expect(new Date(clock.wallMs()).toISOString()).toBe('2023-11-14T22:30:00.000Z')
    const pauses = new Pauses()
    const stop = new AbortController()
    const pausing = new Pausing({ hold: (by, text) => void pauses.hold(by, text) }, clock, stop.signal)
    pausing.set({ schedule })
    const texts = () => pauses.list.map(({ text }) => text)
    expect(texts()).toEqual(['until 22:40 by the schedule'])
    await clock.pass(599_000)
    expect(texts()).toEqual(['until 22:40 by the schedule'])
    await clock.pass(1000)
    expect(texts()).toEqual([])
    await clock.pass(20 * 60_000)
    expect(texts()).toEqual(['until 22:40 by the schedule'])
    // After an override, the schedule pauses again when its next window ends.
    pauses.resume()
    await clock.pass(23 * 3_600_000)
    expect(texts()).toEqual([])
    await clock.pass(3_600_000)
    expect(texts()).toEqual(['until 22:40 by the schedule'])
    await clock.pass(3 * 24 * 3_600_000)
    // Saturday, 23:00
    expect(texts()).toEqual(['until mon 22:40 by the schedule'])
    stop.abort()
    expect(clock.pending).toBe(0)
  })
})

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

describe('the load of this machine', () => {
  it('counts the load of a child process as our own, even after its end', async (context) => {
    if (process.platform !== 'linux') return context.skip('only Linux tells the times of child processes')
    const before = (await readLoad()) as LoadReading
    const spin = 'timeout 2 sh -c "while :; do :; done"'
    const child = spawn('sh', ['-c', `${spin}; echo; sleep 1`], { stdio: 'ignore' })
    children.push(child)
    const ended = new Promise((resolve) => child.once('close', resolve))
    const own = async () => ((await readLoad()) as LoadReading).ownMs - before.ownMs
    await expect.poll(own, { interval: 200 }).toBeGreaterThan(500)
    await ended
    expect(await own()).toBeGreaterThan(500)
    const after = (await readLoad()) as LoadReading
    expect(after.busyMs - before.busyMs).toBeGreaterThan(400)
    expect(after.processors).toBeGreaterThan(0)
  })
})
