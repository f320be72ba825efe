/** Which jobs are valid at once, when they end, and that no share that solves one is lost. */
import { afterEach, describe, expect, it } from 'vitest'
import { decodeWork, encodeWork, type WorkFields, withCreationTime } from '../../../src/ground/chain/header.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { workFromBytes } from '../../../src/ground/chain/work.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { noWork } from '../../../src/mining/engine/engine.ts'
import { Jobs, type RigJob } from '../../../src/mining/engine/stratum/jobs.ts'
import { SeenShares } from '../../../src/mining/engine/stratum/seen-shares.ts'
import { StratumEngine } from '../../../src/mining/engine/stratum/stratum.ts'
import { Miner } from '../../../src/mining/mine/miner.ts'
import { easyWork, FedSource } from '../../mine/by-hand.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import type { Rig } from '../../support/stratum-rig.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { loggedIn, solvesWork, startedServer, stopServers, workOf } from './servers.ts'

const EASY = 300n
const STALE = { result: false, error: { code: 21 } }
afterEach(stopServers)

type TestWork = ReturnType<typeof workOf>

/** Work for a chain and height, with parents that no other work has. */
function workFor(sequence: number, chainId: number, height: bigint, reason?: string): TestWork {
  return changed(workOf(sequence, EASY), { chainId, height }, reason)
}

/** The same work with changed fields. */
function changed(work: TestWork, fields: Partial<WorkFields>, reason?: string): TestWork {
  return { ...work, bytes: encodeWork({ ...decodeWork(work.bytes), ...fields }), ...(reason && { reason }) }
}

/** A server that got these works one after the other, and a rig with a job for each. */
async function rigWith(works: readonly TestWork[], limits = {}) {
  const started = await startedServer(limits)
  const { engine, port } = started
  const rig = await loggedIn(port)
  for (const [index, work] of works.entries()) {
    await engine.setWork(work)
    await until(() => rig.jobs.length === index + 1)
  }
  return { ...started, rig }
}

const submitted = (rig: Rig, index: number) => rig.submit(rig.jobs[index].id, rig.nextShare(rig.jobs[index]))

describe('a share of a job of another chain', () => {
  it.each(['better', 'chosen', 'refreshed', 'reconnected', 'switched', 'start', undefined])(
    'a share of an earlier chain counts if other work came by the reason %j, and solves its work',
    async (reason) => {
      const first = workFor(1, 3, 100n)
      const { engine, rig, candidates } = await rigWith([first, workFor(2, 6, 100n, reason)])
      expect(await submitted(rig, 0)).toMatchObject({ result: true, error: null })
      expect(await submitted(rig, 1)).toMatchObject({ result: true, error: null })
      expect(candidates.map(({ sequence }) => sequence)).toEqual([1, 2])
      expect(solvesWork(candidates[0], first)).toBe(true)
      expect(engine.hashes()).toBe(600)
      expect(engine.status().shares).toMatchObject({ accepted: 2, stale: 0 })
    },
  )

  it.each(['newCut', 'solved'])(
    'a share of an earlier chain is stale if its chain ended by the reason %j, and still solves',
    async (reason) => {
      const { engine, rig, candidates } = await rigWith([workFor(1, 3, 100n), workFor(2, 6, 100n, reason)])
      expect(await submitted(rig, 0)).toMatchObject(STALE)
      expect(candidates.map(({ sequence }) => sequence)).toEqual([1])
      expect(engine.hashes()).toBe(0)
    },
  )

  it('a share of an earlier chain counts if the chain of a later job moved on', async () => {
    const works = [workFor(1, 3, 100n), workFor(2, 6, 100n, 'better'), workFor(3, 2, 100n, 'newCut')]
    const { rig } = await rigWith(works)
    const results = []
    for (const index of [0, 1, 2]) results.push((await submitted(rig, index)).result)
    expect(results).toEqual([true, false, true])
  })

  it('a share of an earlier chain counts if there is no more work for the chain searched last', async () => {
    const { engine, rig } = await rigWith([workFor(1, 3, 100n), workFor(2, 6, 100n, 'better')])
    await engine.setWork(noWork(3))
    expect(await submitted(rig, 0)).toMatchObject({ result: true })
    expect(await submitted(rig, 1)).toMatchObject(STALE)
  })
})

