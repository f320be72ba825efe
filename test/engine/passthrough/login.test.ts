/** Log-ins of rigs of a pool: the answers and their order, and which rigs are refused. */
import { afterEach, describe, expect, it } from 'vitest'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { CpuEngine } from '../../../src/mining/engine/cpu/cpu.ts'
import { nonceRanges } from '../../../src/mining/engine/range.ts'
import { PoolSource } from '../../../src/mining/source/pool/pool-source.ts'
import { OpenRigPoolSessions } from '../../../src/mining/source/pool/rig-pool-sessions.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { until } from '../../wait.ts'
import { pool, proxy, rig, stopProxies, visitor } from './proxies.ts'
import { ScriptedPool } from './scripted-pool.ts'

const SOON = { interval: 10 }
afterEach(stopProxies)

describe('a rig behind a pool', () => {
  it("a pool's rig gets nonces, target and job as the pool sends them, the answer to its subscription first", async () => {
    const at = await pool({ nonce1: (n) => `0a0${n}` })
    const { port } = await proxy([at.address()])
    const ka3 = await visitor(port)
    ka3.say({ id: null, method: 'mining.suggest_target', params: ['ff'] })
    ka3.say({ id: 1, method: 'mining.subscribe', params: ['GodMiner/2.0.0', null] })
    await expect.poll(() => ka3.lines, SOON).toEqual([{ id: 1, result: [null, '0a01', 6], error: null }])
    ka3.say({ id: 2, method: 'mining.authorize', params: ['X.worker7', 'x'] })
    await expect.poll(() => ka3.lines.length, SOON).toBe(4)
    expect(ka3.lines.slice(1)).toEqual([
      { id: 2, result: true, error: null },
      { id: null, method: 'mining.set_target', params: [expect.stringMatching(/^[0-9a-f]{64}$/)] },
      { ...(at.work('a1') as object), params: ['a1', expect.stringMatching(/^[0-9a-f]{572}$/), true] },
    ])
  })

  it.each([
    ['before', ['mining.authorize', 'mining.subscribe']],
    ['after', ['mining.subscribe', 'mining.authorize']],
  ])("a pool's rig may authorize %s it subscribes", async (_, methods) => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    const bm = await visitor(port)
    for (const method of methods) bm.send(method, method === 'mining.subscribe' ? [] : ['X.worker7', 'x'])
    await until(() => bm.jobs.length > 0)
    expect(bm.told).toEqual(['mining.set_target', 'mining.notify'])
    expect((await bm.share()).result).toBe(true)
  })

  it("a pool's rig that authorizes first gets no line before the answer to its subscription", async () => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    const bm = await visitor(port)
    await bm.ask('mining.authorize', ['X.worker7', 'x'])
    at.notify('b2')
    at.say({ id: 7, method: 'mining.ping', params: [] })
    // The pong proves that the session has processed the lines before it.
    await until(() => at.sessions[1].asked.some(({ result }) => result === 'pong'))
    bm.send('mining.subscribe', ['BM-K1'])
    await until(() => bm.jobs.length > 0)
    expect(bm.lines.map(({ id, method }) => method ?? id)).toEqual([1, 2, 'mining.set_target', 'mining.notify'])
    expect(bm.jobs[0].id).toBe('b2')
  })

  it("a pool's rig gets no answer to a request with a null id, but one to an unknown method", async () => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    const bfg = await visitor(port)
    bfg.say({ id: null, method: 'mining.suggest_target', params: ['00ff'] })
    bfg.say({ id: 'xnsub', method: 'mining.extranonce.subscribe', params: [] })
    bfg.say({ id: 'txlist', method: 'mining.get_transactions', params: ['a1'] })
    bfg.say({ id: 5, method: 'mining.ping', params: [] })
    await expect.poll(() => bfg.lines.length, SOON).toBe(3)
    expect(bfg.lines).toEqual([
      { id: 'xnsub', result: true, error: null },
      { id: 'txlist', result: false, error: [-32601, 'no such method', null] },
      { id: 5, result: 'pong', error: null },
    ])
  })

  it("a pool's rig takes the spare session at once, and the proxy logs in another one", async () => {
    const at = await pool()
    const { port, lines } = await proxy([at.address()])
    // The session of the miner itself, and the spare one.
    await expect.poll(() => at.count, SOON).toBe(2)
    await until(() => at.sessions[1].asked.length === 2)
    const first = await rig(port)
    expect(first.nonce1).toBe(at.sessions[1].nonce1)
    await expect.poll(() => at.count, SOON).toBe(3)
    const second = await rig(port)
    expect(second.nonce1).toBe(at.sessions[2].nonce1)
    first.close()
    await expect.poll(() => [lines.sessions, at.sessions.length], SOON).toEqual([2, 3])
  })

  it("a pool's rig waits for a session without any line, and gets the answer to its subscription first", async () => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    await until(() => at.sessions[1]?.asked.length === 2)
    at.script = { isMute: true }
    // The first rig takes the spare session, and the pool ignores the log-in of a new one.
    await rig(port)
    const late = await visitor(port)
    late.say({ id: 1, method: 'mining.subscribe', params: ['GodMiner/2.0.0', null] })
    late.say({ id: 2, method: 'mining.extranonce.subscribe', params: [] })
    late.say({ id: 3, method: 'mining.authorize', params: ['X.late', 'x'] })
    await until(() => at.sessions.length > 2 && at.sessions[2].asked.length === 2)
    expect(late.lines).toEqual([])
    at.script = {}
    at.sessions[2].socket.destroy()
    await until(() => late.jobs.length > 0)
    expect(late.lines.map(({ id, method }) => method ?? id)).toEqual([1, 2, 3, 'mining.set_target', 'mining.notify'])
  })

  it("a pool's rig is refused after 15 s with the reason if no session opens", async () => {
    const clock = new VirtualClock()
    const at = await pool()
    const { port, engine, warnings } = await proxy([at.address()], { clock })
    await until(() => at.sessions[1]?.asked.length === 2)
    at.script = { isMute: true }
    await rig(port)
    const late = await visitor(port)
    const id = late.send('mining.subscribe', ['GodMiner/2.0.0', null])
    await until(() => engine.status().sessions === 2 && at.sessions.length > 2)
    await clock.pass(14_000)
    expect(late.lines).toEqual([])
    expect(late.isClosed).toBe(false)
    await clock.pass(2_000)
    await until(() => late.isClosed)
    expect(late.lines).toEqual([{ id, result: false, error: [20, 'no pool gives work', null] }])
    expect(engine.status().sentAway).toMatchObject({ away: 1 })
    expect(warnings).toContain('rigs are sent away: no pool gives work')
  })

  it("a pool's rig is the worker of the account that the pool pays", async () => {
    const at = await pool()
    const { port } = await proxy([at.address()])
    const users = { 'X.worker7': 'k:ab.worker7', plain: 'k:ab.plain', 'X.a b/c+2^40': 'k:ab.a_b_c' }
    for (const [user, known] of Object.entries(users)) {
      const one = await rig(port, { user })
      await one.share(user)
      expect(at.shares.at(-1)).toMatchObject({ user: known, judged: '"result":true,"error":null' })
    }
    // Without a worker name the rig is the user of the miner itself, which is already logged in.
    await rig(port, { user: `k:${'0'.repeat(64)}` })
    const asked = at.sessions.flatMap((side) => side.asked.filter(({ method }) => method === 'mining.authorize'))
    const passwords = new Set(asked.map(({ params }) => params?.[1]))
    expect(passwords).toEqual(new Set(['secret']))
    const named = asked.map(({ params }) => params?.[0]).filter((user) => user !== 'k:ab.farm')
    expect(named.sort()).toEqual(Object.values(users).sort())
  })

  it("a pool's rig is refused with a constant text if the pool refuses its user", async () => {
    const at = await pool({ takes: (user) => !user.endsWith('.bad') })
    const { port, engine, warnings } = await proxy([at.address()])
    const bad = await visitor(port)
    await bad.ask('mining.subscribe', ['GodMiner/2.0.0', null])
    const answer = await bad.ask('mining.authorize', ['X.bad', 'x'])
    expect(answer).toMatchObject({ result: false, error: [24, 'the pool does not take this user', null] })
    await until(() => bad.isClosed)
    expect(engine.status().sentAway).toMatchObject({ user: 1 })
    expect(warnings).toEqual([expect.stringContaining('does not take its user')])
    const good = await rig(port)
    expect((await good.share()).result).toBe(true)
  })

  it("a pool's rig beyond the limit is refused, and one that leaves makes room", async () => {
    const at = await pool()
    const { port, engine, warnings, lines } = await proxy([at.address()], { most: 2 })
    const first = await rig(port)
    await rig(port)
    // The miner's session and two of rigs. Without room for another rig there is no spare session.
    await expect.poll(() => [at.sessions.length, lines.sessions], SOON).toEqual([3, 2])
    for (let i = 1; i <= 2; i++) {
      const third = await visitor(port)
      const answer = await third.ask('mining.subscribe', ['GodMiner/2.0.0', null])
      expect(answer).toMatchObject({ result: false, error: [20, 'this pool accepts no more rigs', null] })
      await until(() => third.isClosed)
      expect(engine.status().sentAway).toMatchObject({ full: i })
    }
    expect(warnings).toEqual([expect.stringMatching(/^2 rigs use the pool.*`pool-sessions`/)])
    first.close()
    await until(() => lines.sessions === 2 && at.sessions.length === 3 && engine.status().sessions === 1)
    await rig(port)
    expect(at.sessions.length).toBe(3)
  })

  it("a pool's rig that writes nonces in memory order keeps its order, and the pool gets the usual one", async () => {
    const at = await pool({ nonce1: (n) => `0a1${n}` })
    const { port } = await proxy([at.address()])
    const f1 = await rig(port, { agent: 'BlackMiner/1' })
    expect(f1.nonce1).toBe('110a')
    const nonce2 = f1.nonce2(f1.jobs[0], '0a11')
    const memory = (nonce2.match(/../g) ?? []).reverse().join('')
    expect((await f1.ask('mining.submit', ['X.worker7', 'a1', memory])).result).toBe(true)
    expect(at.shares[0].nonce2).toBe(nonce2)
  })
})

