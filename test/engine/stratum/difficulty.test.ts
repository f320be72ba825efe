/** How hard the shares of a rig are: at first, as it goes on, and when it comes back. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Rig } from '../../../bench/stratum-rig.ts'
import { UNREACHABLE } from '../../../bench/work.ts'
import { readI64LE } from '../../../src/core/bytes.ts'
import { MAX_TARGET } from '../../../src/core/target.ts'
import { Jobs } from '../../../src/engine/stratum/jobs.ts'
import { ShareDifficulty, startDifficulty } from '../../../src/engine/stratum/share-difficulty.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

const difficultyOf = (rig: Rig) => Number(MAX_TARGET / (rig.jobs.at(-1)?.target ?? 1n))

describe('the first shares', () => {
  it.each([
    ['kdaminer-v1.0.0', 2 ** 40],
    ['iBeLink BM-K1+', 2 ** 40],
    ['cgminer/4.11.1', 2 ** 40],
    ['noncerpro/2.2', 2 ** 28],
    ['', 2 ** 28],
  ])('of %j take %d hashes', async (agent, difficulty) => {
    const { engine, port } = await startedServer({}, { difficulty: null })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'abc', agent)
    await until(() => rig.jobs.length > 0)
    expect(difficultyOf(rig) / difficulty).toBeCloseTo(1)
    expect(startDifficulty(agent)).toBe(difficulty)
    const other = await connected(port)
    await other.authorize('def')
    await other.subscribe(agent)
    await until(() => other.jobs.length > 0)
    expect(other.jobs[0].target).toBe(rig.jobs[0].target)
  })

  it.each([
    ['subscribes', 'authorizes', async (rig: Rig) => void (await rig.subscribe('kdaminer-v1.0.0'))],
    ['authorizes', 'subscribes', async (rig: Rig) => void (await rig.authorize())],
  ])('are as hard as a rig suggests that %s, suggests and then %s', async (first, _, begin) => {
    const { engine, port } = await startedServer({}, { difficulty: null })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await connected(port)
    await begin(rig)
    await rig.ask('mining.suggest_difficulty', [2 ** 20])
    if (first === 'subscribes') await rig.authorize()
    else await rig.subscribe('kdaminer-v1.0.0')
    await until(() => rig.jobs.length > 0)
    expect(difficultyOf(rig)).toBe(2 ** 20)
  })

  it('are as hard as the rig suggests, within bounds, before it authorizes and after', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length === 1)
    await rig.ask('mining.suggest_difficulty', [2 ** 20])
    await until(() => rig.jobs.length === 2)
    expect(difficultyOf(rig)).toBe(2 ** 20)
    await rig.ask('mining.suggest_target', [(MAX_TARGET >> 21n).toString(16)])
    await until(() => rig.jobs.length === 3)
    expect(difficultyOf(rig)).toBe(2 ** 21)
    await rig.ask('mining.suggest_difficulty', [1])
    await until(() => rig.jobs.length === 4)
    expect(difficultyOf(rig)).toBe(2 ** 16)
    await rig.ask('mining.suggest_difficulty', [1e300])
    await until(() => rig.jobs.length === 5)
    expect(difficultyOf(rig)).toBe(2 ** 56)
  })

  it('are never harder than a block, whose target differs between chains', async () => {
    const { engine, port } = await startedServer({}, { difficulty: 10_000 })
    const rig = await loggedIn(port)
    const told: number[] = []
    for (const [index, difficulty] of [500n, 700n, UNREACHABLE, 600n].entries()) {
      await engine.setWork(workOf(index, difficulty))
      await until(() => rig.jobs.length === index + 1)
      told.push(difficultyOf(rig))
    }
    expect(told).toEqual([500, 700, 10_000, 600])
  })
})

describe('a rig that is faster than thought', () => {
  it('gets harder shares after eight; those of jobs before count as they were told', async () => {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { difficulty: 200, clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'abc.fast')
    await until(() => rig.jobs.length === 1)
    const [first] = rig.jobs
    for (let i = 0; i < 7; i++) expect((await rig.submit(first.id, rig.nextShare(first))).result).toBe(true)
    await clock.pass(3_000)
    for (let i = 0; i < 2; i++) expect((await rig.submit(first.id, rig.nextShare(first))).result).toBe(true)
    // A job before these answers would have come before them.
    expect(rig.jobs).toHaveLength(1)
    await clock.pass(1_100)
    await until(() => rig.jobs.length === 2)
    // At least 65,536, however far that is.
    expect(difficultyOf(rig)).toBe(2 ** 16)
    expect(rig.jobs[1].clean).toBe(false)
    expect((await rig.submit(first.id, rig.nextShare(first))).result).toBe(true)
    expect((await rig.submit(rig.jobs[1].id, rig.badShare(rig.jobs[1]))).error?.code).toBe(23)
    expect(engine.hashes()).toBe(10 * 200)
  })

  it('begins where it was when it comes back', async () => {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { difficulty: 2 ** 18, clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'abc.back')
    await rig.ask('mining.suggest_difficulty', [2 ** 30])
    const named = () => engine.devices().find(({ device }) => device === 'rig:back')
    // It is looked at once a second.
    await clock.pass(1_000)
    rig.close()
    await until(() => named()?.state === 'unable')
    const again = await loggedIn(port, 'abc.back')
    await until(() => again.jobs.length === 1)
    expect(difficultyOf(again)).toBe(2 ** 30)
  })
})

it('a slow rig gets easier shares after 40 s', () => {
  const difficulty = new ShareDifficulty(2 ** 30, 0)
  const job = new Jobs(
    () => 0,
    () => 0,
  ).begin(workOf(1, UNREACHABLE))
  difficulty.tell(job)
  expect(difficulty.adjust(39_000, job.difficulty)).toBe(false)
  expect(difficulty.adjust(40_000, job.difficulty)).toBe(true)
  expect(difficulty.wanted).toBe(2 ** 27)
  expect(difficulty.tell({ ...job, number: job.number + 1 })).toBe(MAX_TARGET >> 27n)
  expect(difficulty.heldFor(job)?.difficulty).toBe(2 ** 30)
})

it('a rig that may have tried all nonces of its job gets a fresh one every second, and no other rig does', async () => {
  const clock = new VirtualClock()
  const { engine, port } = await startedServer({ noncesPerJob: 50 }, { difficulty: 200, clock })
  await engine.setWork(workOf(1, UNREACHABLE))
  const [fast, slow] = [await loggedIn(port, 'abc.fast'), await loggedIn(port, 'abc.slow')]
  await until(() => fast.jobs.length === 1 && slow.jobs.length === 1)
  // 1,000 hashes are 100 a second.
  for (let i = 0; i < 5; i++) await fast.submit(fast.jobs[0].id, fast.nextShare(fast.jobs[0]))
  for (const jobs of [2, 3]) {
    await clock.pass(999)
    // Jobs come before later answers.
    await fast.ask('mining.ping', [])
    expect(fast.jobs).toHaveLength(jobs - 1)
    await clock.pass(jobs === 2 ? 101 : 1)
    await until(() => fast.jobs.length === jobs)
  }
  await slow.ask('mining.ping', [])
  const times = fast.jobs.map(({ header }) => readI64LE(header, 8))
  expect(times).toEqual([times[0], times[0] + 1n, times[0] + 2n])
  expect(slow.jobs).toHaveLength(1)
})
