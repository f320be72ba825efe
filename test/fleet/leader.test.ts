/** The leader's engine over a real NATS server: pauses of rigs, and candidates that no leader took. */
import { randomUUID } from 'node:crypto'
import { type KV, Kvm } from '@nats-io/kv'
import { expect, it } from 'vitest'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import type { Candidate } from '../../src/mining/engine/engine.ts'
import { FleetEngine } from '../../src/mining/engine/fleet/fleet.ts'
import { isPaused, MemberPauses } from '../../src/mining/engine/fleet/pauses.ts'
import type { LeaderCallbacks } from '../../src/mining/engine/leader.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import {
  encodeMessage,
  ListAnswer,
  MemberCommandAnswer,
  MemberReportAnswer,
  SolutionOutcome,
} from '../../src/mining/fleet/messages.ts'
import { describeWith, lackOf } from '../needs.ts'
import { solve } from '../solve.ts'
import { engineWork, freshWork } from '../support/work.ts'
import { NatsBed } from './nats.ts'

const shared = { clock: systemClock, random: Math.random }
const MS = 3_000

describeWith(lackOf('nats-server'), 'the leader of a fleet', () => {
  const bed = new NatsBed()
  const { cleanups } = bed

  async function linkTo(fleet: string, url = bed.nats.url): Promise<FleetLink> {
    const options = { addresses: [readNatsAddress(url)], trust: {}, fleet, agent: 'test' }
    const link = await FleetLink.open({ ...options, ...shared }, null, new AbortController().signal)
    cleanups.push(() => link.close())
    return link
  }

  interface Led {
    readonly engine: FleetEngine
    /** Adopted solutions: of other leaders' jobs, and of its own. */
    readonly adopted: Parameters<LeaderCallbacks['adopt']>[0][]
    readonly candidates: Candidate[]
    readonly warnings: string[]
  }

  async function leaderOf(
    link: FleetLink,
    onAdopt: (engine: FleetEngine) => LeaderCallbacks['adopt'] = () => () => undefined,
  ) {
    const engine = new FleetEngine({ link, name: 'here', version: 'test', session: randomUUID(), ...shared })
    cleanups.push(() => engine.stop())
    const led: Led = { engine, adopted: [], candidates: [], warnings: [] }
    const adopt: LeaderCallbacks['adopt'] = (solution) => {
      led.adopted.push(solution)
      onAdopt(engine)(solution)
    }
    engine.attach({
      network: 'test',
      account: 'k:test',
      unfinished: [],
      adopt,
      onLeader: () => undefined,
      silentMs: () => 0,
    })
    const onCandidate = (candidate: Candidate) => void led.candidates.push(candidate)
    await engine.start(286, { onCandidate, onWarning: (message) => void led.warnings.push(message) })
    return led
  }

  const leads = ({ engine }: Led) => expect.poll(() => engine.status().isLeading).toBe(true)
  const figures = { version: '1', hashes: 0, rate: null, state: 'idle', reason: null, accepted: 0, refused: 0 }
  const reportOf = (rig: string) => ({ ...figures, rig, session: rig, lease: null, seen: null })
  const order = (link: FleetLink, pause: boolean, rig: string | null) =>
    link.request(link.subjects.order, { pause, rig }, MemberCommandAnswer, MS)

  it('a leader executes all of several simultaneous commands', async () => {
    const link = await linkTo('orders')
    await leads(await leaderOf(link))
    await expect.poll(() => order(link, true, 'first').catch(() => null)).toMatchObject({ problem: null })
    const rigs = Array.from({ length: 20 }, (_, i) => `rig-${i}`)
    const answers = await Promise.all(rigs.map((rig) => order(link, true, rig)))
    expect(answers.map(({ problem }) => problem)).toEqual(rigs.map(() => null))
    const pauses = new MemberPauses(() => undefined)
    await pauses.read(await storeOf(link))
    expect([...pauses.paused.rigs].sort()).toEqual(['first', ...rigs].sort())
  })

  const storeOf = (link: FleetLink): Promise<KV> => new Kvm(link.jetstream).create(link.subjects.bucket, { history: 1 })

  it('a leader does not undo the command of another leader, nor overwrite a list that it has not read', async () => {
    const store = await storeOf(await linkTo('two-lists'))
    const [one, two] = [new MemberPauses(() => undefined), new MemberPauses(() => undefined)]
    await Promise.all([one.read(store), two.read(store)])
    expect(await one.apply(store, { pause: true, rig: 'a' })).toBeNull()
    expect(await two.apply(store, { pause: true, rig: 'b' })).toBeNull()
    const third = new MemberPauses(() => undefined)
    expect(await third.apply(store, { pause: true, rig: 'c' })).toBeNull()
    await one.read(store)
    expect(['a', 'b', 'c', 'd'].map((rig) => isPaused(one.paused, rig))).toEqual([true, true, true, false])
    // The leader writes no list while it cannot read the current one.
    const failing = new Proxy(store, {
      get: (target, name) => {
        if (name === 'get') return () => Promise.reject(new Error('no answer'))
        const own = Reflect.get(target, name)
        return typeof own === 'function' ? own.bind(target) : own
      },
    })
    const blind = new MemberPauses(() => undefined)
    await expect(blind.read(failing)).rejects.toThrow('no answer')
    await expect(blind.apply(failing, { pause: true, rig: 'd' })).rejects.toThrow('no answer')
    await one.read(store)
    expect([...one.paused.rigs].sort()).toEqual(['a', 'b', 'c'])
  })

  it('a leader reports a malformed list, treats it as empty, and replaces it with the next command', async () => {
    const store = await storeOf(await linkTo('garbage'))
    await store.put('paused', 'garbage')
    const warnings: string[] = []
    const pauses = new MemberPauses((message) => warnings.push(message))
    await pauses.read(store)
    expect(warnings).toEqual([
      expect.stringMatching(/the list of paused rigs counts as empty, it cannot be read: .*JSON/),
    ])
    expect(await pauses.apply(store, { pause: true, rig: 'a' })).toBeNull()
    await pauses.read(store)
    expect(pauses.paused.rigs).toEqual(['a'])
  })

  it('a leader answers no rig before it knows which rigs are paused', async () => {
    const link = await linkTo('takeover')
    // A long list takes longer to read than a report takes to answer.
    const rigs = [...Array.from({ length: 9_900 }, (_, i) => `rig-${i}`.padEnd(60, '-')), 'a']
    await (await storeOf(link)).put('paused', encodeMessage({ all: false, rigs }))
    const answers: boolean[] = []
    const isOver = new AbortController()
    const asking = Array.from({ length: 8 }, async () => {
      while (!isOver.signal.aborted) {
        const asked = link.request(link.subjects.report, reportOf('a'), MemberReportAnswer, MS)
        await asked.then(
          ({ isPaused }) => void answers.push(isPaused),
          () => undefined,
        )
      }
    })
    const leaderLinks = await Promise.all(Array.from({ length: 5 }, () => linkTo('takeover')))
    for (const leaderLink of leaderLinks) {
      const led = await leaderOf(leaderLink)
      const before = answers.length
      await expect.poll(() => answers.length - before).toBeGreaterThan(20)
      await led.engine.stop()
    }
    isOver.abort()
    await Promise.all(asking)
    expect(answers.filter((paused) => !paused)).toEqual([])
  })

  /** A solution as a rig publishes it to JetStream. */
  const send = async (link: FleetLink, bytes: Uint8Array, changes: object = {}) => {
    const candidate = { job: 'of-another-leader', issuer: 'http://a', rig: 'rig', session: 's', hashes: 1, ...changes }
    const message = encodeMessage({ ...candidate, work: encodeBase64Url(bytes) })
    await link.jetstream.publish(link.subjects.candidate, message, { msgID: randomUUID() })
    return encodeBase64Url(blockHash(bytes))
  }
  const outcomeOf = (link: FleetLink, hash: string) =>
    link.request(link.subjects.outcome, { hash }, SolutionOutcome, MS)
  /** The number of candidates in JetStream. */
  const kept = async (link: FleetLink) => {
    const manager = await link.jetstream.jetstreamManager(false)
    return (await manager.streams.info(link.subjects.stream)).state.messages
  }

  it('a leader accepts a solution whatever its counters say', async () => {
    const link = await linkTo('counters')
    const led = await leaderOf(link)
    await leads(led)
    const bytes = solve(freshWork(2n))
    await expect.poll(() => kept(link).catch(() => -1)).toBe(0)
    await send(link, bytes, { hashes: 2 ** 53 * 10 + 0.5, session: 'a b', rig: '' })
    await expect.poll(() => led.adopted.length).toBeGreaterThan(0)
    expect(led.adopted[0]).toMatchObject({ bytes, issuer: 'http://a' })
  })

  it('a leader leaves candidates that nobody took while it stopped to the next leader', async () => {
    const link = await linkTo('stopping')
    // A stopping miner takes nothing more and reports nothing.
    const first = await leaderOf(link)
    await leads(first)
    await first.engine.setWork(engineWork(1, freshWork(2n), MAX_TARGET))
    await expect.poll(() => kept(link).catch(() => -1)).toBe(0)
    const bytes = solve(freshWork(2n))
    const hash = await send(link, bytes)
    await expect.poll(() => first.adopted.length).toBeGreaterThan(0)
    await expect.poll(() => outcomeOf(link, hash).catch(() => null)).toEqual({ step: 'unknown' })
    expect(await kept(link)).toBe(1)
    await first.engine.stop()
    const second = await leaderOf(link, (engine) => () => {
      engine.recordStep({ hash, step: 'found', job: 'adopted' })
      engine.recordStep({ hash, step: 'confirmed' })
    })
    await expect.poll(() => second.adopted.length).toBe(1)
    expect(second.adopted[0].bytes).toEqual(bytes)
    await expect.poll(() => kept(link)).toBe(0)
  })

  it('a leader leaves an untaken solution of its own job to the next leader, and has only the first of a job taken', async () => {
    const link = await linkTo('own-job')
    const led = await leaderOf(link)
    await leads(led)
    // A leader publishes its job before its stream of candidates exists.
    await expect.poll(() => kept(link).catch(() => -1)).toBe(0)
    const work = freshWork(2n)
    const listener = link.connection.subscribe(link.subjects.job)
    await led.engine.setWork(engineWork(1, work, MAX_TARGET / 2n))
    let job = ''
    for await (const message of listener) {
      job = message.json<{ job: { id: string } | null }>().job?.id ?? ''
      if (job !== '') break
    }
    const [bytes, other] = [solve(work), solve(work, 1_000n)]
    const hash = await send(link, bytes, { job })
    // The miner does not take it, so JetStream delivers it again.
    await expect.poll(() => led.candidates.length).toBeGreaterThan(1)
    expect(await kept(link)).toBe(1)
    led.engine.recordStep({ hash, step: 'found', job: 'job 1' })
    const late = await send(link, other, { job })
    await expect.poll(() => outcomeOf(link, late)).toMatchObject({ step: 'stale' })
    await expect.poll(() => kept(link)).toBe(1)
    led.engine.recordStep({ hash, step: 'stale' })
    await expect.poll(() => kept(link)).toBe(0)
  })

  it('a leader believes its own node that it does not know a payload', async () => {
    const link = await linkTo('own-node')
    const led = await leaderOf(link, (engine) => ({ bytes }) => {
      const of = { hash: encodeBase64Url(blockHash(bytes)), job: 'adopted', issuer: 'http://a' }
      engine.recordStep({ ...of, step: 'found' })
      engine.recordStep({ ...of, step: 'rejected', reason: 'no-payload', message: 'No associated Payload' })
    })
    await leads(led)
    await led.engine.setWork({ ...engineWork(1, freshWork(2n), MAX_TARGET), issuer: 'http://a' })
    await expect.poll(() => kept(link).catch(() => -1)).toBe(0)
    const hash = await send(link, solve(freshWork(2n)))
    await expect
      .poll(() => outcomeOf(link, hash).catch(() => null))
      .toMatchObject({ step: 'rejected', reason: 'no-payload' })
    await expect.poll(() => kept(link)).toBe(0)
  })

  it('a leader lists rigs that have long names, and pauses them', async () => {
    const link = await linkTo('names')
    await leads(await leaderOf(link))
    const rig = 'ip-10-0-1-23.eu-central-1.compute.internal'
    const report = () => link.request(link.subjects.report, reportOf(rig), MemberReportAnswer, MS)
    await expect.poll(() => report().catch(() => null)).toMatchObject({ isPaused: false })
    expect(await order(link, true, rig)).toEqual({ rigs: 1, problem: null })
    expect(await report()).toMatchObject({ isPaused: true })
    expect((await link.request(link.subjects.list, { from: 0 }, ListAnswer, MS)).rigs).toMatchObject([{ rig }])
  })
})
