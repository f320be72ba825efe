/** Relays of a fleet: stratum rigs behind rigs of the fleet, over a real NATS server and real sockets. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { rigCallbacks } from '../../src/compose/source/fleet.ts'
import { encodeBase64Url, readI64LE } from '../../src/ground/base/bytes.ts'
import type { Clock } from '../../src/ground/base/clock.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { withCreationTime, withNonce } from '../../src/ground/chain/header.ts'
import { NO_NONCE } from '../../src/ground/chain/nonce.ts'
import { solves } from '../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { type Candidate, type Engine, type EngineWork, ofDevices } from '../../src/mining/engine/engine.ts'
import { FleetEngine } from '../../src/mining/engine/fleet/fleet.ts'
import { StratumEngine } from '../../src/mining/engine/stratum/stratum.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import {
  HEADER_MODULUS,
  ListAnswer,
  type MemberReport,
  OWN_STEP,
  RELAY_ALONE_MS,
} from '../../src/mining/fleet/messages.ts'
import { Miner } from '../../src/mining/mine/miner.ts'
import { FleetSource } from '../../src/mining/source/fleet/fleet-source.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { describeWith, lackOf } from '../needs.ts'
import { Rig } from '../support/stratum-rig.ts'
import { engineWork, freshWork } from '../support/work.ts'
import { until } from '../wait.ts'
import { leftInOrder, NatsBed } from './nats.ts'

/** A device of the relay that searches nothing and remembers its work. */
class Device implements Engine {
  readonly name = 'cpu'
  readonly works: EngineWork[] = []
  start = async () => undefined
  async setWork(work: EngineWork): Promise<boolean> {
    this.works.push(ofDevices(work))
    return true
  }
  hashes = () => 0
  devices = () => []
  stop = async () => undefined
}

