/** The demands of a relay on JetStream: how much it stores at once, and how often it tries. */
import { expect, it } from 'vitest'
import type { Clock } from '../../src/ground/base/clock.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { FleetShareReader } from '../../src/mining/accounts/fleet-reader.ts'
import { JetStreamStore } from '../../src/mining/accounts/jetstream-store.ts'
import { prepareShares } from '../../src/mining/accounts/share-stream.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { createStream, NANOSECONDS } from '../../src/mining/fleet/stores.ts'
import { NatsBed } from '../fleet/nats.ts'
import { describeWith, lackOf } from '../needs.ts'
import { until } from '../wait.ts'
import { ArrivalProxy } from './arrivals.ts'
import { shareEntry } from './share-entry.ts'
import { listOf } from './shares.ts'

/** Publishes of shares in flight, at most. */
const AT_ONCE = 2_048

/** A clock that leaps: all timers fire after a leap, and none before it. */
class LeapClock implements Clock {
  #nowMs = 0
  readonly #timers = new Set<() => void>()

  wallMs = () => this.#nowMs
  monotonicMs = () => this.#nowMs

  after = (_delayMs: number, run: () => void) => {
    this.#timers.add(run)
    return () => void this.#timers.delete(run)
  }

  /** Number of timers. */
  get waiting(): number {
    return this.#timers.size
  }

