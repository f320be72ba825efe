/**
 * The numbered sessions of makers' rigs, on virtual time: each is a few lines that a rig sends, or a model of it.
 * Sessions 13 to 16 (pools, accounts, and proxies with a byte of nonce1) are with the tests of those parts.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { memorySockets } from '../../../bench/rigs/memory-socket.ts'
import { modelHash, modelNonce } from '../../../bench/rigs/model-hash.ts'
import { models } from '../../../bench/rigs/models.ts'
import { settle, VirtualClock } from '../../../bench/rigs/virtual-clock.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { noWork } from '../../../src/mining/engine/engine.ts'
import { LineSplitter } from '../../../src/mining/stratum/lines.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { expectUseful, expectWell, mostInSecond, sceneOf } from './scenes.ts'
import { startedServer, stopServers, workOf } from './servers.ts'

interface Told {
  readonly id: unknown
  readonly method?: string
  readonly params: readonly unknown[]
  readonly result?: unknown
  readonly error?: readonly unknown[] | null
}

/** A server with work whose shares encode their difficulty, and rigs that are a few lines each. */
async function serverFor(difficulty: number | null = null, random = () => 0.5) {
  const clock = new VirtualClock()
  const started = await startedServer({}, { clock, difficulty, random, shareHash: modelHash })
  onTestFinished(stopServers)
  const { engine } = started
  const work = workOf(1, UNREACHABLE)
  await engine.setWork(work)
  const connect = () => {
    const { rig, server } = memorySockets()
    const lines: Told[] = []
    const splitter = new LineSplitter(64 * 1024)
    rig.on('data', (bytes) => {
      for (const line of splitter.push(bytes) ?? []) lines.push(JSON.parse(line))
    })
    engine.accept(server)
    let isClosed = false
    rig.on('close', () => {
      isClosed = true
    })
    const say = async (...messages: readonly object[]) => {
      rig.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
      await settle()
    }
    const named = (method: string) => lines.filter((line) => line.method === method)
    const answerTo = (id: unknown) => lines.find((line) => line.id === id && line.method === undefined)
    /** Submits a share worth `least` hashes; resolves with the code of its answer, 0 if accepted. */
    const share = async (
      job: string,
      least: number,
      { id = 100 + lines.length, user = 'k:abc.rig', extra = [] } = {},
    ) => {
      const { nonce2 } = modelNonce(least, Math.random)
      await say({ id, method: 'mining.submit', params: [user, job, nonce2, ...extra] })
      const { result, error } = answerTo(id) as Told
      return result === true ? 0 : error?.[0]
    }
    return {
      lines,
      say,
      share,
      answerTo,
      isClosed: () => isClosed,
      jobs: () => named('mining.notify').map(({ params }) => String(params[0])),
      headers: () => named('mining.notify').map(({ params }) => String(params[1])),
      difficulties: () =>
        named('mining.set_target').map(({ params }) => Number(MAX_TARGET) / Number(BigInt(`0x${params[0]}`))),
    }
  }
  const loggedIn = async (agent: string, user = 'k:abc.rig') => {
    const rig = connect()
    await rig.say({ id: 1, method: 'mining.subscribe', params: [agent, null] })
    await rig.say({ id: 2, method: 'mining.authorize', params: [user, 'x'] })
    return rig
  }
  return { ...started, clock, work, connect, loggedIn }
}

it('1: a KA3 logs in: the answer first, four digits of nonce1, a target of 64 digits before its job', async () => {
  const { connect } = await serverFor(null, () => 0x0a07 / 2 ** 16)
  const rig = connect()
  await rig.say({ id: 1, method: 'mining.subscribe', params: ['GodMiner/2.0.0', null] })
  expect(rig.lines).toEqual([{ id: 1, result: [null, '0a07', 6], error: null }])
  await rig.say({ id: 2, method: 'mining.authorize', params: ['k:abc.ka3', 'x'] })
  const [, authorized, target, job] = rig.lines
  expect(rig.lines).toHaveLength(4)
  expect(authorized).toEqual({ id: 2, result: true, error: null })
  expect(target).toMatchObject({ method: 'mining.set_target', params: [expect.stringMatching(/^[0-9a-f]{64}$/)] })
  expect(job).toMatchObject({ method: 'mining.notify' })
  // The real rig ignores the answer to its first share and continues.
  expect(await rig.share(rig.jobs()[0], 2 ** 48, { id: 3 })).toBe(0)
  expect(await rig.share(rig.jobs()[0], 2 ** 48, { id: 4 })).toBe(0)
})

it('2: a KA3 that counts to 256 over three boards uses its hashrate well, and submits nothing twice', async () => {
  const scene = await sceneOf({ rigs: [models.ka3] }, 21)
  await expectUseful(scene)
  expect(scene.rig.answers.get(22)).toBeUndefined()
})

