/** The share difficulty of a rig: at first, while it works, and when it comes back. */
import { afterEach, describe, expect, it } from 'vitest'
import { targetWords } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { Jobs } from '../../../src/mining/engine/stratum/jobs.ts'
import { ShareDifficulty, startDifficulty } from '../../../src/mining/engine/stratum/share-difficulty.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import type { Rig } from '../../support/stratum-rig.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

const difficultyOf = (rig: Rig) => Number(MAX_TARGET / (rig.jobs.at(-1)?.target ?? 1n))

describe('the first shares', () => {
  it.each([
    ['GodMiner/2.0.1', 2 ** 48],
    ['ckbminer-v1.0.0', 2 ** 48],
    ['kdaminer-v1.0.0', 2 ** 44],
    ['bfgminer/5.4.2', 2 ** 44],
    ['iBeLink BM-K1+', 2 ** 44],
    ['cgminer/4.11.1', 2 ** 44],
    ['sgminer/5.5', 2 ** 44],
    ['noncerpro/2.2', 2 ** 32],
    ['', 2 ** 32],
  ])('the first shares of %j take %d hashes', async (agent, difficulty) => {
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
  ])('the first shares are as hard as a rig suggests that %s, suggests and then %s', async (first, _, begin) => {
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

  it("the first shares are listed with the difficulty of the rig, which is never above a block's", async () => {
    const { engine, port } = await startedServer({}, { difficulty: 2 ** 20 })
    await engine.setWork(workOf(1, 4096n))
    const rig = await loggedIn(port, 'k:abc.w')
    await until(() => rig.jobs.length > 0)
    const listed = () => [...engine.recorder.accounts.connections.values()].flat().map(({ difficulty }) => difficulty)
    await until(() => listed()[0] !== null)
    expect(listed()[0]).toBe(4096)
    await engine.setWork(workOf(2, UNREACHABLE))
    await until(() => listed()[0] === 2 ** 20)
  })

  it('the first shares have the suggested difficulty within bounds, before it authorizes and after', async () => {
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

  it('the first shares are never harder than a block, whose target differs between chains', async () => {
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

describe('a hint', () => {
  it.each([
    ['in the password', 'k:abc.rig', 'd=1.1e9', 2 ** 30],
    ['in the password, after a comma', 'k:abc.rig', 'x,diff=2^34', 2 ** 34],
    ['after the user', 'k:abc.rig+2^31', 'x', 2 ** 31],
    ['that is not a number, which changes nothing', 'k:abc.rig', 'd=much', 2 ** 44],
    ['that is too small for one, and is the name', 'k:abc.rig+7', 'x', 2 ** 44],
    ['that is just too small for one', 'k:abc.rig+65535', 'x', 2 ** 44],
    ['of 0, which changes nothing', 'k:abc.rig', 'd=0', 2 ** 44],
    ['that is too large for a number, which changes nothing', 'k:abc.rig', 'd=1e999', 2 ** 44],
  ])('a log-in with a hint %s gets the right difficulty', async (_, user, password, difficulty) => {
    const { engine, port } = await startedServer({}, { difficulty: null })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await connected(port)
    await rig.subscribe('kdaminer-v1.0.0')
    expect(await rig.ask('mining.authorize', [user, password])).toMatchObject({ result: true })
    await until(() => rig.jobs.length > 0)
    expect(difficultyOf(rig)).toBe(difficulty)
    const name = user.includes('+2^') ? 'rig' : user.slice('k:abc.'.length)
    expect(engine.devices()).toMatchObject([{ device: `rig:${name}` }])
  })

  it('a hint is a floor too: silence does not lower the difficulty below it', () => {
    const difficulty = new ShareDifficulty(2 ** 44, 0, 'kdaminer')
    difficulty.suggest(3e9, 0)
    for (let ms = 0; ms < 3_600_000; ms += 1000) difficulty.adjust(ms, 2 ** 60)
    expect(difficulty.wanted).toBe(2 ** 31)
  })
})

describe('a rig that is faster than assumed', () => {
  it('a rig that is faster than assumed gets a higher difficulty after eight shares; shares of earlier jobs keep theirs', async () => {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { difficulty: 200, clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'abc.fast')
    await until(() => rig.jobs.length === 1)
    const [first] = rig.jobs
    for (let i = 0; i < 7; i++) expect((await rig.submit(first.id, rig.nextShare(first))).result).toBe(true)
    await clock.pass(3_000)
    for (let i = 0; i < 2; i++) expect((await rig.submit(first.id, rig.nextShare(first))).result).toBe(true)
    // A job that was sent earlier would have arrived before these answers.
    expect(rig.jobs).toHaveLength(1)
    await clock.pass(1_100)
    await until(() => rig.jobs.length === 2)
    // At least 65,536, however far the jump is.
    expect(difficultyOf(rig)).toBe(2 ** 16)
    expect(rig.jobs[1].clean).toBe(false)
    expect((await rig.submit(first.id, rig.nextShare(first))).result).toBe(true)
    expect((await rig.submit(rig.jobs[1].id, rig.badShare(rig.jobs[1]))).error?.code).toBe(23)
    expect(engine.hashes()).toBe(10 * 200)
  })

  it('a rig that is faster than assumed has no second step for shares of earlier jobs', async () => {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { difficulty: 200, clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'abc.fast')
    await until(() => rig.jobs.length === 1)
    const [first] = rig.jobs
    for (let i = 0; i < 9; i++) await rig.submit(first.id, rig.nextShare(first))
    await clock.pass(100)
    await until(() => rig.jobs.length === 2)
    const after = difficultyOf(rig)
    for (let i = 0; i < 8; i++) expect((await rig.submit(first.id, rig.nextShare(first))).result).toBe(true)
    await clock.pass(5_000)
    await rig.ask('mining.ping', [])
    expect(difficultyOf(rig)).toBe(after)
  })

  it('a rig that is faster than assumed starts at its old difficulty when it comes back', async () => {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { difficulty: 2 ** 18, clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'abc.back')
    await rig.ask('mining.suggest_difficulty', [2 ** 30])
    const named = () => engine.devices().find(({ device }) => device === 'rig:back')
    // The server adjusts difficulties once a second.
    await clock.pass(1_000)
    rig.close()
    await until(() => named()?.state === 'unable')
    const again = await loggedIn(port, 'abc.back')
    await until(() => again.jobs.length === 1)
    expect(difficultyOf(again)).toBe(2 ** 30)
  })
})

it('a slow rig gets easier shares after 30 s', () => {
  const difficulty = new ShareDifficulty(2 ** 30, 0)
  const job = new Jobs(
    () => 0,
    () => 0,
  ).begin(workOf(1, UNREACHABLE))
  difficulty.nextTarget(job, 0)
  expect(difficulty.adjust(29_000, job.difficulty)).toBe(false)
  expect(difficulty.adjust(30_000, job.difficulty)).toBe(true)
  expect(difficulty.wanted).toBe(2 ** 27)
  expect(difficulty.nextTarget({ ...job, number: job.number + 1 }, 30_000)).toBe(MAX_TARGET >> 27n)
  expect(difficulty.targetFor(job)?.difficulty).toBe(2 ** 30)
})

describe('a change of target while the rig has a job', () => {
  /** A rig with one difficulty for its first job and another for its second. */
  async function changed(from: number, to: number) {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { difficulty: from, clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length === 1)
    void rig.ask('mining.suggest_difficulty', [to])
    await clock.pass(100)
    await until(() => rig.jobs.length === 2)
    return { clock, engine, rig, targets: rig.jobs.map(({ target }) => target) }
  }

  /** A share of the first job that meets one target and misses the other. */
  function between(rig: Rig, target: bigint, not: bigint): string {
    for (;;) {
      const nonce2 = rig.nextShare(rig.jobs[0], target)
      if (!rig.lastMeets(rig.jobs[0], not)) return nonce2
    }
  }

  it("a change of target while the rig has a job to an easier one: both hold for that job for five seconds, and credit follows the job's difficulty", async () => {
    const { clock, engine, rig, targets } = await changed(2 ** 18, 2 ** 16)
    const [job] = rig.jobs
    expect(await rig.submit(job.id, between(rig, targets[1], targets[0]))).toMatchObject({ result: true })
    expect(engine.hashes()).toBe(0)
    expect(await rig.submit(job.id, rig.nextShare(job))).toMatchObject({ result: true })
    expect(engine.hashes()).toBe(2 ** 18)
    await clock.pass(5_001)
    expect((await rig.submit(job.id, between(rig, targets[1], targets[0]))).error?.code).toBe(23)
    expect(engine.status().shares).toMatchObject({ accepted: 2, low: 1 })
  })

  it('a share of a job with a harder target counts by the difficulty of that job after the target changes', async () => {
    const { engine, rig, targets } = await changed(500, 2 ** 16)
    const [job] = rig.jobs
    expect(await rig.submit(job.id, between(rig, targets[0], targets[1]))).toMatchObject({ result: true })
    expect(await rig.submit(job.id, rig.nextShare(job, targets[1]))).toMatchObject({ result: true })
    expect(engine.hashes()).toBe(1000)
  })
})

describe('the difficulty of a rig that comes back', () => {
  const job = () =>
    new Jobs(
      () => 0,
      () => 0,
    ).begin(workOf(1, UNREACHABLE))

  it('the difficulty of a rig that comes back is the one that fitted before it fell silent', () => {
    const difficulty = new ShareDifficulty(2 ** 48, 0, 'GodMiner')
    const first = job()
    difficulty.nextTarget(first, 0)
    difficulty.count(first, targetWords(MAX_TARGET >> 48n), 1_000)
    for (let ms = 1_000; ms < 300_000; ms += 1_000) difficulty.adjust(ms, 2 ** 60)
    expect(difficulty.wanted).toBe(2 ** 40)
    expect(difficulty.lasting).toBe(2 ** 48)
  })

  it('a rig that comes back keeps the difficulty that its silence led to, once it has sent a share at it', () => {
    const difficulty = new ShareDifficulty(2 ** 48, 0, 'GodMiner')
    const first = job()
    difficulty.nextTarget(first, 0)
    difficulty.count(first, targetWords(MAX_TARGET >> 48n), 1_000)
    difficulty.adjust(1_000, 2 ** 60)
    difficulty.adjust(31_000, 2 ** 60)
    const second = { ...first, number: first.number + 1 }
    difficulty.nextTarget(second, 31_000)
    difficulty.count(second, targetWords(MAX_TARGET >> 48n), 32_000)
    difficulty.adjust(32_000, 2 ** 60)
    expect(difficulty.wanted).toEqual(2 ** 47)
    expect(difficulty.lasting).toEqual(2 ** 47)
  })

  it('the difficulty of a rig that comes back is the one that it suggested', () => {
    const difficulty = new ShareDifficulty(2 ** 48, 0)
    difficulty.suggest(2 ** 50, 0)
    expect(difficulty.lasting).toBe(2 ** 50)
  })
})

describe('the difficulty of a rig', () => {
  const job = () =>
    new Jobs(
      () => 0,
      () => 0,
    ).begin(workOf(1, UNREACHABLE))

  it('a rig that suggests a difficulty keeps it, whatever its earlier shares show', () => {
    const difficulty = new ShareDifficulty(2 ** 32, 0)
    const first = job()
    difficulty.nextTarget(first, 0)
    for (let n = 0; n < 9; n++) difficulty.count(first, targetWords(MAX_TARGET >> 32n), n)
    difficulty.suggest(2 ** 20, 10)
    expect(difficulty.adjust(1_000, 2 ** 60)).toBe(false)
    expect(difficulty.wanted).toEqual(2 ** 20)
  })

  it('the difficulty of a rig does not follow from the shares at the earlier target while the rig waits for another one', () => {
    const difficulty = new ShareDifficulty(2 ** 32, 0)
    const first = job()
    difficulty.nextTarget(first, 0)
    for (let n = 0; n < 9; n++) difficulty.count(first, targetWords(MAX_TARGET >> 32n), n)
    expect(difficulty.adjust(10, 2 ** 60)).toBe(true)
    const { wanted } = difficulty
    for (let n = 1; n <= 9; n++) difficulty.count(first, targetWords(MAX_TARGET >> 32n), 100 * n)
    expect(difficulty.adjust(1_000, 2 ** 60)).toBe(false)
    expect(difficulty.wanted).toEqual(wanted)
  })

  it('the difficulty of a rig may change above that of blocks without another target', () => {
    const difficulty = new ShareDifficulty(2 ** 50, 0)
    difficulty.nextTarget(job(), 0)
    expect(difficulty.adjust(30_000, 2 ** 40)).toBe(false)
    expect(difficulty.wanted).toEqual(2 ** 47)
  })

  it('the difficulty of a rig that submits shares of an earlier job stays, because it is not silent', () => {
    const difficulty = new ShareDifficulty(2 ** 30, 0)
    const first = job()
    difficulty.nextTarget(first, 0)
    difficulty.adjust(30_000, 2 ** 60)
    difficulty.nextTarget({ ...first, number: first.number + 1 }, 30_000)
    difficulty.count(first, targetWords(MAX_TARGET >> 30n), 50_000)
    expect(difficulty.adjust(79_999, 2 ** 60)).toBe(false)
    expect(difficulty.wanted).toEqual(2 ** 27)
    expect(difficulty.adjust(80_000, 2 ** 60)).toBe(true)
    expect(difficulty.wanted).toEqual(2 ** 26)
  })
})