describe('a share of an earlier job of its chain', () => {
  it('a share of an earlier job counts if only the transactions changed', async () => {
    const first = workFor(1, 3, 100n)
    const payloadHash = new Uint8Array(32).fill(7)
    const { rig } = await rigWith([
      first,
      changed({ ...first, sequence: 2, job: 'other' }, { payloadHash }, 'refreshed'),
    ])
    expect(await submitted(rig, 0)).toMatchObject({ result: true })
  })

  it('a share of an earlier job counts if only a neighbour of its chain moved on, but not with another parent', async () => {
    const first = workFor(1, 3, 100n)
    const { adjacents } = decodeWork(first.bytes)
    const moved = new Map(
      [...adjacents].map(([chain, hash]) => [chain, chain === 1 ? new Uint8Array(32).fill(9) : hash]),
    )
    const { rig } = await rigWith([
      first,
      changed({ ...first, sequence: 2, job: 'second' }, { adjacents: moved }, 'refreshed'),
      changed({ ...first, sequence: 3, job: 'third' }, { parent: new Uint8Array(32).fill(8) }, 'reconnected'),
    ])
    expect(await submitted(rig, 0)).toMatchObject(STALE)
    expect(await submitted(rig, 1)).toMatchObject(STALE)
    const { rig: other } = await rigWith([
      first,
      changed({ ...first, sequence: 2, job: 'second' }, { adjacents: moved }, 'refreshed'),
    ])
    expect(await submitted(other, 0)).toMatchObject({ result: true })
  })

  it.each<[string, string, bigint, boolean]>([
    ['higher work', 'better', 101n, false],
    ['work as high on other parents', 'reconnected', 100n, false],
    ['lower work of a node that is behind', 'switched', 99n, true],
  ])('a share of an earlier job is judged by the later work of its chain: %s', async (_, reason, height, counts) => {
    const works = [workFor(1, 3, 100n), workFor(2, 6, 100n, 'better'), workFor(3, 3, height, reason)]
    const { rig } = await rigWith(works)
    expect((await submitted(rig, 0)).result).toBe(counts)
    expect(await submitted(rig, 1)).toMatchObject({ result: true })
  })

  it('a share of an earlier job is stale after a new cut, whatever was searched on the same parents', async () => {
    const first = workFor(1, 3, 100n)
    const payloadHash = new Uint8Array(32).fill(7)
    const second = changed({ ...first, sequence: 2, job: 'other' }, { payloadHash }, 'refreshed')
    const { rig } = await rigWith([first, second, workFor(3, 6, 100n, 'newCut')])
    for (const index of [0, 1]) expect(await submitted(rig, index)).toMatchObject(STALE)
  })
})

it('a job ends five minutes after its replacement, and not before', () => {
  let nowMs = 0
  const jobs = new Jobs(
    () => 0,
    () => nowMs,
  )
  const first = jobs.begin(workFor(1, 3, 100n))
  nowMs = 1_000_000
  expect(jobs.isOver(first)).toBe(false)
  const second = jobs.begin(workFor(2, 6, 100n, 'better'))
  nowMs += 299_999
  expect([first, second].map((job) => jobs.isOver(job))).toEqual([false, false])
  nowMs += 1
  expect([first, second].map((job) => jobs.isOver(job))).toEqual([true, false])
})