it.each([31, 32, 33])(
  '3: a KA3 submits a share every 5 to 20 s after a minute, and is never silent (seed %d)',
  async (seed) => {
    const scene = await sceneOf({ rigs: [models.ka3] }, seed)
    await scene.pass(60)
    const before = scene.rig.shareTimes.length
    await scene.pass(1200)
    const meanS = 1200 / (scene.rig.shareTimes.length - before)
    expect(meanS).toBeGreaterThan(5)
    expect(meanS).toBeLessThan(20)
    expect(mostInSecond(scene.rig)).toBeLessThan(100)
    expectWell(scene)
  },
)

it('4: a KA3 stays while the node is down for five minutes', async () => {
  const scene = await sceneOf({ rigs: [models.ka3] }, 41)
  await scene.pass(60)
  scene.rest()
  await scene.pass(300)
  scene.work('newCut')
  await scene.pass(60)
  expectWell(scene)
  expect(scene.rig.useful).toBeGreaterThan(0.9999)
})

it('5: a spare KA3 that begins after an hour submits fewer than 100 shares in ten seconds', async () => {
  const scene = await sceneOf({ rigs: [models.ka3] }, 51)
  scene.rig.pause()
  await scene.pass(3_600)
  scene.rig.begin()
  await scene.pass(10)
  expect(scene.rig.shareTimes.length).toBeGreaterThan(0)
  expect(scene.rig.shareTimes.length).toBeLessThan(100)
})

it('6: bfgminer first suggests a target with a null id, and the answer to subscribe is the first line', async () => {
  const { connect } = await serverFor()
  const rig = connect()
  const target = (MAX_TARGET >> 44n).toString(16)
  await rig.say({ id: null, method: 'mining.suggest_target', params: [target] })
  await rig.say({ id: 0, method: 'mining.subscribe', params: ['bfgminer/5.4.2'] })
  expect(rig.lines).toMatchObject([{ id: 0, result: [null, expect.any(String), 6] }])
  await rig.say({ id: 'auth', method: 'mining.authorize', params: ['k:abc.rig', 'x'] })
  await rig.say({ id: 'xnsub', method: 'mining.extranonce.subscribe', params: [] })
  expect([rig.answerTo('auth')?.result, rig.answerTo('xnsub')?.result]).toEqual([true, true])
  expect(rig.difficulties()).toEqual([2 ** 44])
})

it.each([['0'], [7], [null]])(
  '7: a rig of Goldshell adds the chain (%j) to its shares, which are accepted',
  async (chain) => {
    const { loggedIn } = await serverFor()
    const rig = await loggedIn('kdaminer-v1.0.0')
    expect(await rig.share(rig.jobs()[0], 2 ** 44, { extra: [chain] as never })).toBe(0)
  },
)

describe('8: a BM-K1', () => {
  it.each([[['BM-K1']], [[]]])('a BM-K1 subscribes with %j and is served', async (params) => {
    const { connect } = await serverFor()
    const rig = connect()
    await rig.say({ id: 1, method: 'mining.subscribe', params })
    await rig.say({ id: 2, method: 'mining.authorize', params: ['k:abc.rig'] })
    expect(rig.lines.map(({ id, method }) => method ?? id)).toEqual([1, 2, 'mining.set_target', 'mining.notify'])
  })

  it('a BM-K1 authorizes first and is served', async () => {
    const { connect } = await serverFor()
    const rig = connect()
    await rig.say({ id: 1, method: 'mining.authorize', params: ['k:abc.rig', 'x'] })
    await rig.say({ id: 2, method: 'mining.subscribe', params: ['BM-K1'] })
    expect(rig.lines.map(({ id, method }) => method ?? id)).toEqual([1, 2, 'mining.set_target', 'mining.notify'])
  })
})

describe('9: a target changes in the middle of a job', () => {
  it.each([
    ['to an easier one', 2 ** 44, 2 ** 40],
    ['to a harder one', 2 ** 40, 2 ** 44],
  ])(
    "a target that changes in the middle of a job %s leaves shares at both accepted for five seconds, and credit follows the job's difficulty",
    async (_, from, to) => {
      const { clock, engine, loggedIn } = await serverFor(from)
      const rig = await loggedIn('kdaminer-v1.0.0')
      await rig.say({ id: 3, method: 'mining.suggest_difficulty', params: [to] })
      await clock.pass(100)
      expect(rig.difficulties()).toEqual([from, to])
      const [old] = rig.jobs()
      const answers = [await rig.share(old, from), await rig.share(old, to)]
      await clock.pass(4_500)
      answers.push(await rig.share(old, to))
      expect(answers).toEqual([0, 0, 0])
      // Shares at the easier target count only if they happen to meet the target of the job.
      expect(engine.hashes() % from).toBe(0)
      expect(engine.hashes()).toBeGreaterThanOrEqual(from)
      expect(engine.hashes()).toBeLessThanOrEqual(3 * from)
    },
  )

  it('a target that gets harder in the middle of a job and is applied late makes shares low, and the rig is not banned', async () => {
    const { clock, engine, loggedIn, warnings } = await serverFor(2 ** 40)
    const rig = await loggedIn('kdaminer-v1.0.0')
    await rig.say({ id: 3, method: 'mining.suggest_difficulty', params: [2 ** 56] })
    await clock.pass(100)
    const [, job] = rig.jobs()
    for (let n = 0; n < 150; n++) expect(await rig.share(job, 2 ** 40)).toBe(23)
    expect(rig.isClosed()).toBe(false)
    expect(warnings).toEqual([])
    expect(engine.status().shares.low).toBe(150)
    await clock.pass(5_001)
    // From now the shares count against the rig.
    for (let n = 0; n < 150 && !rig.isClosed(); n++) await rig.share(job, 2 ** 40, { id: 1000 + n }).catch(() => 0)
    await settle()
    expect(rig.isClosed()).toBe(true)
    expect(warnings).toHaveLength(1)
  })
})

