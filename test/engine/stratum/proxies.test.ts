/**
 * The port for newcut proxies. A proxy gets one fixed byte of the nonce and fills the other seven; no rig or other
 * proxy uses them (RIGS, session 13).
 */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { MAX_SESSIONS } from '../../../src/mining/engine/stratum/limits.ts'
import { isNonce2, nonceParts } from '../../../src/mining/engine/stratum/nonce-parts.ts'
import { Nonce1Pool, RIGS_OF_PROXY } from '../../../src/mining/engine/stratum/nonce1-pool.ts'
import type { StratumEngine } from '../../../src/mining/engine/stratum/stratum.ts'
import { composeNonce } from '../../../src/mining/stratum/nonces.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import type { Rig } from '../../support/stratum-rig.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, solvesWork, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

describe('the values of nonce1', () => {
  const ofProxy = (first: number) => Array.from({ length: RIGS_OF_PROXY }, (_, second) => first | (second << 8))

  it('the values of nonce1 of rigs and proxies are disjoint, whatever joins and leaves', () => {
    const step = fc.record({
      isProxy: fc.boolean(),
      leaves: fc.option(fc.nat(), { nil: null }),
      count: fc.integer({ min: 1, max: 300 }),
    })
    // With more than half of the values in use, rigs and proxies both reach into the other's half.
    const start = fc.constantFrom(
      [],
      [{ isProxy: false, leaves: null, count: 32_700 }],
      Array.from({ length: 126 }, () => ({ isProxy: true, leaves: null, count: 1 })),
    )
    fc.assert(
      fc.property(fc.nat(MAX_SESSIONS - 1), start, fc.array(step, { maxLength: 40 }), (first, before, steps) => {
        const pool = new Nonce1Pool(first, true)
        const held = new Set<number>()
        const sessions: { readonly values: readonly number[]; readonly end: () => void }[] = []
        for (const { isProxy, leaves, count } of [...before, ...steps]) {
          if (leaves !== null && sessions.length > 0) {
            const [{ values, end }] = sessions.splice(leaves % sessions.length, 1)
            end()
            for (const value of values) held.delete(value)
          }
          for (let i = 0; i < (isProxy ? 1 : count); i++) {
            const taken = isProxy ? pool.takeProxy() : pool.take()
            if (taken === null) continue
            const values = isProxy ? ofProxy(taken) : [taken]
            if (values.some((value) => held.has(value))) expect.fail(`a value of ${taken} is taken`)
            for (const value of values) held.add(value)
            sessions.push({ values, end: () => (isProxy ? pool.releaseProxy(taken) : pool.release(taken)) })
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('the values of nonce1 suffice for 128 proxies beside 32,768 rigs, for 256 proxies, or for 65,536 rigs', () => {
    const both = new Nonce1Pool(77, true)
    const rigs = Array.from({ length: MAX_SESSIONS / 2 }, () => both.take())
    expect(rigs).not.toContain(null)
    for (let i = 0; i < 128; i++) expect(both.takeProxy()).not.toBeNull()
    expect(both.take()).toBe(null)
    expect(both.takeProxy()).toBe(null)
    const proxies = new Nonce1Pool(0, true)
    expect(new Set(Array.from({ length: 256 }, () => proxies.takeProxy())).size).toBe(256)
    expect(proxies.take()).toBe(null)
    expect(proxies.takeProxy()).toBe(null)
    for (const hasProxies of [true, false]) {
      const pool = new Nonce1Pool(65_000, hasProxies)
      expect(new Set(Array.from({ length: MAX_SESSIONS }, () => pool.take())).size).toBe(MAX_SESSIONS)
      expect(pool.take()).toBeNull()
    }
  })

  it('the values of nonce1 are reused only after all others, without proxies', () => {
    const pool = new Nonce1Pool(65_535, false)
    const taken = Array.from({ length: 3 }, () => pool.take())
    expect(taken).toEqual([65_535, 0, 1])
    pool.release(65_535)
    expect(pool.take()).toBe(2)
  })

  it('the values of nonce1 of a proxy are reused only after those of other proxies', () => {
    const pool = new Nonce1Pool(0, true)
    const first = pool.takeProxy()
    if (first === null) throw new Error('one is free')
    pool.releaseProxy(first)
    expect(pool.takeProxy()).not.toBe(first)
  })
})

it("a proxy's nonce2 is read as the whole nonce, and each has a key of its own", () => {
  const hex = fc.stringMatching(/^[0-9a-fA-F]{1,14}$/)
  fc.assert(
    fc.property(hex, hex, fc.nat(255), (text, other, first) => {
      const { nonce1, nonce2, key } = nonceParts(text, first, 8, 'usual')
      expect(isNonce2(text, 8)).toBe(true)
      expect((BigInt(nonce2) << 16n) | BigInt(nonce1)).toBe(composeNonce(text, { bits: 8, value: first }))
      const isSame = BigInt(`0x${text}`) === BigInt(`0x${other}`)
      expect(nonceParts(other, first, 8, 'usual').key === key).toBe(isSame)
    }),
  )
  const keys = ['ABCDEF', 'abcdef', '00abCDef'].map((text) => nonceParts(text, 1, 8, 'usual').key)
  expect(new Set(keys).size).toBe(1)
  expect(isNonce2('0'.repeat(13), 16)).toBe(false)
  expect(isNonce2('0'.repeat(15), 8)).toBe(false)
  for (const text of ['', '-1', '0x1', ' 1']) expect(isNonce2(text, 8)).toBe(false)
})

describe('a proxy', () => {
  const proxies = { host: '127.0.0.1', port: 0 }

  /** A server's port for proxies. */
  const proxyPort = async (engine: StratumEngine) => Number((await engine.listen()).proxies?.port)

  it('a proxy gives 256 rigs nonces that nobody else has, and each finds blocks', async () => {
    const { engine, port, candidates } = await startedServer({}, { proxies, difficulty: 1 })
    const work = workOf(1, 1n)
    await engine.setWork(work)
    const usual = await Promise.all(Array.from({ length: 4 }, () => loggedIn(port)))
    const links: Rig[] = []
    for (let i = 0; i < 2; i++) links.push(await loggedIn(await proxyPort(engine), `k:abc.proxy${i}`))
    await until(() => [...usual, ...links].every(({ jobs }) => jobs.length > 0))
    for (const link of links) expect(link.nonce1).toMatch(/^[0-9a-f]{2}$/)
    const shares = links.flatMap((link) =>
      Array.from({ length: RIGS_OF_PROXY }, (_, rig) => ({
        link,
        nonce2: `00000000000a${rig.toString(16).padStart(2, '0')}`,
      })),
    )
    const answers = await Promise.all([
      ...shares.map(({ link, nonce2 }) => link.submit(link.jobs[0].id, nonce2)),
      ...usual.map((rig) => rig.submit(rig.jobs[0].id, '00000000000a')),
    ])
    expect(answers.every(({ result }) => result === true)).toBe(true)
    expect(candidates).toHaveLength(2 * RIGS_OF_PROXY + 4)
    expect(new Set(candidates.map(({ nonce }) => nonce)).size).toBe(candidates.length)
    for (const candidate of candidates) expect(solvesWork(candidate, work)).toBe(true)
    const [{ link, nonce2 }] = shares
    expect((await link.submit(link.jobs[0].id, nonce2.slice(9))).error).toMatchObject({
      message: 'the share was handed in before',
    })
    expect(engine.status().sessions).toBe(6)
  })

  it('a proxy uses the usual order, whatever its password says', async () => {
    const { engine, candidates } = await startedServer({}, { proxies, difficulty: 1 })
    await engine.setWork(workOf(1, 1n))
    const link = await connected(await proxyPort(engine))
    await link.subscribe()
    await link.ask('mining.authorize', ['k:abc.proxy', 'order=memory'])
    await until(() => link.jobs.length > 0)
    expect((await link.submit(link.jobs[0].id, '00000000000a07')).result).toBe(true)
    expect(candidates.map(({ nonce }) => nonce)).toEqual([BigInt(`0x00000000000a07${link.nonce1}`)])
  })

  it.each([
    ['a proxy', true],
    ['a rig', false],
  ])('a proxy gets the answer to the share at which the server stops, as %s', async (_, isProxy) => {
    const { engine, port } = await startedServer({}, { proxies, difficulty: 1 })
    await engine.start(286, { onCandidate: () => void engine.stop(), onWarning: () => undefined })
    await engine.setWork(workOf(1, 1n))
    const link = await loggedIn(isProxy ? await proxyPort(engine) : port)
    await until(() => link.jobs.length > 0)
    let result: unknown = 'none'
    void link.submit(link.jobs[0].id, '00000000000a').then((answer) => {
      result = answer.result
    })
    await link.ended
    expect(result).toBe(true)
  })

  it('a proxy gets a header every half second, whatever its agent string', async () => {
    const clock = new VirtualClock()
    const { engine } = await startedServer({}, { proxies, clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const link = await loggedIn(await proxyPort(engine), 'k:abc.proxy', 'newcut/1')
    await until(() => link.jobs.length === 1)
    await clock.pass(500)
    await until(() => link.jobs.length === 2)
  })

  it('a proxy leaves its byte to the next when it disconnects', async () => {
    const { engine } = await startedServer({}, { proxies })
    const port = await proxyPort(engine)
    const links = await Promise.all(Array.from({ length: 256 }, () => loggedIn(port)))
    expect(new Set(links.map(({ nonce1 }) => nonce1)).size).toBe(256)
    await (await connected(port)).ended
    links[9].close()
    await until(() => engine.status().sessions === 255)
    expect((await loggedIn(port)).nonce1).toBe(links[9].nonce1)
  })
})
