import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PauseController } from '../../src/compose/pausing.ts'
import { Pauses } from '../../src/mining/mine/pauses.ts'
import { parseSchedule } from '../../src/mining/mine/schedule.ts'
import { type CpuLoad, readLoad } from '../../src/mining/sensors/load.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

const zone = process.env.TZ
beforeEach(() => {
  process.env.TZ = 'UTC'
})
afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

/** Pausing by a schedule for Mondays to Fridays. */
function startPausing(clock: VirtualClock) {
  const schedule = parseSchedule('mon-fri 22:40-23:00')
  if ('problem' in schedule) throw new Error(schedule.problem)
  const pauses = new Pauses()
  const stop = new AbortController()
  const pausing = new PauseController({ hold: (by, text) => void pauses.hold(by, text) }, clock, stop.signal)
  pausing.set({ schedule })
  return { pauses, texts: () => pauses.list.map(({ text }) => text), stop: () => stop.abort() }
}

const timeOf = (clock: VirtualClock) => new Date(clock.wallMs()).toISOString()

describe('pausing by the wall clock', () => {
  it('a schedule pauses and resumes the miner, to the second, until it ends', async () => {
    const clock = new VirtualClock()
    // Tuesday
    expect(timeOf(clock)).toBe('2023-11-14T22:30:00.000Z')
    const { pauses, texts, stop } = startPausing(clock)
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
    stop()
    expect(clock.pending).toBe(0)
  })

  it('a schedule pauses the miner over the days without a window', async () => {
    const clock = new VirtualClock(1_000_000 + 3 * 86_400_000)
    // Friday
    expect(timeOf(clock)).toBe('2023-11-17T22:30:00.000Z')
    const { texts, stop } = startPausing(clock)
    await clock.pass(20 * 60_000)
    expect(texts()).toEqual([])
    await clock.pass(10 * 60_000)
    expect(texts()).toEqual(['until mon 22:40 by the schedule'])
    await clock.pass(3_600_000)
    expect(texts()).toEqual(['until mon 22:40 by the schedule'])
    stop()
  })
})

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

describe('the load of this machine', () => {
  it('the load of this machine counts a child process as our own, even after its end', async (context) => {
    if (process.platform !== 'linux') return context.skip('only Linux tells the times of child processes')
    const before = (await readLoad()) as CpuLoad
    // It ends after a second of processor time.
    const spin = 'sh -c "ulimit -t 1; while :; do :; done"'
    const child = spawn('sh', ['-c', `${spin}; echo; sleep 1`], { stdio: 'ignore' })
    children.push(child)
    const ended = new Promise((resolve) => child.once('close', resolve))
    const own = async () => ((await readLoad()) as CpuLoad).ownMs - before.ownMs
    await expect.poll(own, { interval: 200 }).toBeGreaterThan(500)
    await ended
    expect(await own()).toBeGreaterThan(500)
    const after = (await readLoad()) as CpuLoad
    expect(after.busyMs - before.busyMs).toBeGreaterThan(400)
    expect(after.processors).toBeGreaterThan(0)
  })
})