it('10: pending shares at the old difficulty cause no second jump', async () => {
  const { clock, engine, loggedIn } = await serverFor(2 ** 32)
  const rig = await loggedIn('miner/1.0')
  const [first] = rig.jobs()
  for (let n = 0; n < 9; n++) {
    await rig.share(first, 2 ** 32)
    await clock.pass(1)
  }
  await clock.pass(25)
  const told = rig.difficulties()
  expect(told).toHaveLength(2)
  expect(told[1]).toBeGreaterThan(2 ** 40)
  for (let n = 0; n < 300; n++) expect(await rig.share(first, 2 ** 32)).toBe(0)
  await clock.pass(3_000)
  expect(rig.difficulties()).toEqual(told)
  // The shares counted by the difficulty of their job, and none was delayed by the request budget.
  expect(engine.hashes()).toBe(309 * 2 ** 32)
})

it('11: no header comes under two ids, and the same share of one id is a duplicate', async () => {
  const { engine, work, loggedIn, clock } = await serverFor()
  const rig = await loggedIn('GodMiner/2.0.0')
  for (const sequence of [2, 3]) await engine.setWork({ ...work, sequence, job: `again ${sequence}` })
  await clock.pass(2_000)
  const headers = rig.headers()
  expect(headers.length).toBeGreaterThanOrEqual(6)
  expect(new Set(headers).size).toBe(headers.length)
  const { nonce2 } = modelNonce(2 ** 48, Math.random)
  const jobs = rig.jobs()
  const params = ['k:abc.rig', jobs.at(-1), nonce2]
  await rig.say({ id: 50, method: 'mining.submit', params }, { id: 51, method: 'mining.submit', params })
  expect(rig.answerTo(50)?.result).toBe(true)
  expect(rig.answerTo(51)?.error?.[0]).toBe(22)
  // With another header it is another share.
  await rig.say({ id: 52, method: 'mining.submit', params: ['k:abc.rig', jobs.at(-2), nonce2] })
  expect(rig.answerTo(52)?.result).toBe(true)
})

it('12: shares of three users on one connection count for the user that each names', async () => {
  const { engine, loggedIn } = await serverFor()
  const rig = await loggedIn('farm-proxy/1.0', 'k:one.a')
  for (const user of ['k:two.b', 'k:three.c'])
    await rig.say({ id: user, method: 'mining.authorize', params: [user, 'x'] })
  for (const user of ['k:one.a', 'k:two.b', 'k:three.c', 'k:three.c']) {
    expect(await rig.share(rig.jobs()[0], 2 ** 44, { user })).toBe(0)
  }
  const counted = engine.status().users.map(({ user, shares }) => [user, shares.accepted])
  expect(counted).toEqual([
    ['k:one', 1],
    ['k:two', 1],
    ['k:three', 2],
  ])
})

it('17: a server whose node is down repeats the last job with a new header, and sends work of another node at once', async () => {
  const { clock, engine, loggedIn } = await serverFor()
  const rig = await loggedIn('GodMiner/2.0.0')
  await engine.setWork(noWork(2))
  await clock.pass(30_000)
  const headers = rig.headers()
  expect(headers.length).toBeGreaterThan(30)
  expect(new Set(headers).size).toBe(headers.length)
  await engine.setWork(workOf(3, UNREACHABLE))
  await settle()
  expect(rig.headers()).toHaveLength(headers.length + 1)
  expect(await rig.share(rig.jobs().at(-1) as string, 2 ** 48)).toBe(0)
})

it.each([0, 7, 0x0a, 0xff, 0x0fff])('18: nonce1 %d has four digits', async (nonce1) => {
  const { connect } = await serverFor(null, () => nonce1 / 2 ** 16)
  const rig = connect()
  await rig.say({ id: 1, method: 'mining.subscribe', params: ['GodMiner/2.0.0', null] })
  expect(rig.lines[0].result).toEqual([null, nonce1.toString(16).padStart(4, '0'), 6])
})
