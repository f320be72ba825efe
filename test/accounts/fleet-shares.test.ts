/** A relay keeps its shares in the stream of its fleet, on a real NATS server. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { openFleetShares } from '../../src/compose/search/fleet-shares.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { Accounts } from '../../src/mining/accounts/accounts.ts'
import { BlockShares } from '../../src/mining/accounts/block-shares.ts'
import { FleetShareReader } from '../../src/mining/accounts/fleet-reader.ts'
import { ShareLog } from '../../src/mining/accounts/jetstream-log.ts'
import { JetStreamStore } from '../../src/mining/accounts/jetstream-store.ts'
import { type ShareOutcome, ShareRecorder } from '../../src/mining/accounts/recorder.ts'
import type { RigNotice } from '../../src/mining/accounts/rig-ledger.ts'
import { DUPLICATE_WINDOW_MS, prepareShares } from '../../src/mining/accounts/share-stream.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { encodeMessage } from '../../src/mining/fleet/messages.ts'
import { loggedIn, startedServer, stopServers, workOf } from '../engine/stratum/servers.ts'
import { NatsBed, NatsServer } from '../fleet/nats.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { describeWith, lackOf } from '../needs.ts'
import { UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'
import { shareEntry } from './share-entry.ts'
import { listOf, temporaryFolder } from './shares.ts'

describeWith(lackOf('nats-server'), 'shares of a relay', () => {
  const bed = new NatsBed()
  const onWarning = (message: string) => expect.fail(message)
  const shared = { clock: systemClock, random: Math.random }
  const optionsOf = (fleet: string) => {
    return { addresses: [readNatsAddress(bed.nats.url)], trust: {}, fleet, agent: 'test', ...shared }
  }

  async function linkTo(fleet: string): Promise<FleetLink> {
    const link = await FleetLink.open(optionsOf(fleet), null, new AbortController().signal)
    bed.cleanups.push(() => link.close())
    await prepareShares({ link, onWarning })
    return link
  }

  async function readerOf(fleet: string): Promise<FleetShareReader> {
    const reader = await FleetShareReader.open({ ...optionsOf(fleet), onWarning }, new AbortController().signal)
    bed.cleanups.push(() => reader.close())
    return reader
  }

  /** A relay with a server for rigs, as `newcut mine` opens it. */
  async function relayOf(fleet: string, relay: string, folder: string) {
    const link = await linkTo(fleet)
    const state = { folder, isRequired: true }
    const recorder = await openFleetShares({ link, relay }, state, { onWarning: () => undefined })
    const started = await startedServer({}, { recorder })
    const notices: RigNotice[] = []
    started.engine.setNoticeListener((notice) => notices.push(notice))
    bed.cleanups.push(stopServers)
    return { ...started, link, notices, accounts: started.engine.recorder.accounts }
  }

  it('shares of a fleet are answered once JetStream has them, and a restarted relay restores the accounts of its own rigs', async () => {
    const [fleet, folder] = ['relays', temporaryFolder()]
    const relays = [await relayOf(fleet, 'one', folder), await relayOf(fleet, 'other', temporaryFolder())]
    for (const [i, { engine, port }] of relays.entries()) {
      await engine.setWork(workOf(1, UNREACHABLE))
      const rig = await loggedIn(port, `k:abc.shelf-${i}`)
      await until(() => rig.jobs.length > 0)
      for (let share = 0; share <= i; share++) {
        expect((await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))).result).toBe(true)
      }
      await rig.submit(rig.jobs[0].id, 'x')
    }
    const reader = await readerOf(fleet)
    const kept = (await listOf(reader.shares())).map(({ worker, difficulty }) => [worker, difficulty])
    expect(kept.toSorted()).toEqual([
      ['shelf-0', 1000],
      ['shelf-1', 1000],
      ['shelf-1', 1000],
    ])
    for (const { engine } of relays) await engine.stop()
    expect((await listOf(reader.refusals())).map(({ worker, count }) => [worker, count])).toEqual([
      ['shelf-0', 1],
      ['shelf-1', 1],
    ])
    const again = await relayOf(fleet, 'one', folder)
    expect([...again.accounts.all].map(({ worker, accepted }) => [worker, accepted])).toEqual([['shelf-0', 1]])
    expect(again.notices).toEqual([])
  })

  it('shares of a fleet wait while NATS is down and are refused at last; shares of blocks wait for its return', async () => {
    const fleet = 'outage'
    const link = await linkTo(fleet)
    const clock = new VirtualClock()
    const folder = temporaryFolder()
    const blocks = new BlockShares(folder, onWarning)
    const store = new JetStreamStore({ link, clock, session: randomUUID(), relay: 'one', onWarning })
    const kept = { store, accounts: null, has: store.has, newestMs: 0, blocks }
    const accounts = new Accounts({ onWarning })
    const { engine, port, candidates } = await startedServer(
      {},
      { recorder: (onNotice) => new ShareRecorder(kept, accounts, clock, onNotice) },
    )
    bed.cleanups.push(stopServers)
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    await bed.nats.kill()
    await until(() => !link.isUp)
    let answer: unknown
    void rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0])).then(({ error }) => {
      answer = error?.message
    })
    await until(() => candidates.length > 0)
    for (let i = 0; i < 90; i++) await clock.pass(100)
    expect(answer).toBeUndefined()
    await until(async () => {
      await clock.pass(100)
      return answer !== undefined
    })
    expect(answer).toBe('the share could not be kept')
    expect([...new BlockShares(folder, onWarning).pending]).toHaveLength(1)
    await bed.nats.restart()
    await until(async () => {
      await clock.pass(100)
      return [...blocks.pending].length === 0
    })
    const reader = await readerOf(fleet)
    expect(await listOf(reader.shares())).toMatchObject([{ block: expect.any(String), difficulty: 10 }])
    await engine.recorder.close()
  })

  it('shares of a fleet are given up within two seconds if NATS is down and the relay stops', async () => {
    const link = await linkTo('end')
    const clock = new VirtualClock()
    const store = new JetStreamStore({ link, clock, session: randomUUID(), onWarning })
    const kept = { store, accounts: null, has: store.has, newestMs: 0 }
    const recorder = new ShareRecorder(kept, new Accounts({ onWarning }), clock, () => undefined)
    await bed.nats.kill()
    await until(() => !link.isUp)
    const outcomes: ShareOutcome[] = []
    const { timeMs: _, ...share } = shareEntry('a', 1)
    recorder.accept(share, (outcome) => outcomes.push(outcome))
    const startMs = clock.monotonicMs()
    let isClosed = false
    void recorder.close().then(() => {
      isClosed = true
    })
    await until(async () => {
      await clock.pass(100)
      return isClosed
    })
    expect(outcomes).toEqual(['unavailable'])
    expect(clock.monotonicMs() - startMs).toBeLessThan(5_000)
    await bed.nats.restart()
    await until(() => link.isUp)
    // A refused share must not follow after the outage.
    await link.jetstream.publish(link.subjects.share, encodeMessage(shareEntry('later', 2)))
    expect((await listOf(new ShareLog(link, onWarning).shares())).map(({ id }) => id)).toEqual(['later'])
  })

  it('shares of blocks from an earlier run are stored once, even if the stream has had them for long', async () => {
    const [fleet, folder] = ['left', temporaryFolder()]
    const link = await linkTo(fleet)
    const foundMs = systemClock.wallMs() - DUPLICATE_WINDOW_MS
    const old = shareEntry('old', foundMs + 5, { block: 'b-old' })
    // JetStream forgets message ids after 15 minutes, so it does not recognise this share by its id.
    await link.jetstream.publish(link.subjects.share, encodeMessage(old), { msgID: 'forgotten' })
    const blocks = new BlockShares(folder, onWarning)
    for (const { timeMs: _, ...share } of [old, shareEntry('new', 1, { block: 'b-new' })])
      blocks.add({ ...share, foundMs })
    await relayOf(fleet, 'one', folder)
    await until(() => [...new BlockShares(folder, onWarning).pending].length === 0)
    const shares = await listOf(new ShareLog(link, () => undefined).shares())
    expect(shares.map(({ id }) => id)).toEqual(['old', 'new'])
  })

  it('a relay finds its own shares by its name among the newest messages only', async () => {
    const link = await linkTo('scope')
    const storeOf = (relay: string) =>
      new JetStreamStore({ link, relay, clock: systemClock, session: relay, onWarning })
    for (let i = 0; i < 6; i++) await storeOf(i % 2 === 0 ? 'even' : 'odd').append([shareEntry(`s-${i}`, i)])
    const ids = async (scope: object, range = {}) =>
      (await listOf(new ShareLog(link, onWarning, scope).shares(range))).map(({ id }) => id)
    expect(await ids({ relay: 'odd' })).toEqual(['s-1', 's-3', 's-5'])
    expect(await ids({ newest: 4 })).toEqual(['s-2', 's-3', 's-4', 's-5'])
    expect(await ids({ newest: 4, relay: 'even' }, { fromMs: 3 })).toEqual(['s-4'])
    expect(await ids({ newest: 100 }, { newestFirst: true })).toEqual(['s-5', 's-4', 's-3', 's-2', 's-1', 's-0'])
    const fromMs = Date.now()
    for (let i = 6; i < 9; i++) await storeOf('even').append([shareEntry(`s-${i}`, fromMs + i)])
    expect(await ids({ newest: 2 }, { fromMs })).toEqual(['s-7', 's-8'])
  })

  it('accounts of a relay start again with a warning if the stream cannot be read; a fleet without relays has no stream', async () => {
    const link = await linkTo('broken')
    await link.close()
    const notices: RigNotice[] = []
    const open = await openFleetShares({ link, relay: 'one' }, null, { onWarning })
    await open((notice) => notices.push(notice)).close()
    expect(notices).toEqual([
      { type: 'warning', message: expect.stringMatching(/^the accounts of this relay start again: /) },
    ])
    await expect(readerOf('nobody')).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringMatching(/the fleet nobody has no share log/),
    })
  })

  it('reading the shares of a fleet needs the permissions of the manual; those of a rig are enough to store them', async () => {
    const folder = temporaryFolder()
    const own = ['newcut.main.share', 'newcut.main.unshared']
    const reads = ['STREAM.INFO.newcut-main-shares', 'CONSUMER.*.newcut-main-shares.>']
    const api = [...reads, 'CONSUMER.MSG.NEXT.newcut-main-shares.>'].map((subject) => `$JS.API.${subject}`)
    const user = (name: string, subjects: readonly string[]) =>
      `{ user: ${name}, password: x, permissions: { publish: ${JSON.stringify(subjects)}, subscribe: ["_INBOX.>"] } }`
    const users = [`{ user: leader, password: x }`, user('relay', [...own, ...api]), user('poor', own)]
    const nats = await NatsServer.start(folder, `authorization { users = [ ${users.join(', ')} ] }`)
    bed.cleanups.push(() => nats.kill())
    const linkAs = async (name: string) => {
      const address = readNatsAddress(nats.url.replace('nats://', `nats://${name}:x@`))
      const options = { ...optionsOf('main'), addresses: [address] }
      const link = await FleetLink.open(options, null, new AbortController().signal)
      bed.cleanups.push(() => link.close())
      return link
    }
    await prepareShares({ link: await linkAs('leader'), onWarning })
    const opened = async (name: string) => {
      const notices: string[] = []
      const open = await openFleetShares({ link: await linkAs(name), relay: name }, null, { onWarning })
      const recorder = open(({ message }) => notices.push(message))
      const { timeMs: _, ...share } = shareEntry(name, 1)
      const outcome = await new Promise((resolve) => recorder.accept(share, resolve))
      await recorder.close()
      return { notices, outcome, accounts: recorder.accounts.size }
    }
    await opened('relay')
    expect(await opened('relay')).toEqual({ notices: [], outcome: 'accepted', accounts: 1 })
    expect(await opened('poor')).toEqual({
      notices: [expect.stringMatching(/^the accounts of this relay start again: .*ermission/)],
      ...{ outcome: 'accepted', accounts: 1 },
    })
  })

  it('a reader whose stream of shares is cut short gets an error', async () => {
    const fleet = 'short'
    const link = await linkTo(fleet)
    // The warning about this first message shows the test that the reader has read the first part.
    await link.jetstream.publish(link.subjects.share, 'garbage')
    // On a slow machine, thousands of shares may take longer than the store waits: its time stands still.
    const clock = { ...systemClock, monotonicMs: () => 0 }
    const store = new JetStreamStore({ link, clock, session: randomUUID(), onWarning })
    await store.append(Array.from({ length: 9_000 }, (_, i) => shareEntry(`s-${i}`, i)))
    const closing = { ...optionsOf(fleet), onWarning: () => void reader.close() }
    const reader = await FleetShareReader.open(closing, new AbortController().signal)
    await expect(listOf(reader.shares())).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringMatching(
        /^(the share log of the fleet broke off early|cannot read the share log of the fleet at \S+: (?!.*broke))/,
      ),
    })
  })
})
