/** Both ends of a fleet against the contracts of engines and sources, over a real NATS server. */

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDelayProxy } from '../../bench/delay-proxy.ts'
import { NodeClient } from '../../src/client/node/client.ts'
import { startDevnet } from '../../src/compose/devnet.ts'
import { rigCallbacks } from '../../src/compose/source/fleet.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { withCreationTime, withNonce } from '../../src/ground/chain/header.ts'
import type { MinerAccount } from '../../src/ground/chain/payload.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { CpuEngine } from '../../src/mining/engine/cpu/cpu.ts'
import type { Candidate, EngineEvents } from '../../src/mining/engine/engine.ts'
import { FleetEngine } from '../../src/mining/engine/fleet/fleet.ts'
import type { AdoptedSolution } from '../../src/mining/engine/leader.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { Miner } from '../../src/mining/mine/miner.ts'
import { FleetSource } from '../../src/mining/source/fleet/fleet-source.ts'
import { miningNodeOf } from '../../src/mining/source/node/mining-node.ts'
import { NodeSource } from '../../src/mining/source/node/node-source.ts'
import type { Job } from '../../src/mining/source/source.ts'
import { engineConformance } from '../conformance/engine.ts'
import { type SourceTestBed, sourceConformance } from '../conformance/source.ts'
import { describeWith, lackOf } from '../needs.ts'
import { solve } from '../solve.ts'
import { freshWork } from '../support/work.ts'
import { until } from '../wait.ts'
import { leftInOrder, NatsServer } from './nats.ts'

const shared = { clock: systemClock, random: Math.random }
const account: MinerAccount = { account: 'k:test', predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }

