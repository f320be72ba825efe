/** The share log of a fleet in a real NATS server. */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { JetStreamStore } from '../../src/mining/accounts/jetstream-store.ts'
import type { RefusedShares, ShareEntry } from '../../src/mining/accounts/share-store.ts'
import { DUPLICATE_WINDOW_MS, prepareShares } from '../../src/mining/accounts/share-stream.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { createStream } from '../../src/mining/fleet/stores.ts'
import { NatsBed, NatsServer } from '../fleet/nats.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { describeWith, lackOf } from '../needs.ts'
import { roundsOf } from '../rotation.ts'
import { until } from '../wait.ts'
import { shareEntry } from './share-entry.ts'
import { temporaryFolder } from './shares.ts'

/** Writers that are killed; the server dies beside every second one. */
const ROUNDS = roundsOf(6, 2)

describeWith(lackOf('nats-server'), 'the share log in JetStream', () => {
  const bed = new NatsBed()
  const warnings: string[] = []
  const onWarning = (message: string) => void warnings.push(message)

  async function linkTo(fleet: string, url = bed.nats.url): Promise<FleetLink> {
    const options = { addresses: [readNatsAddress(url)], trust: {}, fleet, agent: 'test' }
    const shared = { clock: systemClock, random: Math.random }
    const link = await FleetLink.open({ ...options, ...shared }, null, new AbortController().signal)
    bed.cleanups.push(() => link.close())
    return link
  }

  async function storeOf(fleet: string, link?: FleetLink): Promise<JetStreamStore> {
    const to = link ?? (await linkTo(fleet))
    const store = await JetStreamStore.open({ link: to, clock: systemClock, session: randomUUID(), onWarning })
    bed.cleanups.push(() => store.close())
    return store
  }

  const all = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
    const items: T[] = []
    for await (const item of list) items.push(item)
    return items
  }
  const idsOf = (shares: readonly ShareEntry[]) => shares.map(({ id }) => id)

  it('the JetStream store keeps each id once, whoever submits it again', async () => {
    const [one, other] = [await storeOf('once'), await storeOf('once')]
    const shares = Array.from({ length: 500 }, (_, i) => shareEntry(`s-${String(i).padStart(3, '0')}`, 1_000 + i))
    await Promise.all([one.append(shares), other.append(shares)])
    await other.append(shares.slice(0, 10))
    expect(await all(one.shares())).toEqual(shares)
    expect(one.has('s-001')).toBe(true)
    expect(one.has('s-none')).toBe(false)
    expect(one.newestMs).toBe(1_499)
    expect(other.newestMs).toBe(1_499)
  })

  it('the JetStream log reads by time and id, in both directions and within bounds, even shares that arrived out of order', async () => {
    const store = await storeOf('order')
    const times = [5_000, 1_000, 3_000, 3_000, 2_000, 4_000]
    for (const [i, timeMs] of times.entries()) await store.append([shareEntry(`s-${9 - i}`, timeMs)])
    const ids = ['s-8', 's-5', 's-6', 's-7', 's-4', 's-9']
    expect(idsOf(await all(store.shares()))).toEqual(ids)
    expect(idsOf(await all(store.shares({ newestFirst: true })))).toEqual(ids.toReversed())
    const bounds = { fromMs: 2_000, untilMs: 4_000 }
    expect(idsOf(await all(store.shares(bounds)))).toEqual(['s-5', 's-6', 's-7'])
    expect(idsOf(await all(store.shares({ ...bounds, newestFirst: true })))).toEqual(['s-7', 's-6', 's-5'])
    expect(await all(store.shares({ fromMs: Date.now() + 3_600_000 }))).toEqual([])
    for await (const { id } of store.shares({ newestFirst: true })) {
      expect(id).toBe('s-9')
      break
    }
  })

  it('the JetStream log reads more shares than fit into memory, in both directions, and nothing else of the stream', async () => {
    const store = await storeOf('many')
    const nowMs = Date.now()
    const shares = Array.from({ length: 9_500 }, (_, i) => shareEntry(`s-${String(i).padStart(5, '0')}`, nowMs + i))
    for (let first = 0; first < shares.length; first += 950) {
      await store.append(shares.slice(first, first + 950))
      await store.refuse([{ minuteMs: 60_000, user: 'k:abc', worker: 'rig', verdict: 'stale', count: 1 }])
    }
    expect(idsOf(await all(store.shares()))).toEqual(idsOf(shares))
    expect(idsOf(await all(store.shares({ newestFirst: true })))).toEqual(idsOf(shares.toReversed()))
    expect((await all(store.refusals()))[0].count).toBe(10)
    const [fromMs, untilMs] = [nowMs + 100, nowMs + 200]
    const within = idsOf(shares.slice(100, 200)).toReversed()
    expect(idsOf(await all(store.shares({ fromMs, untilMs, newestFirst: true })))).toEqual(within)
  })

  it('the JetStream log reads backwards from a time without the messages that came long after it', async () => {
    const link = await linkTo('long')
    const store = await storeOf('long', link)
    // The shares are an hour apart, so most are later than any clock error could explain.
    const shares = Array.from({ length: 20_000 }, (_, i) =>
      shareEntry(`s-${String(i).padStart(5, '0')}`, i * 3_600_000),
    )
    for (let first = 0; first < shares.length; first += 2_000) await store.append(shares.slice(first, first + 2_000))
    const { inBytes } = link.connection.stats()
    const untilMs = 50 * 3_600_000
    expect(idsOf(await all(store.shares({ untilMs, newestFirst: true })))).toEqual(
      idsOf(shares.slice(0, 50).toReversed()),
    )
    const read = link.connection.stats().inBytes - inBytes
    await all(store.shares())
    const whole = link.connection.stats().inBytes - inBytes - read
    expect(read).toBeLessThan(whole / 2)
  })

  it('the JetStream log sums refusals by minute, worker and reason', async () => {
    const [one, other] = [await storeOf('refused'), await storeOf('refused')]
    const of = (minuteMs: number, verdict: RefusedShares['verdict'], count: number) => {
      return { minuteMs, user: 'k:abc', worker: 'rig', verdict, count }
    }
    await one.refuse([of(120_000, 'stale', 2), of(60_000, 'low', 1)])
    await other.refuse([of(120_000, 'stale', 3), of(120_000, 'duplicate', 1)])
    expect(await all(one.refusals())).toEqual([
      of(60_000, 'low', 1),
      of(120_000, 'stale', 5),
      of(120_000, 'duplicate', 1),
    ])
    expect(await all(one.refusals({ fromMs: 60_001 }))).toHaveLength(2)
    expect(await all(one.refusals({ untilMs: 120_000 }))).toEqual([of(60_000, 'low', 1)])
  })

  it('the JetStream log is empty without a stream, and skips messages that are not shares with a warning', async () => {
    const link = await linkTo('odd')
    const store = new JetStreamStore({ link, clock: systemClock, session: 'x', onWarning })
    expect(await all(store.shares())).toEqual([])
    expect(await all(store.shares({ newestFirst: true }))).toEqual([])
    expect(await all(store.refusals())).toEqual([])
    await prepareShares({ link, onWarning })
    await link.jetstream.publish(link.subjects.share, 'garbage')
    await store.append([shareEntry('good', 1)])
    expect(idsOf(await all(store.shares()))).toEqual(['good'])
    expect(warnings.join()).toMatch(/message 1 of newcut-odd-shares is left out: .*JSON/)
  })

  it('the JetStream store uses the stream that another relay has created at the same time', async () => {
    const link = await linkTo('raced')
    const manager = await link.jetstream.jetstreamManager(false)
    const { shares: name, share, unshared } = link.subjects
    const wanted = { name, subjects: [share, unshared] }
    expect(await createStream(manager, { ...wanted, max_age: 2e9 })).toBeNull()
    expect(await createStream(manager, { ...wanted, max_age: 3e9 })).toMatchObject({ name, max_age: 2e9 })
    const overlapping = createStream(manager, { ...wanted, name: 'another' })
    await expect(overlapping).rejects.toThrow(/subjects overlap/)
  })

  it('the JetStream store limits age and size, and remembers ids for long', async () => {
    const link = await linkTo('limits')
    await prepareShares({ link, onWarning, maxBytes: 1_000_000 })
    const manager = await link.jetstream.jetstreamManager(false)
    const { config } = await manager.streams.info('newcut-limits-shares')
    expect(config.max_age).toBe(30 * 86_400 * 1e9)
    expect(config.max_bytes).toBe(1_000_000)
    expect(config.duplicate_window).toBe(DUPLICATE_WINDOW_MS * 1e6)
    expect(DUPLICATE_WINDOW_MS).toBeGreaterThanOrEqual(10 * 60_000)
    await expect(prepareShares({ link: await linkTo('huge'), onWarning, maxBytes: 2 ** 60 })).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: expect.stringMatching(/no room for \d+ bytes of shares/),
    })
  })

  it('the JetStream store takes a part of its usual size where the server has less room, with a warning, and none is an error', async () => {
    const linkOf = async (store: string) => {
      const config = `jetstream { store_dir: ${JSON.stringify(join(temporaryFolder(), 'store'))}, max_file_store: ${store} }`
      const nats = await NatsServer.start(temporaryFolder(), config, 'nats', false)
      bed.cleanups.push(() => nats.kill())
      return linkTo('small', nats.url)
    }
    const link = await linkOf('300MB')
    const heard: string[] = []
    const prepared = () => prepareShares({ link, onWarning: (message) => heard.push(message) })
    await prepared()
    await prepared()
    expect(heard).toEqual([
      expect.stringMatching(/^newcut-small-shares holds 256 MiB of shares, not 4096 MiB: .*max_file_store/),
    ])
    const store = await storeOf('small', link)
    await store.append([shareEntry('a', 1)])
    expect(idsOf(await all(store.shares()))).toEqual(['a'])
    await expect(prepareShares({ link: await linkOf('10MB'), onWarning })).rejects.toMatchObject({
      ...{ code: 'DATA_UNUSABLE', hint: expect.stringContaining('max_file_store') },
      message: expect.stringMatching(/no room for 67108864 bytes of shares in newcut-small-shares/),
    })
  })

  it('the JetStream store refuses shares that JetStream does not accept in time, or that come after the end', async () => {
    const ofNode: Error[] = []
    const onNodeWarning = (warning: Error) => void ofNode.push(warning)
    process.on('warning', onNodeWarning)
    onTestFinished(() => void process.off('warning', onNodeWarning))
    const link = await linkTo('nowhere')
    const clock = new VirtualClock()
    const store = new JetStreamStore({ link, clock, session: 'x', onWarning })
    const shares = ['a', ...Array.from({ length: 20 }, (_, i) => `more-${i}`)].map((id) => shareEntry(id, 1))
    const appended = store.append(shares).catch((error: unknown) => error)
    let result: unknown
    void appended.then((error) => {
      result = error
    })
    await until(async () => {
      await clock.pass(1_000)
      return result !== undefined
    })
    expect(result).toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringMatching(/cannot store shares .*newcut-nowhere-shares: no such stream .*leader/),
    })
    expect(store.has('a')).toBe(false)
    expect(ofNode).toEqual([])
    await store.close()
    await expect(store.append([shareEntry('b', 1)])).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' })
  })

  it('the JetStream store keeps each acknowledged share exactly once, even if writers and the server are killed', async () => {
    const fleet = 'killed'
    const store = await storeOf(fleet)
    const program = fileURLToPath(new URL('./jetstream-writer.mjs', import.meta.url))
    const kept: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const child = spawn(process.execPath, [program, bed.nats.url, fleet, `w${round}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (part) => {
        text += part
      })
      const ended = once(child, 'close')
      const lines = () => text.split('\n').length - 1
      await until(() => lines() > 20)
      if (round % 2 === 1) {
        await bed.nats.kill()
        await bed.nats.restart()
        const before = lines()
        await until(() => lines() > before + 20)
      }
      child.kill('SIGKILL')
      await ended
      kept.push(...text.slice(0, text.lastIndexOf('\n')).split(/\s+/))
    }
    expect(kept.length).toBeGreaterThan((1_000 * ROUNDS) / 6)
    await until(() =>
      store.append([shareEntry('last', Date.now())]).then(
        () => true,
        () => false,
      ),
    )
    const found = idsOf(await all(store.shares()))
    expect(new Set(found).size, 'each once').toBe(found.length)
    const inStream = new Set(found)
    expect(kept.filter((id) => !inStream.has(id))).toEqual([])
  })
})
