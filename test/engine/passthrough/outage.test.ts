/** Shares of rigs of a pool, and the rigs themselves when the pool goes down, comes back or changes. */
import { afterEach, describe, expect, it } from 'vitest'
import { difficultyOf } from '../../../src/ground/chain/target.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { freshWork } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { pool, proxy, rig, stopProxies, visitor } from './proxies.ts'

const SOON = { interval: 10 }
const STALE = { result: false, error: [21, 'the job is over', null] }
const PROGRAMS = { GodMiner: 'GodMiner/2.0.0', bfgminer: 'bfgminer/5.4.2', plain: 'BM-K1/1' }
afterEach(stopProxies)

describe('a share', () => {
  it('a share goes to the pool unchanged, and the answer comes back under its id', async () => {
    const at = await pool()
    const { port, engine } = await proxy([at.address()])
    const one = await rig(port)
    const nonce2 = one.nonce2()
    one.say({ id: 'x9', method: 'mining.submit', params: ['X.worker7', 'a1', nonce2, 3] })
    await expect.poll(() => one.lines.at(-1), SOON).toEqual({ id: 'x9', result: true, error: null })
    expect(at.shares).toEqual([
      { user: 'k:ab.worker7', job: 'a1', nonce2, judged: '"result":true,"error":null', nonce1: one.nonce1 },
    ])
    expect(await one.ask('mining.submit', ['X.worker7', 'a1', nonce2])).toMatchObject({
      result: false,
      error: [22, 'Duplicate share', null],
    })
    const difficulty = Number(difficultyOf(at.target))
    expect(engine.status()).toMatchObject({
      shares: { accepted: 1, duplicate: 1, low: 0, stale: 0 },
      users: [{ user: 'X', hashes: difficulty }],
      rigs: [{ device: 'rig:worker7', difficulty, shares: { accepted: 1, duplicate: 1 } }],
    })
    expect(engine.hashes()).toBe(difficulty)
    expect(engine.devices()).toEqual([{ device: 'rig:worker7', kernel: 'stratum', hashes: difficulty, faults: 0 }])
  })

  it.each([
    ['false alone', '"result":false,"error":null', { result: false, error: null }, 'stale'],
    ['the text ok', '"result":"ok","error":null', { result: 'ok', error: null }, 'accepted'],
    [
      'words of its own',
      '"result":null,"error":[31,"invalid nonce",null]',
      { result: false, error: [31, 'invalid nonce', null] },
      'malformed',
    ],
    ['a low share', '"result":null,"error":[23,"Low",null]', { result: false, error: [23, 'Low', null] }, 'low'],
    [
      'another user',
      '"result":null,"error":[24,"Who",null]',
      { result: false, error: [24, 'Who', null] },
      'unauthorized',
    ],
  ])('a share that the pool answers with %s gets that answer', async (_, said, heard, verdict) => {
    const at = await pool({ answer: () => said })
    const { port, engine } = await proxy([at.address()])
    const one = await rig(port)
    expect(await one.share()).toMatchObject(heard)
    const { shares } = engine.status()
    expect(Object.entries(shares).filter(([, count]) => count > 0)).toEqual([[verdict, 1]])
    expect(engine.hashes() > 0).toBe(verdict === 'accepted')
  })

  it.each([
    ['1', true],
    ['"OK"', true],
    ['{}', true],
    ['"ok"', 'ok'],
    ['null', null],
    ['false', false],
    ['true', true],
  ])('a share that a pool answers with the result %s and no error is answered with %j', async (result, heard) => {
    const at = await pool({ answer: () => `"result":${result},"error":null` })
    const { port } = await proxy([at.address()])
    expect(await (await rig(port)).share()).toMatchObject({ result: heard, error: null })
  })

  it.each<[string, readonly unknown[], readonly unknown[]]>([
    ['of a job that the pool never gave', ['X.worker7', 'ffff', '000000000001'], [21, 'the job is over']],
    ['with too long a nonce2', ['X.worker7', 'a1', '0000000000001'], [20, 'nonce2 has 13 digits, expected 12']],
    ['without a nonce2', ['X.worker7', 'a1'], [20, 'submit needs a user, a job id and nonce2']],
    ['with a list as its job', ['X.worker7', ['a1'], '000000000001'], [20, 'the job id is not a text']],
  ])('a share %s is answered by the proxy', async (_, params, [code, text]) => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    const one = await rig(port)
    expect(await one.ask('mining.submit', params)).toMatchObject({ result: false, error: [code, text, null] })
    one.say({ id: 77, method: 'mining.submit', params: { user: 'X' } })
    await expect.poll(() => one.lines.at(-1), SOON).toMatchObject({ id: 77, error: [20, expect.any(String), null] })
    expect(at.shares).toEqual([])
  })

  it('a share before the log-in is refused', async () => {
    const at = await pool()
    const { port, engine } = await proxy([at.address()])
    const one = await visitor(port)
    expect(await one.ask('mining.submit', ['X', 'a1', '01'])).toMatchObject({ error: [25, 'subscribe first', null] })
    await one.ask('mining.subscribe', [])
    expect(await one.ask('mining.submit', ['X', 'a1', '01'])).toMatchObject({ error: [24, 'authorize first', null] })
    expect(engine.status().shares).toMatchObject({ unsubscribed: 1, unauthorized: 1 })
  })

  it('a share counts for its user among several on one connection', async () => {
    const at = await pool()
    const { port, engine } = await proxy([at.address()])
    const farm = await rig(port, { user: 'F.a' })
    for (const user of ['F.b', 'G.c']) await farm.ask('mining.authorize', [user, ''])
    for (const user of ['G.c', 'F.b', 'F.b', 'unknown']) await farm.share(user)
    expect(at.shares.map(({ user }) => user)).toEqual(['k:ab.c', 'k:ab.b', 'k:ab.b', 'k:ab.a'])
    const { rigs } = engine.status()
    const accepted = rigs.map(({ device, shares }) => [device, shares.accepted])
    expect(accepted).toEqual([
      ['rig:a', 1],
      ['rig:b', 2],
      ['rig:c', 1],
    ])
  })

  it('a share of the previous target counts for the easier of the two', async () => {
    const at = await pool()
    const { port, engine } = await proxy([at.address()])
    const one = await rig(port)
    const nonce2 = one.nonce2()
    at.say({ id: null, method: 'mining.set_difficulty', params: [16] })
    await expect.poll(() => difficultyOf(one.target), SOON).toBe(16n)
    expect(one.lines.at(-1).params[0]).toMatch(/^0f{63}$/)
    expect((await one.ask('mining.submit', ['X.worker7', 'a1', nonce2])).result).toBe(true)
    expect(engine.hashes()).toBe(16)
    expect(engine.status().rigs[0].difficulty).toBe(16)
  })
})

