/** The share log of a fleet, whose messages arrive in another order than that of their times. */
import { expect, it } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { minuteOf } from '../../src/mining/accounts/account.ts'
import { ShareLog } from '../../src/mining/accounts/jetstream-log.ts'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'
import { prepareShares } from '../../src/mining/accounts/share-stream.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { encodeMessage } from '../../src/mining/fleet/messages.ts'
import { NatsBed } from '../fleet/nats.ts'
import { describeWith, lackOf } from '../needs.ts'
import { until } from '../wait.ts'
import { ArrivalProxy, type ArrivedMs } from './arrivals.ts'
import { shareEntry } from './share-entry.ts'
import { listOf, START_MS } from './shares.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** Clocks differ by up to a minute: from -60,000 to 60,000, each about as often. */
const skewMs = (sequence: number) => ((sequence * 7_919) % 120_001) - 60_000

const inOrder = (shares: readonly ShareEntry[]) =>
  shares.toSorted((a, b) => a.timeMs - b.timeMs || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
const idsIn = async (shares: AsyncIterable<ShareEntry>) => (await listOf(shares)).map(({ id }) => id)
const garbage = 'garbage'
const replaced = <T, R>(list: readonly T[], sequence: number, by: R) =>
  list.map((each, i): T | R => (i + 1 === sequence ? by : each))

describeWith(lackOf('nats-server'), 'in the share log of a fleet', () => {
  const bed = new NatsBed()

  async function linkTo(fleet: string, url: string): Promise<FleetLink> {
    const options = { addresses: [readNatsAddress(url)], trust: {}, fleet, agent: 'test' }
    const shared = { clock: systemClock, random: Math.random }
    const link = await FleetLink.open({ ...options, ...shared }, null, new AbortController().signal)
    bed.cleanups.push(() => link.close())
    return link
  }

  /** A stream with these messages in this order: shares, counts, or garbage. */
  async function filled(fleet: string, messages: readonly (object | string)[], arrivedMs?: ArrivedMs, more = 0) {
    const link = await linkTo(fleet, bed.nats.url)
    await prepareShares({ link, onWarning: (message) => expect.fail(message) })
    const { share, unshared, shares: name } = link.subjects
    for (const each of messages) {
      if (typeof each === 'string') link.connection.publish(share, each)
      else link.connection.publish('verdict' in each ? unshared : share, encodeMessage(each))
    }
    const { streams } = await link.jetstream.jetstreamManager(false)
    const stateOf = async () => (await streams.info(name)).state
    await until(async () => (await stateOf()).messages === messages.length)
    const told: string[] = []
    const reads = arrivedMs === undefined ? link : await throughProxy(fleet, arrivedMs, more)
    const consumers = async () => (await stateOf()).consumer_count
    return { log: new ShareLog(reads, (message) => told.push(message)), told, consumers }
  }

  async function throughProxy(fleet: string, arrivedMs: ArrivedMs, more: number): Promise<FleetLink> {
    const proxy = await ArrivalProxy.start(bed.nats.port, arrivedMs, more)
    bed.cleanups.push(() => proxy.close())
    return linkTo(fleet, proxy.url)
  }

  const sharesOf = (count: number, timeMs: (sequence: number) => number) =>
    Array.from({ length: count }, (_, i) => shareEntry(`s-${String(i + 1).padStart(5, '0')}`, timeMs(i + 1)))
  const countOf = (minuteMs: number) => ({ minuteMs, user: 'k:abc', worker: 'rig', verdict: 'stale', count: 1 })

  it('each share is in its place by time, although its arrival is up to a minute away from it', async () => {
    const arrivedMs = (sequence: number) => START_MS + 100 * sequence
    const shares = sharesOf(4_400, (sequence) => arrivedMs(sequence) + skewMs(sequence))
    const { log, told } = await filled('skewed', [...shares, garbage], arrivedMs)
    const range = { fromMs: START_MS + 100 * SECOND_MS, untilMs: START_MS + 400 * SECOND_MS }
    const within = shares.filter(({ timeMs }) => timeMs >= range.fromMs && timeMs < range.untilMs)
    expect(await idsIn(log.shares(range))).toEqual(inOrder(within))
    const early = { untilMs: START_MS + 10 * SECOND_MS }
    told.splice(0)
    expect(await idsIn(log.shares(early))).toEqual(inOrder(shares.filter(({ timeMs }) => timeMs < early.untilMs)))
    expect(told, 'nothing is read that is too late for the range').toEqual([])
    expect(await idsIn(log.shares())).toEqual(inOrder(shares))
    expect(told).toEqual([expect.stringContaining('message 4401 of newcut-skewed-shares is left out')])
  })

  it('each share is in its place also backwards, and reading ends where all earlier messages are too early', async () => {
    const arrivedMs = (sequence: number) => START_MS + SECOND_MS * sequence
    const shares = sharesOf(700, (sequence) => arrivedMs(sequence) + (sequence === 1 ? 0 : skewMs(sequence)))
    const { log, told } = await filled('back', [garbage, ...shares.slice(1)], arrivedMs)
    for (const afterMs of [650, 400, 300, 0].map((seconds) => seconds * SECOND_MS)) {
      told.splice(0)
      const fromMs = START_MS + afterMs
      const expected = inOrder(shares.slice(1).filter(({ timeMs }) => timeMs >= fromMs)).toReversed()
      expect(await idsIn(log.shares({ fromMs, newestFirst: true }))).toEqual(expected)
      expect(told.length, `after ${afterMs} ms`).toEqual(afterMs === 650 * SECOND_MS ? 0 : 1)
    }
  })

  it('refusals of one minute are one sum, although relays report them minutes apart', async () => {
    const arrivedMs = (sequence: number) => START_MS + SECOND_MS * sequence
    const minuteAt = (sequence: number) => minuteOf(arrivedMs(sequence) - (sequence % 10 === 0 ? 4 * MINUTE_MS : 0))
    const minutes = Array.from({ length: 4_200 }, (_, i) => minuteAt(i + 1))
    const { log } = await filled('counts', minutes.map(countOf), arrivedMs)
    const sums = new Map<number, number>()
    for (const minuteMs of minutes) sums.set(minuteMs, (sums.get(minuteMs) ?? 0) + 1)
    const expected = [...sums].toSorted(([a], [b]) => a - b)
    expect((await listOf(log.refusals())).map(({ minuteMs, count }) => [minuteMs, count])).toEqual(expected)
  })

  it('a search for a time finds shares that are late by twice the difference of clocks', async () => {
    const shares = sharesOf(3_000, (sequence) => 100_000 + 100 * sequence + (sequence % 10 === 1 ? -60_000 : 60_000))
    const { log, consumers } = await filled('late', shares)
    const range = { untilMs: 200_000, newestFirst: true }
    const expected = inOrder(shares.filter(({ timeMs }) => timeMs < range.untilMs)).toReversed()
    expect(await idsIn(log.shares(range))).toEqual(expected)
    for await (const { id } of log.shares()) {
      expect(id).toBe('s-00001')
      break
    }
    expect(await consumers(), 'readers remove their consumers, also if they stop early').toBe(0)
  })

  it('a search skips a message that is not a share', async () => {
    const shares = sharesOf(600, (sequence) => sequence)
    const { log } = await filled('unreadable', replaced(shares, 300, garbage))
    const expected = inOrder(shares.filter((_, i) => i !== 299)).toReversed()
    expect(await idsIn(log.shares({ untilMs: 1_000, newestFirst: true }))).toEqual(expected)
  })

  it('a count between shares ends no part of the shares, and repeats none', async () => {
    const shares = sharesOf(20, (sequence) => sequence)
    const counts = Array.from({ length: 300 }, () => countOf(MINUTE_MS))
    const { log } = await filled('between', [...shares, ...counts])
    expect(await idsIn(log.shares({ newestFirst: true }))).toEqual(inOrder(shares).toReversed())
    // The first part backwards has 256 messages, so the second one ends with the count.
    const more = sharesOf(300, (sequence) => sequence)
    const { log: other } = await filled('border', replaced(more, 44, countOf(MINUTE_MS)))
    expect(await idsIn(other.shares({ newestFirst: true }))).toEqual(
      inOrder(more.filter((_, i) => i !== 43)).toReversed(),
    )
  })

  it('reading ends at the message that was the newest at its start, although others follow all the time', async () => {
    const shares = sharesOf(20, (sequence) => START_MS + sequence)
    const { log } = await filled('followed', shares, () => START_MS, 5)
    expect(await idsIn(log.shares())).toEqual(inOrder(shares))
  })

  it('a relay whose clock is ahead is read from the times that it names', async () => {
    const [shareMs, minuteMs] = [Date.now() + 50 * SECOND_MS, minuteOf(Date.now() + 4 * MINUTE_MS)]
    const { log } = await filled('ahead', [shareEntry('ahead', shareMs), countOf(minuteMs)])
    expect(await idsIn(log.shares({ fromMs: shareMs }))).toEqual(['ahead'])
    expect(await listOf(log.refusals({ fromMs: minuteMs }))).toEqual([countOf(minuteMs)])
    expect(await listOf(log.shares({ fromMs: 1e17 }))).toEqual([])
  })

  it('a negative amount is neither a share nor a count', async () => {
    const wrong = [shareEntry('a', 1, { difficulty: -1 }), { ...countOf(1), count: -1 }]
    const { log, told } = await filled('negative', [...wrong, shareEntry('b', 2), countOf(2)])
    expect(await idsIn(log.shares())).toEqual(['b'])
    expect(await listOf(log.refusals())).toEqual([countOf(2)])
    expect(told).toEqual([1, 2].map((sequence) => expect.stringMatching(`^message ${sequence} of .* is left out: `)))
  })
})