describe('rigs that come and go', () => {
  it('rigs leave an unused session to the next one', async () => {
    const at = await pool()
    const { port, engine } = await proxy([at.address()])
    await until(() => at.sessions[1]?.asked.length === 2)
    const nonces = new Set<string>()
    for (let i = 0; i < 10; i++) {
      const one = await visitor(port)
      const { result } = await one.ask('mining.subscribe', ['GodMiner/2.0.0', null])
      nonces.add(result[1])
      one.close()
      await until(() => engine.status().sessions === 0)
    }
    // The first spare session, and the one that replaced it.
    expect(nonces.size).toBeLessThanOrEqual(2)
    expect(at.count).toBeLessThanOrEqual(3)
    const miner = await rig(port)
    expect((await miner.share()).result).toBe(true)
  })

  it('rigs that come and go open at most four sessions a second once the limit was reached', async () => {
    const clock = new VirtualClock()
    const at = await pool()
    const { port, engine } = await proxy([at.address()], { clock, most: 3 })
    // The miner's own session, the spare one, and one for each rig that has left: four in all for rigs.
    for (let i = 0; i < 4; i++) {
      const one = await rig(port)
      one.close()
      await until(() => engine.status().sessions === 0)
    }
    await until(() => at.count === 5)
    const late = await visitor(port)
    const id = late.send('mining.subscribe', ['GodMiner/2.0.0', null])
    await until(() => engine.status().sessions === 1)
    await clock.pass(100)
    expect(at.count).toBe(5)
    expect(late.lines).toEqual([])
    for (let s = 0; s < 8; s++) await clock.pass(250)
    await until(() => late.lines.length > 0)
    expect(late.lines[0]).toMatchObject({ id, result: [null, expect.any(String), 6] })
    expect(at.count).toBeLessThanOrEqual(7)
  })
})