describe('messages of the pool', () => {
  it('messages of the pool reach the rig unchanged: jobs, targets, another nonce1, texts', async () => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    const one = await rig(port)
    const before = one.lines.length
    const numbered = {
      id: null,
      method: 'mining.notify',
      params: [12345678, one.jobs[0] && hexOf(one.jobs[0].header), false],
    }
    const short = { id: null, method: 'mining.notify', params: ['b2', hexOf(freshWork(2n ** 60n))] }
    const said = [
      numbered,
      short,
      { id: null, method: 'mining.set_extranonce', params: ['0bff', 6] },
      { id: null, method: 'client.show_message', params: ['hello'] },
    ]
    for (const line of said) at.say(line)
    at.say({ id: null, method: 'mining.set_target', params: ['ff'] })
    await expect.poll(() => one.lines.length, SOON).toBe(before + 5)
    expect(one.lines.slice(before, -1)).toEqual(said)
    // Rigs read all 64 digits.
    expect(one.lines.at(-1).params).toEqual(['ff'.padStart(64, '0')])
    await one.ask('mining.submit', ['X.worker7', '12345678', '000000000001'])
    expect(at.shares[0].job).toBe(12345678)
  })

  it.each([
    ['a rig that knows no other nonce1', PROGRAMS.plain, ['0bff', 6]],
    ['a rig that cannot use it', PROGRAMS.GodMiner, ['0bff00', 5]],
  ])('the pool sets another nonce1 and thereby closes %s', async (_, agent, params) => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    const one = await rig(port, { agent })
    at.say({ id: null, method: 'mining.set_extranonce', params })
    await until(() => one.isClosed)
    expect(one.told).not.toContain('mining.set_extranonce')
  })

  it('the session ends if the pool sends work of an unknown length', async () => {
    const at = await pool()
    const { port, warnings } = await proxy([at.address()])
    await rig(port, { agent: PROGRAMS.plain })
    const mine = at.sessions.filter(({ asked }) => asked.some(({ params }) => params?.[0] === 'k:ab.worker7'))
    at.say({ id: null, method: 'mining.notify', params: ['c3', hexOf(freshWork(2n ** 60n, 4)), true] }, mine)
    await until(() => warnings.length > 0)
    expect(warnings).toEqual([expect.stringContaining('rigs that cannot change nonce1 are closed')])
  })
})