describeWith(lackOf('nats-server'), 'a fleet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-nats-'))
  let nats: NatsServer
  beforeAll(async () => {
    nats = await NatsServer.start(folder)
  })
  afterAll(async () => {
    await nats?.kill()
    rmSync(folder, { recursive: true })
  })

  const linkTo = (url: string, fleet: string) => {
    const options = { addresses: [readNatsAddress(url)], trust: {}, fleet, agent: 'test' }
    return FleetLink.open({ ...options, ...shared }, null, new AbortController().signal)
  }

  /** The engine of a leader that brings two rigs of one thread each. */
  class EngineWithRigs {
    readonly name = 'fleet'
    readonly #fleet = `fleet-${randomUUID().slice(0, 8)}`
    readonly #stop = new AbortController()
    readonly #links: FleetLink[] = []
    readonly #works = new Map<number, Uint8Array>()
    #engine: FleetEngine | null = null
    #rigs: Promise<unknown>[] = []
    readonly #threads: CpuEngine[] = []
    #ended = false

    async start(workBytes: number, events: EngineEvents): Promise<void> {
      const link = await linkTo(nats.url, this.#fleet)
      this.#links.push(link)
      await leftInOrder(link)
      const names = { name: 'here', version: 'test', session: randomUUID() }
      const engine = new FleetEngine({ link, ...names, ...shared })
      if (this.#ended) return
      this.#engine = engine
      const ties = { unfinished: [], adopt: () => undefined, onLeader: () => undefined, silentMs: () => 0 }
      engine.attach({ network: 'test', account: 'k:test', ...ties })
      const onCandidate = (candidate: Candidate) => {
        events.onCandidate(candidate)
        this.#tellStale(candidate)
      }
      await engine.start(workBytes, { ...events, onCandidate })
      this.#rigs = ['left', 'right'].map((rig) => this.#mine(rig))
    }

    async #mine(rig: string): Promise<void> {
      const { signal } = this.#stop
      try {
        const link = await linkTo(nats.url, this.#fleet)
        this.#links.push(link)
        const names = { fleet: this.#fleet, rig, version: 'test', session: randomUUID() }
        const source = await FleetSource.join({ link, ...names, ...shared }, () => undefined, signal)
        const engine = new CpuEngine({
          ranges: nonceRanges(1, Math.random),
          kernel: 'js',
          priority: 'low',
          clock: systemClock,
        })
        this.#threads.push(engine)
        const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent: () => undefined })
        source.attach(rigCallbacks(miner))
        await miner.run(signal)
      } catch (error) {
        if (!signal.aborted) throw error
      }
    }

    /** A miner reports the outcome of each candidate. Here none is submitted, and the rigs keep searching. */
    #tellStale({ sequence, nonce, creationTime = 0n }: Candidate): void {
      const work = this.#works.get(sequence)
      if (work === undefined) return
      const bytes = withNonce(withCreationTime(work, creationTime), nonce)
      this.#engine?.recordStep({ hash: encodeBase64Url(blockHash(bytes)), step: 'stale' })
    }

    setWork: FleetEngine['setWork'] = async (work) => {
      if (work.bytes !== null) this.#works.set(work.sequence, work.bytes)
      return this.#engine?.setWork(work) ?? false
    }
    hashes = () => this.#engine?.hashes() ?? 0
    devices = () => this.#engine?.devices() ?? []

    /** Resolves when the rigs have reported all their hashes. */
    untilCounted = () => until(() => this.hashes() === this.#threads.reduce((sum, thread) => sum + thread.hashes(), 0))

    async stop(): Promise<void> {
      this.#ended = true
      await this.#engine?.stop()
      this.#stop.abort()
      await Promise.all(this.#rigs)
      await Promise.all(this.#links.map((link) => link.close()))
    }
  }

  describe('as an engine', () => {
    engineConformance({
      create: () => new EngineWithRigs(),
      untilCounted: (engine) => (engine as EngineWithRigs).untilCounted(),
      unsearchable: { bits: 8, warning: /a fleet cannot search work in which a pool fixes a part of the nonce/ },
      keepsFixedBits: false,
      difficulty: 5000n,
    })
  })

  /** A node, its leader, and a rig whose connection to NATS can be blocked. */
  async function startBed(): Promise<SourceTestBed> {
    const fleet = `fleet-${randomUUID().slice(0, 8)}`
    const devnet = await startDevnet({ port: 0, difficulty: 20n, blockDelayMs: 1000 })
    const [near, far] = [await NodeClient.connect({ url: devnet.url }), await NodeClient.connect({ url: devnet.url })]
    const node = miningNodeOf({ client: far, account, clock: systemClock, stallMs: 0 })
    const leaderLink = await linkTo(nats.url, fleet)
    await leftInOrder(leaderLink)
    const names = { name: 'here', version: 'test', session: randomUUID() }
    const engine = new FleetEngine({ link: leaderLink, ...names, ...shared })
    const stop = new AbortController()
    const leader = new Miner({
      source: new NodeSource({ node, ...shared }),
      engines: [engine],
      clock: systemClock,
      onEvent: (event) => {
        if (event.type === 'solution') engine.recordStep(event)
      },
    })
    const adopt = (solution: AdoptedSolution) => leader.adopt(solution)
    const ties = { unfinished: [], adopt, onLeader: () => undefined, silentMs: () => 0 }
    engine.attach({ network: 'development', account: account.account, ...ties })
    const led = leader.run(stop.signal)
    const way = await startDelayProxy(nats.port, 0)
    const link = await linkTo(`nats://127.0.0.1:${new URL(way.url).port}`, fleet)
    const rig = { fleet, rig: 'rig', version: 'test', session: randomUUID() }
    const source = await FleetSource.join({ link, ...rig, ...shared }, () => undefined, stop.signal)
    return {
      source,
      solveElsewhere: async ({ work: { fields } }: Job) => {
        const { work } = await near.work({ ...account, account: 'k:other' }, fields.chainId)
        await near.solved(solve(work.bytes))
      },
      hang: way.hold,
      goodEnd: 'credited',
      close: async () => {
        source.close()
        await link.close()
        await way.close()
        stop.abort()
        await led
        await leaderLink.close()
        await Promise.all([near.close(), far.close()])
        await devnet.close()
      },
    }
  }

  sourceConformance('as a source', startBed)

  it('a rig knows the size of its work after the first job is over', async () => {
    const fleet = 'short'
    const leader = await linkTo(nats.url, fleet)
    const bytes = freshWork(1n << 40n)
    const job = {
      id: 'one',
      issuer: 'node',
      reason: 'start',
      target: 'f'.repeat(64),
      work: encodeBase64Url(bytes),
    }
    const answer = { term: 1, leader: 'scripted', network: 'development', account: 'k:test', lease: 7, isPaused: false }
    leader.connection.subscribe(leader.subjects.report, {
      callback: (_error, message) => {
        message.respond(JSON.stringify({ ...answer, job: { term: 1, number: 1, job } }))
      },
    })
    const link = await linkTo(nats.url, fleet)
    const rig = { fleet, rig: 'rig', version: 'test', session: randomUUID() }
    const stop = new AbortController()
    const source = await FleetSource.join({ link, ...rig, ...shared }, () => undefined, stop.signal)
    const jobs = source.jobs(stop.signal, { onTrouble: () => undefined, onRecovered: () => undefined })
    expect((await jobs.next()).value).toMatchObject({ id: 'one' })
    leader.publish(leader.subjects.job, { term: 1, number: 2, job: null })
    expect((await jobs.next()).value).toBeNull()
    expect(source.workBytes).toBe(bytes.length)
    stop.abort()
    source.close()
    await link.close()
    await leader.close()
  })

  it('a rig that is stopped before it has joined ends', async () => {
    const link = await linkTo(nats.url, 'left')
    const rig = { fleet: 'left', rig: 'rig', version: 'test', session: randomUUID() }
    const stopped = AbortSignal.abort(new Error('told to stop'))
    await expect(FleetSource.join({ link, ...rig, ...shared }, () => undefined, stopped)).rejects.toThrow(
      'told to stop',
    )
    await link.close()
  })
})