describeWith(lackOf('nats-server'), 'a relay', () => {
  const bed = new NatsBed()
  const { cleanups } = bed

  async function linkTo(fleet: string): Promise<FleetLink> {
    const options = { addresses: [readNatsAddress(bed.nats.url)], trust: {}, fleet, agent: 'test' }
    const shared = { clock: systemClock, random: Math.random }
    const link = await FleetLink.open({ ...options, ...shared }, null, new AbortController().signal)
    cleanups.push(() => link.close())
    return link
  }

  async function leaderOf(fleet: string) {
    const link = await linkTo(fleet)
    const names = { name: 'here', version: 'test', session: randomUUID() }
    const engine = new FleetEngine({ link, ...names, clock: systemClock, random: Math.random })
    const candidates: Candidate[] = []
    engine.attach({
      network: 'test',
      account: 'k:test',
      unfinished: [],
      adopt: () => undefined,
      onLeader: () => undefined,
      silentMs: () => 0,
    })
    await engine.start(286, { onCandidate: (candidate) => candidates.push(candidate), onWarning: () => undefined })
    cleanups.push(() => engine.stop())
    return { engine, candidates, link }
  }

  async function relayOf(fleet: string, clock: Clock = systemClock) {
    const link = await linkTo(fleet)
    const stop = new AbortController()
    const troubles: string[] = []
    const about = { fleet, rig: 'relay', version: 'test', session: randomUUID(), isRelay: true }
    const source = await FleetSource.join(
      { link, ...about, clock, random: Math.random },
      (message) => troubles.push(message),
      stop.signal,
    )
    const server = { host: '127.0.0.1', port: 0, tls: null, difficulty: 1, random: Math.random }
    const rigs = new StratumEngine({ ...server, clock })
    const device = new Device()
    const miner = new Miner({
      source,
      engines: [rigs, device],
      clock,
      onEvent: (event) => {
        if (event.type === 'trouble' || event.type === 'warning') troubles.push(event.message)
      },
      serverParts: () => ({ rigs: rigs.status() }),
    })
    source.attach(rigCallbacks(miner))
    const ended = miner.run(stop.signal)
    cleanups.push(async () => {
      stop.abort()
      source.close()
      await ended
    })
    const { port } = await rigs.listen()
    return { source, miner, device, port, troubles }
  }

  async function rigAt(port: number): Promise<Rig> {
    const rig = await Rig.login(port)
    cleanups.push(async () => rig.close())
    await until(() => rig.jobs.length > 0)
    return rig
  }

  const timesOf = (rig: Rig) => rig.jobs.map(({ header }) => readI64LE(header, 8))
  const residueOf = (rig: Rig) => Number((timesOf(rig).at(-1) ?? 0n) % BigInt(HEADER_MODULUS))

  it('a relay gives its rigs headers of its own, on which they find blocks with any nonce', async () => {
    const fleet = 'two'
    await leftInOrder(await linkTo(fleet))
    const { engine, candidates, link } = await leaderOf(fleet)
    const work = freshWork(1n)
    await engine.setWork(engineWork(1, work, MAX_TARGET))
    await until(() => engine.status().isLeading)
    const relays = await Promise.all([relayOf(fleet), relayOf(fleet)])
    const rigs = await Promise.all(relays.map(({ port }) => rigAt(port)))
    const [one, other] = rigs.map(residueOf)
    expect(one).not.toBe(other)
    for (const residue of [one, other]) expect(residue % OWN_STEP).not.toBe(0)
    for (const rig of rigs) {
      const [job] = rig.jobs
      await expect(rig.submit(job.id, '0000000000ab')).resolves.toMatchObject({ result: true })
      const found = candidates.length
      await until(() => candidates.length > found)
      const { nonce, creationTime = 0n } = candidates.at(-1) as Candidate
      expect(nonce & 0xffffn).toBe(BigInt(`0x${rig.nonce1}`))
      const bytes = withNonce(withCreationTime(work, creationTime), nonce)
      expect(solves(bytes)).toBe(true)
      expect(Number(creationTime % BigInt(HEADER_MODULUS))).toBe(residueOf(rig))
      // The other relay continues.
      engine.recordStep({ hash: encodeBase64Url(blockHash(bytes)), step: 'stale' })
    }
    for (const { device } of relays) {
      const { bytes, fixedNonce } = device.works.findLast((each) => each.bytes !== null) as EngineWork
      expect(readI64LE(bytes as Uint8Array, 8) % BigInt(OWN_STEP)).toBe(0n)
      expect(fixedNonce.bits).toBe(16)
    }
    const list = () => link.request(link.subjects.list, { from: 0 }, ListAnswer, 3_000)
    await expect.poll(async () => (await list()).rigs.map(({ relay }) => relay?.rigs)).toEqual([1, 1])
    const unexpected = relays.flatMap(({ troubles }) => troubles).filter((text) => !/no responders/.test(text))
    expect(unexpected).toEqual([])
  })

  it('a relay keeps its rigs and its headers when the leader changes', async () => {
    const fleet = 'change'
    await leftInOrder(await linkTo(fleet))
    const first = await leaderOf(fleet)
    await first.engine.setWork(engineWork(1, freshWork(1n), MAX_TARGET / 2n ** 40n))
    const { port } = await relayOf(fleet)
    const rig = await rigAt(port)
    const residue = residueOf(rig)
    const second = await leaderOf(fleet)
    const work = freshWork(1n)
    await second.engine.setWork(engineWork(1, work, MAX_TARGET / 2n ** 40n))
    await first.engine.stop()
    const parent = Buffer.from(work.subarray(16, 48))
    await until(() => rig.jobs.some(({ header }) => parent.equals(header.subarray(16, 48))))
    expect(residueOf(rig)).toBe(residue)
    expect(rig.hasEnded).toBe(false)
  })

  /** A leader that answers until the test silences it. */
  async function scriptedLeader(fleet: string, answer: object) {
    const link = await linkTo(fleet)
    const work = {
      work: encodeBase64Url(freshWork(2n ** 60n)),
      target: (MAX_TARGET / 2n ** 60n).toString(16).padStart(64, '0'),
    }
    const job = { term: 1, number: 1, job: { id: 'one', issuer: 'node', reason: 'start', ...work } }
    const whole = { term: 1, leader: 'scripted', network: 'test', account: 'k:test', lease: 7, isPaused: false, job }
    const reports: MemberReport[] = []
    const subscription = link.connection.subscribe(link.subjects.report, {
      callback: (_error, message) => {
        reports.push(message.json())
        message.respond(JSON.stringify({ ...whole, ...answer }))
      },
    })
    return { reports, end: () => subscription.unsubscribe() }
  }

  it('a relay continues the last job for its rigs, not for its devices, while nobody leads, until the work expires', async () => {
    const leader = await scriptedLeader('alone', { residue: 4095 })
    const clock = new VirtualClock()
    const relays: Awaited<ReturnType<typeof relayOf>>[] = []
    void relayOf('alone', clock).then((relay) => relays.push(relay))
    await until(async () => {
      await clock.pass(100)
      return relays.length > 0
    })
    const [{ port, device }] = relays
    const rig = await rigAt(port)
    await clock.pass(0)
    leader.end()
    const startMs = clock.monotonicMs()
    let jobs = rig.jobs.length
    let nonce2 = 0
    const share = () => rig.submit(rig.jobs.at(-1)?.id ?? '', (++nonce2).toString(16).padStart(12, '0'))
    // One second is left for the last answered report.
    while (clock.monotonicMs() - startMs < RELAY_ALONE_MS - 32_000) {
      for (let i = 0; i < 30; i++) await clock.pass(1_000)
      await until(() => rig.jobs.length > jobs)
      jobs = rig.jobs.length
      expect(residueOf(rig)).toBe(4095)
      expect((await share()).result).toBe(true)
    }
    expect(device.works.at(-1)?.bytes, 'the lease is over').toBeNull()
    for (let i = 0; i < 64; i++) await clock.pass(1_000)
    await until(() => rig.jobs.length > jobs)
    expect((await share()).error).toMatchObject({ message: 'the job is over' })
    expect(new Set(timesOf(rig)).size, 'no header twice').toBe(rig.jobs.length)
  })

  it('a relay reports that a leader of an earlier version has no work for rigs, and its devices still search', async () => {
    await scriptedLeader('old', {})
    const { device, troubles } = await relayOf('old')
    expect(troubles.join()).toMatch(/the leader of the fleet is of an earlier version, which gives relays no headers/)
    await until(() => device.works.some(({ bytes }) => bytes !== null))
    expect(device.works.at(-1)).toMatchObject({ headers: null, fixedNonce: { bits: 16, value: 7 } })
  })
})

it('a relay leaves its devices idle while only rigs may search', () => {
  const work = engineWork(3, freshWork(1n), MAX_TARGET)
  expect(ofDevices(work)).toBe(work)
  expect(ofDevices({ ...work, fixedNonce: NO_NONCE })).toMatchObject({ sequence: 3, bytes: null })
})