describe('after the sessions of a pool are lost', () => {
  it.each(['GodMiner', 'bfgminer'] as const)(
    'a rig with %s stays connected when its session is lost, and continues in a new session',
    async (program) => {
      const at = await pool()
      const { port } = await proxy([at.address()])
      const one = await rig(port, { agent: PROGRAMS[program] })
      const before = one.lines.length
      const nonce1 = one.nonce1
      at.drop()
      await expect.poll(() => one.lines.length, SOON).toBe(before + 3)
      const [nonces, target, job] = one.lines.slice(before)
      expect(nonces).toEqual({ id: null, method: 'mining.set_extranonce', params: [one.nonce1, 6] })
      expect([target.method, job.method]).toEqual(['mining.set_target', 'mining.notify'])
      expect(one.nonce1).not.toBe(nonce1)
      expect(await one.share()).toMatchObject({ result: true })
      // The new session authorized the rig's user before the rig continued.
      expect(at.shares.at(-1)).toMatchObject({ user: 'k:ab.worker7', nonce1: one.nonce1 })
    },
  )

  it('a rig that subscribed to nonce1 changes stays connected, and others are closed with one warning', async () => {
    const at = await pool()
    const { port, warnings } = await proxy([at.address()])
    const asking = await rig(port, { agent: PROGRAMS.plain })
    expect((await asking.ask('mining.extranonce.subscribe', [])).result).toBe(true)
    const others = [await rig(port, { agent: PROGRAMS.plain }), await rig(port, { agent: PROGRAMS.plain })]
    at.drop()
    await until(() => others.every(({ isClosed }) => isClosed))
    await expect.poll(() => asking.told, SOON).toContain('mining.set_extranonce')
    expect(asking.isClosed).toBe(false)
    expect(warnings).toEqual([expect.stringContaining('rigs that cannot change nonce1 are closed')])
    const again = await rig(port, { agent: PROGRAMS.plain })
    expect((await again.share()).result).toBe(true)
  })

  it('a share of a job of the lost session is stale, even if the new session has a job of that id', async () => {
    const at = await pool()
    const { port, engine } = await proxy([at.address()])
    const one = await rig(port)
    const [old] = one.jobs
    const nonce2 = one.nonce2(old)
    at.work('b2')
    at.drop()
    await expect.poll(() => one.jobs.length, SOON).toBe(2)
    expect(await one.ask('mining.submit', ['X.worker7', old.id, nonce2])).toMatchObject(STALE)
    at.drop()
    await expect.poll(() => one.jobs.length, SOON).toBe(3)
    const [, second, third] = one.jobs
    expect(third.id).toBe(second.id)
    // A share that was found with the previous nonce1 is worthless in this session.
    const before = at.shares.length
    let foreign = one.nonce2(second, '7777')
    while (one.isShare(second, foreign)) foreign = one.nonce2(second, '7777')
    expect(await one.ask('mining.submit', ['X.worker7', second.id, foreign])).toMatchObject(STALE)
    expect(at.shares.length).toBe(before)
    expect(await one.share()).toMatchObject({ result: true })
    expect(engine.status().shares).toMatchObject({ stale: 2, low: 0, accepted: 1 })
  })

  it('a share without an answer is stale, and only shares that the pool accepted count', async () => {
    const at = await pool({ answer: () => null })
    const { port, engine } = await proxy([at.address()])
    const one = await rig(port)
    const share = one.share()
    await until(() => at.shares.length === 1)
    at.drop()
    expect(await share).toMatchObject(STALE)
    expect(engine.status().shares).toMatchObject({ stale: 1, accepted: 0 })
  })

  it('rigs get a line every 30 s while the pool is down, and continue when it is back', async () => {
    const clock = new VirtualClock()
    const at = await pool()
    const { port } = await proxy([at.address()], { clock })
    const one = await rig(port)
    const { port: there } = at
    await at.close()
    // Wait until both ends have noticed the end of the sessions.
    await expect.poll(() => one.share(), SOON).toMatchObject(STALE)
    const before = one.lines.length
    for (let halves = 1; halves <= 10; halves++) {
      await clock.pass(30_000)
      await expect.poll(() => one.lines.length - before >= halves, SOON).toBe(true)
    }
    expect(new Set(one.lines.slice(before).map(({ method }) => method))).toEqual(new Set(['mining.set_target']))
    expect(one.isClosed).toBe(false)
    await at.listen(there)
    await passing(clock, () => !(one.lines.at(-1).method !== 'mining.notify'))
    await expect.poll(() => one.lines.at(-1).method, SOON).toBe('mining.notify')
    expect(await one.share()).toMatchObject({ result: true })
  })

  it('rigs get a line every 30 s while the pool is silent', async () => {
    const clock = new VirtualClock()
    const at = await pool()
    const { port } = await proxy([at.address()], { clock })
    const one = await rig(port)
    const before = one.lines.length
    for (let halves = 1; halves <= 4; halves++) {
      await clock.pass(30_000)
      await expect.poll(() => one.lines.length, SOON).toBe(before + halves)
    }
    expect(one.lines.at(-1)).toEqual(one.lines.find(({ method }) => method === 'mining.set_target'))
  })

  it('failed log-ins are retried one at a time with growing pauses, and reported once', async () => {
    const clock = new VirtualClock()
    const at = await pool()
    const { port, warnings } = await proxy([at.address()], { clock })
    const rigs = [await rig(port), await rig(port), await rig(port)]
    // The miner's own session stays; those of rigs end after their first request.
    at.script = { nonce1: () => 'xyz!' }
    const counted = at.count
    at.say('nonsense', at.sessions.slice(1))
    const sinceMs = clock.monotonicMs()
    await passing(clock, () => at.count - counted >= 10)
    // Four attempts at once, then one at a time with six pauses; the shortest is an eighth of a second.
    expect(clock.monotonicMs() - sinceMs).toBeGreaterThan(7_000)
    expect(rigs.map(({ isClosed }) => isClosed)).toEqual([false, false, false])
    expect(warnings).toEqual([expect.stringMatching(/^no session for a rig: pool .*nonce1.*; trying again$/)])
    at.script = {}
    await passing(clock, () => !rigs.some(({ told }) => told.at(-1) !== 'mining.notify'))
    await expect.poll(() => rigs.map(({ told }) => told.at(-1)), SOON).toEqual(rigs.map(() => 'mining.notify'))
  })
})