describe('a share that solves the work is submitted', () => {
  it('a share that solves the work is submitted although its job has too many shares and the rig gets a stale answer', async () => {
    const work = workOf(1, 1n)
    const { engine, rig, candidates } = await rigWith([work], { sharesPerJob: 3 })
    const codes: unknown[] = []
    for (let i = 0; i < 8; i++) codes.push((await submitted(rig, 0)).error?.code ?? null)
    expect(codes).toEqual([null, null, null, null, 21, 21, 21, 21])
    expect(candidates).toHaveLength(8)
    expect(candidates.every((candidate) => solvesWork(candidate, work))).toBe(true)
    expect(engine.status().shares).toMatchObject({ accepted: 4, stale: 4 })
  })

  it('a share that solves the work is submitted although the shares of its job are forgotten', async () => {
    const first = workFor(1, 3, 100n)
    const rolled = (n: number) => ({ ...first, sequence: n + 1, bytes: withCreationTime(first.bytes, BigInt(n)) })
    const works = [first, ...Array.from({ length: 17 }, (_, n) => rolled(n + 1))]
    const { rig, candidates } = await rigWith(works)
    for (let index = 0; index < works.length; index++) expect((await submitted(rig, index)).result).toBe(true)
    expect(await submitted(rig, 0)).toMatchObject(STALE)
    expect(candidates.map(({ sequence }) => sequence)).toEqual([...works.map(({ sequence }) => sequence), 1])
  })

  it('a share that solves the work is submitted although the target of its job is forgotten', async () => {
    const work = workOf(1, 70_000n)
    const { rig, candidates } = await rigWith([work])
    for (let change = 1; change <= 9; change++) {
      await rig.ask('mining.suggest_difficulty', [change % 2 === 0 ? 2 ** 16 : 2 ** 17])
      await until(() => rig.jobs.length === 1 + change)
    }
    const [job] = rig.jobs
    expect(await rig.submit(job.id, rig.nextShare(job, work.target))).toMatchObject(STALE)
    expect(candidates).toHaveLength(1)
    expect(solvesWork(candidates[0], work)).toBe(true)
  })
})

it('a rig whose nonces of a job are used up gets a fresh job at once', async () => {
  const clock = new VirtualClock()
  const { engine, port } = await startedServer({ sharesPerJob: 3 }, { clock })
  await engine.setWork(workOf(1, UNREACHABLE))
  const rig = await loggedIn(port)
  await until(() => rig.jobs.length > 0)
  const jobsAfter = async (ms: number) => {
    await clock.pass(ms)
    await rig.ask('mining.ping', [])
    return rig.jobs.length
  }
  for (let i = 0; i < 3; i++) await submitted(rig, 0)
  expect(await jobsAfter(20)).toBe(1)
  expect(await submitted(rig, 0)).toMatchObject({ result: true })
  // Others get fresh jobs in the rhythm of 100 ms.
  expect(await jobsAfter(20)).toBe(2)
  expect(rig.jobs[1].id).not.toBe(rig.jobs[0].id)
  expect((await submitted(rig, 1)).result).toBe(true)
})

describe('a miner with rigs', () => {
  /** A miner with a source that the test feeds, and one rig. */
  async function mining() {
    const source = new FedSource(new VirtualClock())
    const server = { host: '127.0.0.1', port: 0, tls: null, difficulty: 1000, limits: { sharesPerJob: 1 } }
    const engine = new StratumEngine({ ...server, clock: systemClock, random: Math.random })
    const stop = new AbortController()
    const miner = new Miner({ source, engines: [engine], clock: source.clock, onEvent: () => undefined })
    const ended = miner.run(stop.signal)
    const { port } = await engine.listen()
    const end = () => {
      stop.abort()
      return ended
    }
    return { source, rig: await loggedIn(port), end }
  }

  const workOn = (chainId: number) => workFromBytes(encodeWork({ ...easyWork(7n).fields, chainId }))

  it('a miner with rigs submits a solution for an earlier chain once, however often the rig sends it', async () => {
    const { source, rig, end } = await mining()
    await source.give(workOn(3), 'start')
    await until(() => rig.jobs.length > 0)
    await source.give(workOn(6), 'better')
    await until(() => rig.jobs.length > 1)
    const [job] = rig.jobs
    const share = rig.nextShare(job)
    expect((await rig.submit(job.id, share)).result).toBe(true)
    await until(() => source.submitted.length > 0)
    expect(decodeWork(source.submitted[0])).toMatchObject({ chainId: 3, target: MAX_TARGET / 50n })
    // With the second share the server forgets the nonces of both.
    expect((await submitted(rig, 0)).result).toBe(true)
    for (let i = 0; i < 20; i++) expect(await rig.submit(job.id, share)).toMatchObject(STALE)
    expect(source.submitted).toHaveLength(1)
    expect((await end()).solutions).toMatchObject({ accepted: 1 })
  })
})