describe('a pool whose nonces rigs cannot use', () => {
  it.each([
    ['of 3 bytes', '0a0b0c', 5, 'few', 'the pool leaves too few nonces for rigs'],
    ['of 4 bytes', '0a0b0c0d', 4, 'few', 'the pool leaves too few nonces for rigs'],
    ['of an odd number of digits', 'a0b', 6, 'digits', 'the pool writes nonce1 in digits that rigs cannot read'],
    ['of fewer digits', '0b', 6, 'digits', 'the pool writes nonce1 in digits that rigs cannot read'],
  ])(
    'a nonce1 of the pool that is %s makes the proxy refuse rigs with the reason, while CPUs mine',
    async (_, nonce1, size, why, text) => {
      const at = await pool({ nonce1: () => nonce1, size, difficulty: 4096n })
      const { port, engine, warnings, reader, source } = await proxy([at.address()])
      for (let i = 1; i <= 2; i++) {
        const ka3 = await visitor(port)
        const answer = await ka3.ask('mining.subscribe', ['GodMiner/2.0.0', null])
        expect(answer).toMatchObject({ result: false, error: [20, text, null] })
        await until(() => ka3.isClosed)
        expect(engine.status().sentAway).toMatchObject({ [why]: i })
      }
      expect(warnings.length).toBe(1)
      const job = await reader.job()
      expect(job.fixedNonce).toEqual({ bits: 64 - 8 * size, value: Number.parseInt(nonce1, 16) })
      const cpu = new CpuEngine({
        ranges: nonceRanges(1, Math.random),
        kernel: 'wasm' as const,
        priority: 'normal' as const,
        clock: systemClock,
      })
      const found: bigint[] = []
      await cpu.start(286, { onCandidate: ({ nonce }) => found.push(nonce), onWarning: () => undefined })
      await cpu.setWork({ ...job, sequence: 1, job: job.id, bytes: job.work.bytes })
      await until(() => found.length >= 3)
      await cpu.stop()
      const receipts = found.slice(0, 3).map((nonce) => {
        return source.submit({ job, bytes: Uint8Array.from(withNonce(job.work.bytes, nonce)) })
      })
      expect(await Promise.all(receipts)).toEqual([1, 2, 3].map(() => ({ step: 'acknowledged' })))
      expect(at.shares.map(({ judged }) => judged)).toEqual([1, 2, 3].map(() => '"result":true,"error":null'))
    },
  )

  it('rigs are admitted once a pool with an unusable nonce1 sends another one for the next session', async () => {
    const at = await pool({ nonce1: (n) => (n % 2 === 0 ? '0a0b' : 'a0b') })
    const { port } = await proxy([at.address()])
    const first = await visitor(port)
    expect((await first.ask('mining.subscribe', ['GodMiner/2.0.0', null])).result).toBe(false)
    const second = await rig(port)
    expect(second.nonce1).toBe('0a0b')
  })
})

it("the pool learns the rigs' program if it is a known one", async () => {
  const at = await pool()
  const { port } = await proxy([at.address()])
  const agents = () => at.sessions.map(({ asked }) => asked[0]?.params?.[0])
  await rig(port, { agent: 'GodMiner/2.0.0' })
  await expect.poll(agents, SOON).toEqual(['newcut/test', 'newcut/test', 'newcut/test (GodMiner/2.0.0)'])
  await rig(port, { agent: 'BlackMiner/1 "x"' })
  await expect.poll(() => agents().at(-1), SOON).toBe('newcut/test (GodMiner/2.0.0)')
})

it('a proxy opens no session for a rig before it listens', async () => {
  const at = new ScriptedPool()
  await at.listen()
  const about = { trust: {}, agent: 'newcut/test', clock: systemClock, random: Math.random }
  const options = { pools: [at.address()], ...about, failbackMs: 60_000 }
  const source = await PoolSource.reach(options, () => undefined, new AbortController().signal)
  const lines = new OpenRigPoolSessions({ pools: source, ...about, most: 4, workBytes: 286 })
  expect(lines.sessions).toBe(0)
  expect(at.count).toBe(1)
  lines.close()
  expect(lines.seat()).toBe(null)
  source.close()
  await at.close()
})
