/** The stratum server over real sockets: its answers to rigs, and the outcome of their shares. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeHex, readU64LE } from '../../../src/ground/base/bytes.ts'
import { withCreationTime, withNonce } from '../../../src/ground/chain/header.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { type EngineWork, noWork } from '../../../src/mining/engine/engine.ts'
import { failures } from '../../../src/mining/stratum/messages.ts'
import { Rig } from '../../support/stratum-rig.ts'
import { engineWork, freshWork, UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, solvesWork, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

const refusal = (name: keyof typeof failures) => ({ result: false, error: failures[name] })
const malformed = (message: string) => ({ result: false, error: { code: 20, message } })

describe('a rig', () => {
  it.each([
    ['subscribes first', ['subscribe', 'authorize']],
    ['authorizes first', ['authorize', 'subscribe']],
  ] as const)('a rig that %s gets its nonce1, the target and the current work', async (_, order) => {
    const { engine, port } = await startedServer()
    const work = workOf(1, UNREACHABLE)
    expect(await engine.setWork(work)).toBe(true)
    const rig = await connected(port)
    for (const step of order) {
      const { result, error } = await rig[step]()
      expect(error).toBeNull()
      expect(result).toEqual(step === 'authorize' ? true : [null, expect.stringMatching(/^[0-9a-f]{4}$/), 6])
    }
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    expect(encodeHex(job.header)).toBe(encodeHex(withNonce(work.bytes, 0n)))
    expect(job).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{1,8}$/), clean: true })
    expect(Number(MAX_TARGET / job.target)).toBe(1000)
  })

  it('a rig gets nothing before it has subscribed and authorized, and its shares are refused with the reason', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await connected(port)
    expect(await rig.submit('1', '0')).toMatchObject(refusal('unsubscribed'))
    await rig.subscribe()
    expect(await rig.submit('1', '0')).toMatchObject(refusal('unauthorized'))
    expect(rig.jobs).toEqual([])
    expect(engine.status().shares).toMatchObject({ unsubscribed: 1, unauthorized: 1, accepted: 0 })
  })

  it('a rig gets new work at once: clean for another job, not clean for a newer time', async () => {
    const { engine, port } = await startedServer()
    const first = workOf(1, UNREACHABLE)
    await engine.setWork(first)
    const rig = await loggedIn(port)
    const rolled = { ...first, sequence: 2, bytes: withCreationTime(first.bytes, 99n) }
    expect(await engine.setWork(rolled)).toBe(true)
    expect(await engine.setWork(workOf(3, UNREACHABLE))).toBe(true)
    await until(() => rig.jobs.length === 3)
    expect(rig.jobs.map(({ clean }) => clean)).toEqual([true, false, true])
    expect(new Set(rig.jobs.map(({ id }) => id)).size).toBe(3)
  })

  it('a rig gets a unique nonce1, which is free again when the rig disconnects', async () => {
    const { engine, port } = await startedServer({ sessions: 8 })
    const rigs = await Promise.all(Array.from({ length: 8 }, () => loggedIn(port)))
    expect(new Set(rigs.map(({ nonce1 }) => nonce1)).size).toBe(8)
    const ninth = await connected(port)
    await ninth.ended
    rigs[0].close()
    await until(() => engine.status().sessions === 7)
    const tenth = await loggedIn(port)
    expect(rigs.map(({ nonce1 }) => nonce1)).not.toContain(tenth.nonce1)
  })
})

describe('a share', () => {
  it('a share is accepted once, and counts as many hashes as it takes on average', async () => {
    const { engine, port, candidates } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'k:abc.left shelf')
    await until(() => rig.jobs.length > 0)
    const nonce2 = rig.nextShare(rig.jobs[0])
    expect(await rig.submit(rig.jobs[0].id, nonce2)).toMatchObject({ result: true, error: null })
    expect(await rig.submit(rig.jobs[0].id, nonce2)).toMatchObject(refusal('duplicate'))
    // The same number without leading zeros is the same nonce.
    expect(await rig.submit(rig.jobs[0].id, nonce2.replace(/^0+/, ''))).toMatchObject(refusal('duplicate'))
    expect(engine.hashes()).toBe(1000)
    expect(engine.devices()).toEqual([{ device: 'rig:left shelf', kernel: 'stratum', hashes: 1000, faults: 0 }])
    expect(engine.status()).toMatchObject({ sessions: 1, shares: { accepted: 1, duplicate: 2, low: 0 } })
    expect(candidates).toEqual([])
  })

  it('a share counts for its rig and its user, even if another user has a rig of that name', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    const rigs = [
      await loggedIn(port, 'k:abc.left'),
      await loggedIn(port, 'k:def.left'),
      await loggedIn(port, 'k:abc.right'),
    ]
    for (const [index, rig] of rigs.entries()) {
      await until(() => rig.jobs.length > 0)
      for (let i = 0; i <= index; i++) await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    }
    await rigs[1].submit(rigs[1].jobs[0].id, rigs[1].badShare(rigs[1].jobs[0]))
    rigs[2].close()
    await until(() => engine.status().sessions === 2)
    const { users, rigs: told } = engine.status()
    expect(users).toMatchObject([
      { user: 'k:abc', sessions: 1, hashes: 4000, shares: { accepted: 4, low: 0 } },
      { user: 'k:def', sessions: 1, hashes: 2000, shares: { accepted: 2, low: 1 } },
    ])
    expect(told).toMatchObject([
      { device: 'rig:left', user: 'k:abc', sessions: 1, shares: { accepted: 1 } },
      { device: 'rig:left (2)', user: 'k:def', sessions: 1, shares: { accepted: 2, low: 1 } },
      { device: 'rig:right', user: 'k:abc', sessions: 0, shares: { accepted: 3 } },
    ])
    expect(engine.devices().map(({ device, hashes }) => [device, hashes])).toEqual([
      ['rig:left', 1000],
      ['rig:left (2)', 2000],
      ['rig:right', 3000],
    ])
  })

  it('a share that solves the work is a candidate, and its nonce has the nonce1 of the rig in its low bytes', async () => {
    const { engine, port, candidates } = await startedServer()
    const work = workOf(5, 500n)
    await engine.setWork(work)
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    // A share is never harder than a block.
    expect(rig.jobs[0].target).toBe(work.target)
    await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    expect(candidates).toEqual([{ sequence: 5, nonce: expect.anything(), device: 'rig:rig' }])
    expect(solvesWork(candidates[0], work)).toBe(true)
    expect(readU64LE(withNonce(work.bytes, candidates[0].nonce), 278) & 0xffffn).toBe(BigInt(`0x${rig.nonce1}`))
  })

  it('a share that is too easy, of no job, or no nonce gets its own error', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const { id } = rig.jobs[0]
    expect(await rig.submit(id, rig.badShare(rig.jobs[0]))).toMatchObject(refusal('low'))
    expect(await rig.submit((Number.parseInt(id, 16) - 1).toString(16), '1')).toMatchObject(refusal('stale'))
    expect(await rig.submit('xyz', '1')).toMatchObject(refusal('stale'))
    for (const [job, nonce2, text] of [
      ['', '1', 'the job id is empty'],
      [id, '', 'nonce2 has 0 digits, expected 12'],
      [id, '0x12', 'nonce2 is not hexadecimal'],
      [id, '0123456789abc', 'nonce2 has 13 digits, expected 12'],
    ]) {
      expect(await rig.submit(job, nonce2)).toMatchObject(malformed(text))
    }
    expect(await rig.ask('mining.submit', [1, 2, 3])).toMatchObject(malformed('the job id is not a text'))
    const needs = 'submit needs a user, a job id and nonce2'
    expect(await rig.ask('mining.submit', [])).toMatchObject(malformed(needs))
    expect(engine.status().shares).toMatchObject({ malformed: 6 })
    expect(engine.hashes()).toBe(0)
  })

  it('a share for an earlier time of its job counts; a share of an earlier job is stale, but still a candidate', async () => {
    const { engine, port, candidates } = await startedServer()
    const first = workOf(1, 300n)
    await engine.setWork(first)
    const rig = await loggedIn(port)
    await engine.setWork({ ...first, sequence: 2, bytes: withCreationTime(first.bytes, 99n) })
    await until(() => rig.jobs.length === 2)
    expect(await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))).toMatchObject({ result: true })
    await engine.setWork(workOf(3, UNREACHABLE))
    const hashes = engine.hashes()
    expect(await rig.submit(rig.jobs[1].id, rig.nextShare(rig.jobs[1]))).toMatchObject(refusal('stale'))
    expect(candidates.map(({ sequence }) => sequence)).toEqual([1, 2])
    expect(engine.hashes()).toBe(hashes)
  })

  it('a share without work is stale', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    expect(await engine.setWork(noWork(2))).toBe(true)
    await until(() => rig.jobs.length > 0)
    expect(await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))).toMatchObject(refusal('stale'))
  })

  it('a share of a job with too many shares is stale, and the rig gets a fresh job with other nonces', async () => {
    const { engine, port, candidates } = await startedServer({ sharesPerJob: 3 })
    const work = workOf(1, 50n)
    await engine.setWork(work)
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    const results: unknown[] = []
    for (let i = 0; i < 5; i++) results.push((await rig.submit(job.id, rig.nextShare(job))).result)
    expect(results).toEqual([true, true, true, true, false])
    await until(() => rig.jobs.length > 1)
    const before = candidates.length
    expect(await rig.submit(rig.jobs[1].id, rig.nextShare(rig.jobs[1]))).toMatchObject({ result: true })
    expect(candidates).toHaveLength(before + 1)
    const candidate = candidates[before]
    expect(candidate.creationTime).not.toBe(undefined)
    expect(solvesWork(candidate, work)).toBe(true)
  })
})

it('rigs are listed after the stop as they were before it', async () => {
  const { engine, port } = await startedServer()
  await engine.setWork(workOf(1, UNREACHABLE))
  const rig = await loggedIn(port)
  await until(() => rig.jobs.length > 0)
  await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
  await engine.stop()
  await rig.ended
  expect(engine.devices()).toEqual([{ device: 'rig:rig', kernel: 'stratum', hashes: 1000, faults: 0 }])
})

describe('work that rigs cannot search', () => {
  const usual = workOf(1, UNREACHABLE)
  const fixedNonce = { bits: 16, value: 7 }

  it.each<[string, EngineWork, string, boolean]>([
    ['with a fixed part of the nonce', { ...usual, fixedNonce }, 'in which a pool fixes a part of the nonce', true],
    ['of another length', engineWork(1, freshWork(UNREACHABLE, 4), MAX_TARGET), 'work of 286 bytes only', true],
    ['of a relay without headers yet', { ...usual, fixedNonce, headers: null }, 'no headers have been given', false],
  ])(
    'a rig is unable to search work %s, with the reason, and a warning unless it takes a moment',
    async (_, work, reason, warns) => {
      const { engine, port, warnings } = await startedServer()
      const rig = await loggedIn(port)
      expect(await engine.setWork(work)).toBe(true)
      expect(engine.devices()).toMatchObject([{ state: 'unable', reason: expect.stringContaining(reason) }])
      expect(warnings).toEqual(warns ? [expect.stringContaining(reason)] : [])
      await engine.setWork({ ...usual, sequence: 2, fixedNonce, headers: { residue: 0, modulus: 1 } })
      // A job arrives before later answers.
      await rig.ask('mining.ping', [])
      expect(engine.devices()[0].state).toBe(undefined)
      expect(encodeHex(rig.jobs[0].header)).toBe(encodeHex(withNonce(usual.bytes, 0n)))
    },
  )
})

describe('other requests', () => {
  it.each<[string, unknown[], unknown]>([
    ['mining.extranonce.subscribe', [], true],
    [
      'mining.configure',
      [['version-rolling', 'x'], { 'version-rolling.mask': 'ffffffff' }],
      { 'version-rolling': false, x: false },
    ],
    ['mining.configure', [], {}],
    ['mining.configure', [[7, null, ['y'], 'x']], { x: false }],
    ['mining.suggest_difficulty', [1e6], true],
    ['mining.suggest_target', ['00ff'], true],
    ['mining.ping', [], 'pong'],
    ['client.get_version', [], 'newcut'],
    ['client.show_message', ['hello'], null],
  ])('the request %s %j is answered with %j', async (method, params, result) => {
    const { port } = await startedServer()
    const rig = await loggedIn(port)
    expect(await rig.ask(method, params)).toMatchObject({ result, error: null })
  })

  const badUser = malformed('the user is not a text of at most 512 characters')
  const badDifficulty = malformed('the difficulty is not a positive number')
  const badRate = malformed('the rate is not a hexadecimal number of at most 64 digits')
  const badTarget = malformed('the target is not 1 to 64 hex digits, above 0')
  it.each<[string, unknown[], object]>([
    ['mining.nonsense', [], refusal('unknown')],
    ['toString', [], refusal('unknown')],
    ['__proto__', [], refusal('unknown')],
    ['mining.authorize', [7], badUser],
    ['mining.authorize', [], badUser],
    ['mining.suggest_difficulty', ['x'], badDifficulty],
    ['mining.suggest_difficulty', [-1], badDifficulty],
    ['mining.suggest_difficulty', [[1]], badDifficulty],
    ['mining.suggest_target', ['zz'], badTarget],
    ['mining.suggest_target', ['0'], badTarget],
    ['mining.suggest_target', [], badTarget],
    ['mining.suggest_target', [{}], badTarget],
    ['eth_submitHashrate', [{}], badRate],
    ['eth_submitHashrate', [[1]], badRate],
    ['eth_submitHashrate', [], badRate],
  ])('the request %s %j is refused, and the connection stays', async (method, params, answer) => {
    const { port } = await startedServer()
    const rig = await connected(port)
    expect(await rig.ask(method, params)).toMatchObject(answer)
    expect(await rig.authorize()).toMatchObject({ result: true })
  })
})

describe('over TLS', () => {
  const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))
  const tls = { cert: fixture('tls-test-cert.pem'), key: fixture('tls-test-key.pem') }

  it('a rig over TLS does everything as without', async () => {
    const { engine, port } = await startedServer({}, { tls })
    await engine.setWork(workOf(1, UNREACHABLE))
    const socket = connect({ host: '127.0.0.1', port, ca: readFileSync(tls.cert) })
    await once(socket, 'secureConnect')
    const rig = Rig.over(socket)
    await rig.subscribe()
    await rig.authorize()
    await until(() => rig.jobs.length > 0)
    expect(await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))).toMatchObject({ result: true })
    rig.close()
    await until(() => engine.status().sessions === 0)
  })

  it('a rig without TLS is closed, and the server keeps running', async () => {
    const { engine, port } = await startedServer({}, { tls })
    const plain = await connected(port)
    plain.socket.write('{"id":1,"method":"mining.subscribe","params":[]}\n')
    await plain.ended
    expect(engine.status().sessions).toBe(0)
  })
})
