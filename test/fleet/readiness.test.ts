/** Which candidates for leadership are ready, over a real NATS server, on virtual time. */
import { expect, it } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { ANNOUNCEMENT_MS, LOST_MS, Readiness, STEADY_MS } from '../../src/mining/engine/fleet/readiness.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { describeWith, lackOf } from '../needs.ts'
import { until } from '../wait.ts'
import { NatsBed } from './nats.ts'

describeWith(lackOf('nats-server'), 'processes that could lead', () => {
  const bed = new NatsBed()

  async function processOf(fleet: string, session: string, clock: VirtualClock) {
    const setup = { addresses: [readNatsAddress(bed.nats.url)], trust: {}, fleet, agent: 'test' }
    const open = { ...setup, clock: systemClock, random: Math.random }
    const link = await FleetLink.open(open, null, new AbortController().signal)
    const state = { silentMs: 0, hasWork: true }
    const of = { silentMs: () => state.silentMs, hasWork: () => state.hasWork, onWrong: () => undefined }
    const readiness = new Readiness({ link, session, clock, ...of })
    const stop = new AbortController()
    const ended = readiness.run(stop.signal)
    const end = async () => {
      stop.abort()
      await clock.pass(0)
      await ended
      await link.connection.flush()
    }
    bed.cleanups.push(async () => {
      await end()
      await link.close()
    })
    return { readiness, state, end }
  }

  it('candidates learn from each other which of them has work from a live node', async () => {
    const clock = new VirtualClock()
    const [one, other] = [await processOf('two', 'one', clock), await processOf('two', 'other', clock)]
    const hears = (is: boolean) =>
      until(async () => {
        await clock.pass(100)
        return one.readiness.isOtherReady === is
      })
    await hears(true)
    other.state.hasWork = false
    await hears(false)
    other.state.hasWork = true
    await hears(true)
    other.state.silentMs = LOST_MS - 1
    await clock.pass(500)
    expect(other.readiness.isReady).toBe(true)
    other.state.silentMs = LOST_MS
    await hears(false)
    expect(other.readiness.isLost).toBe(true)
    other.state.silentMs = 0
    await clock.pass(STEADY_MS - 500)
    expect(other.readiness.isReady, 'it has not been there for long').toBe(false)
    await hears(true)
    await other.end()
    await hears(false)
  })

  it('candidates count only as long as they report, and not for themselves', async () => {
    const clock = new VirtualClock()
    const one = await processOf('gone', 'one', clock)
    await clock.pass(1_000)
    expect(one.readiness.isReady).toBe(true)
    expect(one.readiness.isOtherReady).toBe(false)
    const others = new VirtualClock()
    await processOf('gone', 'other', others)
    await until(async () => {
      await others.pass(100)
      return one.readiness.isOtherReady
    })
    await clock.pass(ANNOUNCEMENT_MS + 1)
    expect(one.readiness.isOtherReady).toBe(false)
  })
})
