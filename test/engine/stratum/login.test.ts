/** How rigs of each maker log in and submit shares, line by line. */
import { afterEach, describe, expect, it } from 'vitest'
import { modelHash, modelNonce } from '../../../bench/rigs/model-hash.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { randomFrom } from '../../random.ts'
import type { Rig } from '../../support/stratum-rig.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { MemoryRig } from './memory-rigs.ts'
import { connected, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

/** The lines that a connection receives. */
function told(rig: Rig): {
  readonly lines: Record<string, unknown>[]
  readonly next: (count: number) => Promise<void>
} {
  const lines: Record<string, unknown>[] = []
  let rest = ''
  rig.socket.on('data', (bytes) => {
    const whole = (rest + bytes.toString()).split('\n')
    rest = whole.pop() ?? ''
    for (const line of whole) lines.push(JSON.parse(line))
  })
  return { lines, next: (count) => until(() => lines.length >= count) }
}

async function served() {
  const started = await startedServer()
  await started.engine.setWork(workOf(1, UNREACHABLE))
  const rig = await connected(started.port)
  const { lines, next } = told(rig)
  const say = (...messages: readonly object[]) =>
    rig.socket.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  return { ...started, rig, lines, next, say }
}

describe('a KA3', () => {
  it.each(['GodMiner/2.0.0', 'GodMiner/2.0.1', 'ckbminer-v1.0.0'])(
    'a KA3 as %s reads the answer first, then gets a target of 64 digits before its job',
    async (agent) => {
      const { lines, next, say, rig } = await served()
      say({ id: 1, method: 'mining.subscribe', params: [agent, null] })
      await next(1)
      expect(lines[0]).toEqual({ id: 1, result: [null, expect.stringMatching(/^[0-9a-f]{4}$/), 6], error: null })
      say({ id: 2, method: 'mining.authorize', params: ['k:abc.ka3', 'x'] })
      await next(4)
      expect(lines.slice(1)).toMatchObject([
        { id: 2, result: true, error: null },
        { id: null, method: 'mining.set_target', params: [expect.stringMatching(/^[0-9a-f]{64}$/)] },
        { id: null, method: 'mining.notify', params: [expect.stringMatching(/^.{1,63}$/), expect.any(String), true] },
      ])
      expect(rig.jobs[0].header.length).toBeLessThanOrEqual(288)
    },
  )

  it('a KA3 that misread the first answer and subscribes again gets an answer first, with the same nonce1', async () => {
    const { lines, next, say } = await served()
    say({ id: 1, method: 'mining.subscribe', params: ['GodMiner/2.0.0', null] })
    say({ id: 1, method: 'mining.subscribe', params: ['ckbminer-v1.0.0', null] })
    await next(2)
    expect(lines[1]).toEqual(lines[0])
  })

  it('a KA3 need not read the answers to its shares', async () => {
    const { rig, say, engine } = await served()
    say({ id: 1, method: 'mining.subscribe', params: ['GodMiner/2.0.0', null] })
    say({ id: 2, method: 'mining.authorize', params: ['k:abc.ka3', 'x'] })
    await until(() => rig.jobs.length > 0)
    say({ id: 3, method: 'mining.submit', params: ['k:abc.ka3', rig.jobs[0].id, 'ffffffffffff'] })
    await until(() => engine.status().shares.low === 1)
  })
})

describe('a rig in the manner of bfgminer', () => {
  it('a rig of bfgminer gets no line before the answer to its subscription, and no answer to a null id', async () => {
    const { lines, next, say } = await served()
    say(
      { id: null, method: 'mining.suggest_target', params: ['00000000ffff'.padEnd(64, '0')] },
      { id: null, method: 'mining.capabilities', params: [{ notify: [] }] },
      { id: 0, method: 'mining.subscribe', params: ['bfgminer/5.4.2'] },
    )
    await next(1)
    expect(lines[0]).toMatchObject({ id: 0, error: null, result: [null, expect.anything(), 6] })
  })

  it('a rig of bfgminer gets its ids back, whatever they are', async () => {
    const { lines, next, say } = await served()
    say({ id: 0, method: 'mining.subscribe', params: [] })
    say({ id: 'xnsub', method: 'mining.extranonce.subscribe', params: [] })
    say({ id: 'txlist7', method: 'mining.get_transactions', params: ['7'] })
    say({ id: 'auth', method: 'mining.authorize', params: ['k:abc.kd', 'x'] })
    await next(6)
    expect(lines.map(({ id, method }) => method ?? id)).toEqual([
      0,
      'xnsub',
      'txlist7',
      'auth',
      'mining.set_target',
      'mining.notify',
    ])
    expect(lines[2]).toMatchObject({ result: false, error: [-32601, 'no such method', null] })
  })
})

it.each([
  ['with its agent alone', [['mining.subscribe', ['BM-K1']] as const, ['mining.authorize', ['a.b', 'x']] as const]],
  ['without parameters', [['mining.subscribe', []] as const, ['mining.authorize', ['a.b', 'x']] as const]],
  ['with a session', [['mining.subscribe', ['x', 'f00d']] as const, ['mining.authorize', ['a.b']] as const]],
  ['that authorizes first', [['mining.authorize', ['a.b', 'x']] as const, ['mining.subscribe', ['x']] as const]],
])('a rig %s gets both answers before its target and its job', async (_, asks) => {
  const { lines, next, say } = await served()
  say(...asks.map(([method, params], index) => ({ id: index + 1, method, params })))
  await next(4)
  expect(lines.map(({ id, method }) => method ?? id)).toEqual([1, 2, 'mining.set_target', 'mining.notify'])
})

it.each([
  ['as text', '3'],
  ['as a number', 3],
  ['as a list', [1, 2]],
])('a share with the chain after it, %s, is accepted', async (_, chain) => {
  const { rig, engine } = await served()
  await rig.subscribe('kdaminer-v1.0.0')
  await rig.authorize('k:abc.kd')
  await until(() => rig.jobs.length > 0)
  const [job] = rig.jobs
  const answer = await rig.ask('mining.submit', ['k:abc.kd', job.id, rig.nextShare(job), chain])
  expect(answer).toMatchObject({ result: true, error: null })
  expect(engine.status().shares).toMatchObject({ accepted: 1 })
})

describe('a connection with several users', () => {
  it('a connection with several users counts shares for their users, and for the first if the named one has not authorized', async () => {
    const { rig, engine, port } = await served()
    await rig.subscribe('farm-proxy/1')
    for (const user of ['k:abc.one', 'k:abc.two', 'k:def.three']) await rig.authorize(user)
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    for (const user of ['k:def.three', 'k:abc.two', 'k:abc.two', 'k:nobody.else', 7]) {
      expect(await rig.ask('mining.submit', [user, job.id, rig.nextShare(job)])).toMatchObject({ result: true })
    }
    const accepted = (rows: readonly { readonly shares: { readonly accepted: number } }[]) =>
      rows.map(({ shares }) => shares.accepted)
    expect(accepted(engine.status().rigs)).toEqual([2, 2, 1])
    expect(engine.status().users).toMatchObject([
      { user: 'k:abc', hashes: 4000, sessions: 2 },
      { user: 'k:def', hashes: 1000, sessions: 1 },
    ])
    rig.close()
    await until(() => engine.status().sessions === 0)
    expect(engine.status().rigs.map(({ sessions }) => sessions)).toEqual([0, 0, 0])
    expect(engine.status().users.map(({ sessions }) => sessions)).toEqual([0, 0])
    // The server keeps running.
    expect((await (await connected(port)).subscribe()).error).toBeNull()
  })
})

describe('on virtual time', () => {
  async function virtual(difficulty = 2 ** 32) {
    const clock = new VirtualClock()
    const limits = { requestsPerSecond: 1e6, requestsPerSecondOfAddress: 1e6 }
    const started = await startedServer(limits, { clock, difficulty, shareHash: modelHash })
    await started.engine.setWork(workOf(1, UNREACHABLE))
    const presences = () => [...started.engine.recorder.accounts.connections.values()].flat()
    return { ...started, clock, presences }
  }
  const subscribe = { id: 1, method: 'mining.subscribe', params: ['\u001b[31mred/1', null] }
  const authorize = (user: string) => ({ id: user, method: 'mining.authorize', params: [user, 'x'] })

  it.each([
    ['subscribes', [subscribe, authorize('k:abc.rig')]],
    ['authorizes', [authorize('k:abc.rig'), subscribe]],
  ])('a rig that first %s is listed with its program, in printable text', async (_, messages) => {
    const { engine, presences } = await virtual()
    await new MemoryRig(engine).say(...messages)
    expect(presences()).toMatchObject([{ user: 'k:abc', worker: 'rig', agent: '[31mred/1', address: '10.0.0.1' }])
  })

  it('a rig is listed with its IPv4 address, however the system writes it', async () => {
    const { engine, presences } = await virtual()
    for (const address of ['::FFFF:10.0.0.7', '10.0.0.7', 'fe80::7']) await new MemoryRig(engine, { address }).login()
    expect(presences().map(({ address }) => address)).toEqual(['10.0.0.7', '10.0.0.7', 'fe80::7'])
  })

  it('a rig that authorizes again is one rig, and a connection has at most 1,024', async () => {
    const { engine } = await virtual()
    const rig = await new MemoryRig(engine).login('k:abc.0')
    await rig.say(authorize('k:abc.1'), authorize('k:abc.0'), authorize('k:abc.1'))
    expect(engine.status().users).toMatchObject([{ user: 'k:abc', sessions: 2 }])
    await rig.say(...Array.from({ length: 1030 }, (_, n) => authorize(`k:abc.${n}`)))
    expect(engine.status().users).toMatchObject([{ user: 'k:abc', sessions: 1024 }])
    expect(rig.answerTo('k:abc.1029')?.result).toBe(true)
    await rig.close()
    expect(engine.status().users).toMatchObject([{ user: 'k:abc', sessions: 0 }])
  })

  it.each([
    ['a rig has the hashrate that is measured', [], [expect.any(Number)]],
    ['the rigs of a farm have none, because it is that of all of them', ['k:abc.two'], [null, null]],
  ])('the list of rigs shows that %s', async (_, more, rates) => {
    const { engine, clock, presences } = await virtual()
    const rig = await new MemoryRig(engine).login()
    await rig.say(...more.map(authorize))
    const random = randomFrom(5)
    for (let n = 0; n < 20; n++) {
      expect(await rig.submit(rig.jobs.at(-1), modelNonce(2 ** 32, random).nonce2)).toBe(0)
      await clock.pass(9_000)
    }
    expect(presences().map(({ rate }) => rate)).toEqual(rates)
  })

  it('a rig that comes back gets headers for the hashrate of its former connection', async () => {
    const { engine, clock } = await virtual(2 ** 44)
    const first = await new MemoryRig(engine).login()
    const random = randomFrom(5)
    for (let n = 0; n < 20; n++) {
      expect(await first.submit(first.jobs.at(-1), modelNonce(2 ** 44, random).nonce2)).toBe(0)
      await clock.pass(9_000)
    }
    await first.close()
    const again = await new MemoryRig(engine).login()
    await clock.pass(15_000)
    expect(again.jobs).toHaveLength(1)
    // By its difficulty alone, a rig needs a header every two seconds.
    const other = await new MemoryRig(engine).login('k:abc.other')
    await clock.pass(15_000)
    expect(other.jobs.length).toBeGreaterThan(5)
  })
})