  leap(milliseconds: number): void {
    this.#nowMs += milliseconds
    const timers = [...this.#timers]
    this.#timers.clear()
    for (const run of timers) run()
  }
}

describeWith(lackOf('nats-server'), 'a relay at JetStream', () => {
  const bed = new NatsBed()
  const warnings: string[] = []
  const onWarning = (message: string) => void warnings.push(message)
  const optionsOf = (fleet: string, url = bed.nats.url) => {
    const shared = { clock: systemClock, random: Math.random, onWarning }
    return { addresses: [readNatsAddress(url)], trust: {}, fleet, agent: 'test', ...shared }
  }

  async function storing(fleet: string, url = bed.nats.url) {
    const clock = new LeapClock()
    const link = await FleetLink.open(optionsOf(fleet, url), null, new AbortController().signal)
    bed.cleanups.push(() => link.close())
    const manager = await link.jetstream.jetstreamManager(false)
    const store = new JetStreamStore({ link, clock, session: 'x', onWarning })
    bed.cleanups.push(() => store.close())
    const sent = () => link.connection.stats().outMsgs
    /** @returns `stored`, or the error */
    const append = (...ids: readonly string[]): Promise<unknown> =>
      store.append(ids.map((id) => shareEntry(id, 1))).then(
        () => 'stored',
        (error: unknown) => error,
      )
    return { link, manager, clock, store, sent, append }
  }

  it('the JetStream store has at most 2,048 shares in flight; others take the places of those that ended', async () => {
    const { clock, sent, append, store } = await storing('many')
    const names = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}-${i}`)
    const before = sent()
    // Without a stream each attempt fails, and the next one waits for the clock.
    const first = append(...names(AT_ONCE + 500, 'a'))
    for (const each of [AT_ONCE, 500]) {
      await until(() => clock.waiting === each)
      if (each === AT_ONCE) expect(sent() - before).toBe(AT_ONCE)
      clock.leap(10_000)
    }
    await first
    const later = sent()
    const second = append(...names(AT_ONCE + 1, 'b'))
    await until(() => clock.waiting === AT_ONCE)
    expect(sent() - later).toBe(AT_ONCE)
    await store.close()
    expect(await second).toMatchObject({ code: 'NODE_UNREACHABLE' })
  })

  it('the JetStream store does not repeat a share that JetStream refuses for good', async () => {
    const { clock, link, manager, append } = await storing('refused')
    await prepareShares({ link, onWarning })
    await manager.streams.update(link.subjects.shares, { max_msg_size: 10 })
    const outcome = append('a')
    const first = await Promise.race([outcome, until(() => clock.waiting > 0)])
    expect(first, 'it waits for no further attempt').toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringMatching(/cannot store shares .*message size exceeds/),
    })
  })

  it('the JetStream store repeats a share while the stream is full', async () => {
    const { clock, link, manager, append, store } = await storing('full')
    await prepareShares({ link, onWarning })
    await manager.streams.update(link.subjects.shares, { max_msgs: 1, discard: 'new' })
    expect(await append('a')).toBe('stored')
    const outcome = append('b')
    expect(await Promise.race([outcome, until(() => clock.waiting > 0)]), 'it waits').toBeUndefined()
    await manager.streams.update(link.subjects.shares, { max_msgs: 2 })
    clock.leap(100)
    expect(await outcome).toBe('stored')
    expect((await listOf(store.shares())).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('the JetStream store sends no share after it was refused, even if the connection returns', async () => {
    const proxy = await ArrivalProxy.start(bed.nats.port, () => 0)
    bed.cleanups.push(() => proxy.close())
    const { clock, link, append, store } = await storing('outage', proxy.url)
    await prepareShares({ link, onWarning })
    proxy.hold()
    await until(() => !link.isUp && proxy.connections > 0)
    const outcome = append('a')
    await until(() => clock.waiting > 0)
    clock.leap(10_000)
    expect(await outcome).toMatchObject({ code: 'NODE_UNREACHABLE' })
    proxy.release()
    await until(() => link.isUp)
    expect(await append('b')).toBe('stored')
    expect((await listOf(store.shares())).map(({ id }) => id)).toEqual(['b'])
  })

  it('the JetStream store adapts a stream of an earlier newcut, except for its size', async () => {
    const { link, manager } = await storing('earlier')
    const { shares: name, share, unshared } = link.subjects
    await createStream(manager, { name, subjects: [share, unshared], max_age: 2e9, max_bytes: 1_000_000 })
    await prepareShares({ link, onWarning })
    const { config } = await manager.streams.info(name)
    expect(config.max_age).toEqual(30 * 86_400_000 * NANOSECONDS)
    expect(config.max_bytes).toBe(1_000_000)
    expect(warnings).toEqual([])
    await prepareShares({ link, onWarning, replicas: 3 })
    // Some versions of the server accept copies that it cannot make; others refuse, and newcut says so.
    const { num_replicas: replicas } = (await manager.streams.info(name)).config
    expect(replicas === 3 || /stays as it is, without num_replicas 3: /.test(warnings.join())).toBe(true)
  })

  it('the JetStream store reports a refused stream with its reason, and not as a lack of room', async () => {
    const { link, manager } = await storing('overlap')
    await createStream(manager, { name: 'another', subjects: [link.subjects.share] })
    await expect(prepareShares({ link, onWarning })).rejects.toThrow(/^subjects overlap/)
    await manager.streams.delete('another')
  })

  it('a reader from outside closes its connection when it finds no log, and when it stops', async () => {
    const proxy = await ArrivalProxy.start(bed.nats.port, () => 0)
    bed.cleanups.push(() => proxy.close())
    const stop = new AbortController()
    const open = (fleet: string) => FleetShareReader.open(optionsOf(fleet, proxy.url), stop.signal)
    await expect(open('nobody')).rejects.toMatchObject({ code: 'BAD_INPUT' })
    await until(() => proxy.connections === 0)
    const { link } = await storing('read')
    await prepareShares({ link, onWarning })
    const reader = await open('read')
    expect(await listOf(reader.refusals())).toEqual([])
    stop.abort()
    await until(() => proxy.connections === 0)
    for (const records of [reader.shares(), reader.refusals()])
      await expect(listOf<unknown>(records)).rejects.toMatchObject({
        code: 'NODE_UNREACHABLE',
        message: expect.stringMatching(/^cannot read the share log of the fleet at /),
      })
    const other = await FleetShareReader.open(optionsOf('read', proxy.url), new AbortController().signal)
    await other.close()
    await until(() => proxy.connections === 0)
  })
})