describe('with several pools', () => {
  it('all rigs move to the chosen pool, and back without a gap', async () => {
    const clock = new VirtualClock()
    const [first, second] = [await pool(), await pool({ nonce1: (n) => `0b0${n}` })]
    const { port: there } = first
    const addresses = [first.address(), second.address('k%3Acd.farm')]
    const { port, source } = await proxy(addresses, { clock, failbackMs: 60_000 })
    const rigs = [await rig(port), await rig(port, { user: 'Y.other' })]
    await first.close()
    await passing(clock, () => rigs.every(({ nonce1 }) => nonce1.startsWith('0b')))
    expect((await rigs[1].share('Y.other')).result).toBe(true)
    expect(second.shares.at(-1)).toMatchObject({ user: 'k:cd.other' })
    await first.listen(there)
    await passing(clock, () => !(first.sessions.length === 0))
    await until(() => source.upstreams()[0].up)
    await clock.pass(50_000)
    expect((await rigs[0].share()).result).toBe(true)
    expect(second.shares.length).toBe(2)
    await passing(clock, () => !rigs.some(({ nonce1 }) => nonce1.startsWith('0b')))
    await expect.poll(() => rigs.map(({ nonce1 }) => nonce1.slice(0, 2)), SOON).toEqual(['0a', '0a'])
    expect((await rigs[0].share()).result).toBe(true)
    expect(first.shares.at(-1)).toMatchObject({ user: 'k:ab.worker7' })
    // Only the miner's own session remains there.
    await expect.poll(() => second.sessions.length, SOON).toBe(1)
  })

  it('rigs stay with the old pool until they have a session with the new one', async () => {
    const clock = new VirtualClock()
    const [first, second] = [await pool({ isMute: true }), await pool({ nonce1: (n) => `0b0${n}` })]
    const { port, source } = await proxy([first.address(), second.address()], { clock, failbackMs: 10_000 })
    const one = await rig(port)
    // The first pool gives work to the miner itself, but not yet to rigs.
    first.script = {}
    first.drop()
    await passing(clock, () => first.sessions.length > 0)
    await until(() => source.upstreams()[0].up)
    first.script = { isMute: true }
    await passing(clock, () => first.sessions.length > 1)
    expect(await one.share()).toMatchObject({ result: true })
    expect(second.shares.length).toBe(1)
    first.script = {}
    for (const { socket } of first.sessions.slice(1)) socket.destroy()
    await passing(clock, () => !one.nonce1.startsWith('0b'))
    await until(() => one.nonce1.startsWith('0a'))
    expect(one.isClosed).toBe(false)
  })
})

/** Passes virtual time in small steps until the condition holds. */
function passing(clock: VirtualClock, isSo: () => boolean): Promise<void> {
  return until(async () => {
    await clock.pass(100)
    return isSo()
  })
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