it('a share of an unknown job is stale, whatever the id', async () => {
  const { engine, port } = await startedServer({ badUntilBan: 1 })
  await engine.setWork(workOf(1, UNREACHABLE))
  const rig = await loggedIn(port)
  await until(() => rig.jobs.length > 0)
  for (const id of ['xyz', `${rig.jobs[0].id}z`, 'job 7', '-1', '0x1', ' ', 'x'.repeat(1000)]) {
    expect(await rig.submit(id, '1')).toMatchObject(STALE)
  }
  expect(engine.status().shares).toMatchObject({ stale: 7, malformed: 0 })
})

describe('the list of jobs', () => {
  const newJobs = (random = 0) =>
    new Jobs(
      () => random,
      () => 0,
    )
  const freshOf = (jobs: Jobs) => {
    const job = jobs.issueFresh()
    if (job === null) throw new Error('there is work')
    return job
  }
  const isClean = ({ line }: RigJob) => JSON.parse(line).params[2]

  it('the list of jobs holds the newest 1,024, and distinguishes evicted jobs from jobs of other servers', () => {
    const jobs = newJobs()
    const first = jobs.begin(workOf(1, EASY))
    const id = (n: number) => (first.number + n).toString(16)
    for (let n = 1; n < 1024; n++) jobs.issueFresh()
    expect(jobs.find(id(0))).toBe(first)
    const next = jobs.issueFresh()
    expect(jobs.find(id(0))).toBe(null)
    expect(jobs.find(id(1))?.number).toEqual(first.number + 1)
    expect(jobs.find(id(1024))).toBe(next)
    expect([-1, 0, 1024, 1025].map((n) => jobs.hadId(id(n)))).toEqual([false, true, true, false])
  })

  it('the list of jobs begins with another number in each run, since rigs may still have jobs of the run before', () => {
    const numbers = [0.25, 0.5, 0.75].map((random) => newJobs(random).begin(workOf(1, EASY)).number)
    expect(new Set(numbers).size).toBe(3)
  })

  it('the list of jobs begins a clean job if the same work has another target', () => {
    const jobs = newJobs()
    const work = workOf(1, EASY)
    const steps = [work, { ...work, sequence: 2, target: work.target / 2n }]
    expect([...steps, steps[1]].map((each) => isClean(jobs.begin(each)))).toEqual([true, true, false])
  })

  it('the list of jobs has no current job while there is no work, and one again with the next work', () => {
    const jobs = newJobs()
    jobs.begin(workOf(1, EASY))
    jobs.endWork()
    const again = freshOf(jobs)
    expect(jobs.latest).toBe(again)
    expect(jobs.current).toBeNull()
    const next = jobs.begin(workOf(2, EASY))
    expect(jobs.current).toBe(next)
    expect(jobs.latest).toBe(next)
  })

  it('the list of jobs loses the shares of its oldest job first, whatever the order in which they came', () => {
    const jobs = newJobs()
    const list = [jobs.begin(workOf(1, EASY)), ...Array.from({ length: 16 }, () => freshOf(jobs))]
    const seen = new SeenShares(10)
    for (const job of [...list.slice(16), ...list.slice(0, 16)]) seen.add(job, 7)
    expect([0, 1, 16].map((n) => seen.sharesOf(list[n])?.has(7))).toEqual([undefined, true, true])
  })
})
