/** Shares for a pool over real connections: recorded sessions, and a pool that judges shares. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { decodeBase64Url, equalBytes } from '../../../src/ground/base/bytes.ts'
import type { Clock } from '../../../src/ground/base/clock.ts'
import { encodeWork, withNonce } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { CpuEngine } from '../../../src/mining/engine/cpu/cpu.ts'
import { nonceRanges } from '../../../src/mining/engine/range.ts'
import type { MinerEvent } from '../../../src/mining/mine/events.ts'
import { Miner } from '../../../src/mining/mine/miner.ts'
import { readPoolAddress } from '../../../src/mining/source/pool/address.ts'
import type { PoolTrust } from '../../../src/mining/source/pool/connection.ts'
import { PoolSource } from '../../../src/mining/source/pool/pool-source.ts'
import type { Job, Solution } from '../../../src/mining/source/source.ts'
import { SourceReader } from '../../conformance/source.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { freePort } from '../../ports.ts'
import { freshWork } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { type PoolScript, TestPool } from './pool.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})
const SOON = { interval: 10 }

async function pool(script: PoolScript = {}): Promise<TestPool> {
  const started = await new TestPool(script).listen()
  cleanups.push(() => started.close())
  return started
}

interface Reached {
  readonly trust?: PoolTrust
  readonly clock?: Clock
  readonly failbackMs?: number
  /** Collects the reasons for which the source waits. */
  readonly waited?: string[]
}

/** A source with work, and its reader. */
async function mining(urls: readonly string[], options: Reached = {}) {
  const { trust = {}, clock = systemClock, failbackMs = 60_000, waited = [] } = options
  const stop = new AbortController()
  cleanups.push(() => stop.abort())
  const source = await PoolSource.reach(
    {
      pools: urls.map(readPoolAddress),
      trust,
      agent: 'newcut/test',
      clock,
      random: Math.random,
      failbackMs,
    },
    (message) => waited.push(message),
    stop.signal,
  )
  const reader = new SourceReader(source)
  cleanups.push(async () => {
    reader.stop.abort()
    await reader.ended
  })
  return { source, reader, waited }
}

/** A share of the job, found by trying nonces. `skip` starts at later nonces. */
function shareOf(job: Job, skip = 0): Solution {
  const { bits, value } = job.fixedNonce
  for (let high = BigInt(skip) * 1_000_000n; ; high++) {
    const bytes = withNonce(job.work.bytes, (high << BigInt(bits)) | BigInt(value))
    if (meets(powHash(bytes), job.target)) return { job, bytes: Uint8Array.from(bytes) }
  }
}

describe('shares for a pool', () => {
  it("shares have the pool's work, target and part of the nonce", async () => {
    const test = await pool()
    const { source, reader } = await mining([test.url()])
    const job = await reader.job()
    expect(job).toMatchObject({ issuer: `stratum+tcp://127.0.0.1:${test.port}`, manySolutions: true, reason: 'start' })
    expect(job.target).toBe(MAX_TARGET / 1024n)
    expect(job.fixedNonce).toEqual({ bits: 16, value: 0x09e8 })
    expect(source.workBytes).toBe(286)
    for (const skip of [0, 1]) expect(await source.submit(shareOf(job, skip))).toEqual({ step: 'acknowledged' })
    expect(test.shares).toEqual([
      { user: 'k:ab.rig', job: '64128000', verdict: 'accepted' },
      { user: 'k:ab.rig', job: '64128000', verdict: 'accepted' },
    ])
    expect(test.methods.slice(0, 2)).toEqual(['mining.subscribe', 'mining.authorize'])
    expect(source.upstreams()).toMatchObject([{ up: true, active: true, problem: null, latencyMs: expect.any(Number) }])
  })

  it.each<[string, PoolScript, number]>([
    ['work comes before the answers', { isEager: true }, 16],
    ['work has no flag', { hasFlag: false }, 16],
    ['the user is taken with an empty list', { authorized: [] }, 16],
    ['nonce1 comes without leading zeros', { nonce1: 'a' }, 16],
    ['nonce1 has one byte', { nonce1: 'e8', nonce2Bytes: 7 }, 8],
    ['the whole nonce is free', { nonce1: '', nonce2Bytes: 8 }, 0],
    ['nonce1 has three bytes', { nonce1: '0a0b0c', nonce2Bytes: 5 }, 24],
    ['nonce1 has four bytes', { nonce1: 'fa0b0c0d', nonce2Bytes: 4 }, 32],
  ])('shares count if %s', async (_, script, bits) => {
    const test = await pool(script)
    const { source, reader } = await mining([test.url()])
    const job = await reader.job()
    expect(job.fixedNonce.bits).toBe(bits)
    expect(await source.submit(shareOf(job))).toEqual({ step: 'acknowledged' })
  })

  it('shares that do not count get different verdicts', async () => {
    const test = await pool()
    const { source, reader } = await mining([test.url()])
    const job = await reader.job()
    const share = shareOf(job)
    await source.submit(share)
    expect(await source.submit(share)).toMatchObject({ step: 'rejected', reason: 'duplicate' })
    const miss = { job, bytes: Uint8Array.from(withNonce(job.work.bytes, 0x09e8n)) }
    expect(await source.submit(miss)).toMatchObject({ step: 'rejected', reason: 'low-difficulty' })
    test.forget('64128000')
    expect(await source.submit(shareOf(job, 1))).toEqual({ step: 'stale' })
  })

  it.each<[string, object]>([
    ['nothing', { step: 'stale' }],
    ['[20,"Stale share",null]', { step: 'stale' }],
    ['[25,"Not subscribed",null]', { step: 'rejected', reason: 'unauthorized' }],
    ['[20,"Above target",null]', { step: 'rejected', reason: 'low-difficulty' }],
    ['"go away"', { step: 'rejected', reason: 'unknown', message: 'go away (0)' }],
  ])('a share gets the verdict that the answer %s means', async (answer, receipt) => {
    const test = await pool({ answer: () => answer })
    const { source, reader } = await mining([test.url()])
    expect(await source.submit(shareOf(await reader.job()))).toMatchObject(receipt)
  })

  it('shares are lost with their connection, and the next session has its own', async () => {
    const test = await pool({ answer: () => undefined })
    const { source, reader } = await mining([test.url()])
    const job = await reader.job()
    const receipt = source.submit(shareOf(job))
    await expect.poll(() => test.shares.length, SOON).toBe(1)
    test.drop()
    expect(await receipt).toMatchObject({ step: 'lost', reason: 'unreachable' })
    await until(() => reader.jobs.at(-1) === null)
    await expect.poll(() => test.connections, SOON).toBe(2)
    await reader.job(({ id }) => id !== job.id)
    expect(await source.submit(shareOf(job))).toMatchObject({
      step: 'lost',
      message: 'the session of its job has ended',
    })
    expect(reader.said).toEqual([
      expect.stringMatching(/ended the connection; trying again$/),
      expect.stringMatching(/gives work$/),
    ])
  })
})

describe('work of a pool', () => {
  it('the work of a pool is replaced by newer work, and by the same with another target', async () => {
    const test = await pool()
    const { reader } = await mining([test.url()])
    const first = await reader.job()
    const work = freshWork(2n ** 60n)
    test.notify(work)
    const second = await reader.job(({ id }) => id !== first.id)
    // Work of one chain does not end work of another. freshWork is always for chain 0.
    expect(second.reason).toBe('newCut')
    expect(second.work.bytes).toEqual(work)
    const { fields } = second.work
    const elsewhere = encodeWork({ ...fields, chainId: 7 })
    test.notify(elsewhere)
    expect((await reader.job(({ work: { bytes } }) => equalBytes(bytes, elsewhere))).reason).toBe('chosen')
    test.notify(encodeWork({ ...fields, chainId: 7, payloadHash: fields.parent }))
    expect((await reader.job(({ id }) => id === '4')).reason).toBe('refreshed')
    test.notify(work)
    await reader.job(({ id }) => id === '5')
    test.say({ id: null, method: 'mining.set_difficulty', params: [4096] })
    const third = await reader.job(({ target }) => target !== second.target)
    expect(third.reason).toBe('refreshed')
    expect(third.work.bytes).toEqual(work)
    expect(third.target).toEqual(MAX_TARGET / 4096n)
  })

  it('the work of a pool has a target no harder than that of its block', async () => {
    const test = await pool()
    const { reader } = await mining([test.url()])
    const first = await reader.job()
    test.notify(freshWork(16n))
    expect((await reader.job(({ id }) => id !== first.id)).target).toBe(MAX_TARGET / 16n)
  })

  it('the work of a pool has another part of the nonce after mining.set_extranonce', async () => {
    const test = await pool()
    const { source, reader } = await mining([test.url()])
    const first = await reader.job()
    test.extranonce('a796')
    test.notify()
    const second = await reader.job(({ id }) => id !== first.id)
    expect(second.fixedNonce).toEqual({ bits: 16, value: 0xa796 })
    expect(await source.submit(shareOf(second))).toEqual({ step: 'acknowledged' })
  })
})

describe('several pools', () => {
  it('the miner fails over to several pools in their order, and fails back to the first', async () => {
    const [first, second] = [await pool(), await pool()]
    const { source, reader } = await mining([first.url(), second.url()], { failbackMs: 300 })
    await reader.job(({ issuer }) => issuer.endsWith(`:${first.port}`))
    await expect.poll(() => source.upstreams().map(({ up }) => up), SOON).toEqual([true, true])
    const { port } = first
    await first.close()
    const other = await reader.job(({ issuer }) => issuer.endsWith(`:${second.port}`))
    expect(other.reason).toBe('switched')
    expect(await source.submit(shareOf(other))).toEqual({ step: 'acknowledged' })
    expect(source.upstreams()).toMatchObject([
      { up: false, active: false, problem: expect.any(String) },
      { up: true, active: true },
    ])
    const again = await new TestPool().listen(port)
    cleanups.push(() => again.close())
    expect((await reader.job(({ issuer }) => issuer.endsWith(`:${port}`))).reason).toBe('switched')
    expect(reader.said).toEqual([
      expect.stringMatching(new RegExp(`; stratum\\+tcp://127.0.0.1:${second.port} has its work searched meanwhile$`)),
      `pool stratum+tcp://127.0.0.1:${second.port} gives work`,
    ])
    expect(reader.jobs, 'there is always work').not.toContain(null)
    expect(source.upstreams()).toMatchObject([
      { active: true, problem: null },
      { up: true, active: false },
    ])
  })

  it('several pools are retried if none is reachable yet', async () => {
    const port = await freePort()
    const waited: string[] = []
    const reached = mining([`stratum+tcp://k%3Aab.rig@127.0.0.1:${port}`], { waited })
    await until(() => waited.length > 0)
    const later = await new TestPool().listen(port)
    cleanups.push(() => later.close())
    const { reader } = await reached
    await reader.job()
    expect(waited).toEqual([expect.stringMatching(/ECONNREFUSED.*; trying again$/)])
  })
})

it('a pool that disconnects repeatedly leaves nothing behind', async () => {
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => void warnings.push(message)
  process.on('warning', onWarning)
  cleanups.push(() => process.off('warning', onWarning))
  const test = await pool()
  // Shortens the pauses.
  const after: typeof systemClock.after = (ms, run) => systemClock.after(ms < 20_000 ? 1 : ms, run)
  const stop = new AbortController()
  cleanups.push(() => stop.abort())
  const options = { trust: {}, agent: 'newcut/test', random: Math.random, failbackMs: 60_000 }
  const pools = [readPoolAddress(test.url())]
  const source = await PoolSource.reach(
    { ...options, pools, clock: { ...systemClock, after } },
    () => undefined,
    stop.signal,
  )
  cleanups.push(() => source.close())
  for (let round = 1; round <= 15; round++) {
    await expect.poll(() => source.upstreams()[0].up && test.connections === round, SOON).toBe(true)
    test.drop()
    await expect.poll(() => test.connections, SOON).toBe(round + 1)
  }
  expect(warnings).toEqual([])
})

it('reach() does not wait for a pool if it was stopped before', async () => {
  const test = await pool()
  const options = { trust: {}, agent: 'newcut/test', clock: systemClock, random: Math.random, failbackMs: 1000 }
  const stopped = AbortSignal.abort(new Error('told to stop'))
  const pools = [readPoolAddress(test.url())]
  await expect(PoolSource.reach({ ...options, pools }, () => undefined, stopped)).rejects.toThrow('told to stop')
})

describe('faulty pool', () => {
  it.each<[string, string | object, RegExp]>([
    ['what is not JSON', 'hello', /cannot be read: message .*not JSON/],
    [
      'work that is not work',
      { id: null, method: 'mining.notify', params: ['1', 'abcd', true] },
      /cannot be read: work/,
    ],
    [
      'a target that is not a number',
      { id: null, method: 'mining.set_target', params: ['xyz'] },
      /cannot be read: target/,
    ],
    ['an endless line', 'x'.repeat(20_000), /a line has more than 16384 bytes/],
    ['an error without a question', '[-32600,"Invalid Request","x"]', /it said: Invalid Request/],
  ])('the miner leaves a pool that sends %s, and retries it', async (_, line, complaint) => {
    const test = await pool()
    const { reader } = await mining([test.url()])
    const job = await reader.job()
    test.say(line)
    await reader.job(({ id }) => id !== job.id)
    expect(reader.said[0]).toMatch(complaint)
    expect(test.connections).toBe(2)
  })

  it('the miner does not obey a pool that redirects its miners elsewhere', async () => {
    const test = await pool()
    const { reader } = await mining([test.url()])
    await reader.job()
    test.say({ id: null, method: 'client.reconnect', params: ['pool.attacker.example', 3333, 0] })
    await expect
      .poll(() => reader.said, SOON)
      .toEqual([expect.stringMatching(/attacker.example:3333, outside its own domain/)])
    expect(test.connections).toBe(1)
  })

  it('the miner reports the words of a pool that refuses the user', async () => {
    const test = await pool({ authorized: false })
    const stop = new AbortController()
    const waited: string[] = []
    const options = { trust: {}, agent: 'newcut/test', clock: systemClock, random: Math.random, failbackMs: 1000 }
    const reached = PoolSource.reach(
      { ...options, pools: [readPoolAddress(test.url())] },
      (text) => waited.push(text),
      stop.signal,
    )
    await expect
      .poll(() => waited, SOON)
      .toEqual([expect.stringMatching(/refuses the user: no such user; trying again$/)])
    stop.abort(new Error('enough'))
    await expect(reached).rejects.toThrow('enough')
  })

  it('a pool may make its miners wait before they reconnect, while they search for another pool', async () => {
    const [from, to, other] = [await pool(), await pool(), await pool()]
    const clock = new VirtualClock()
    const { reader } = await mining([from.url(), other.url()], { clock })
    await reader.job(({ issuer }) => issuer.endsWith(`:${from.port}`))
    await expect.poll(() => other.connections, SOON).toBe(1)
    from.say({ id: null, method: 'client.reconnect', params: [null, to.port, 2] })
    await reader.job(({ issuer }) => issuer.endsWith(`:${other.port}`))
    await clock.pass(1_999)
    expect(to.connections).toBe(0)
    await clock.pass(1)
    await expect.poll(() => to.connections, SOON).toBe(1)
    expect(from.connections).toBe(1)
  })

  it('the miner leaves a silent pool for another one, although it sends shares', async () => {
    const [silent, other] = [await pool({ answer: () => undefined }), await pool()]
    const clock = new VirtualClock()
    const { source, reader } = await mining([silent.url(), other.url()], { clock })
    const job = await reader.job(({ issuer }) => issuer.endsWith(`:${silent.port}`))
    await expect.poll(() => source.upstreams()[1].up, SOON).toBe(true)
    const share = shareOf(job)
    for (let i = 0; i < 3; i++) {
      void source.submit(share)
      await clock.pass(10_000)
    }
    await reader.job(({ issuer }) => issuer.endsWith(`:${other.port}`))
    expect(reader.said[0]).toMatch(/said nothing for 30 s.* has its work searched meanwhile$/)
  })

  it('a pool may redirect its miners to another of its ports', async () => {
    const [from, to] = [await pool(), await pool()]
    const { reader } = await mining([from.url()])
    const first = await reader.job()
    from.say({ id: null, method: 'client.reconnect', params: ['127.0.0.1', to.port, 0] })
    await reader.job(({ id }) => id !== first.id)
    expect(to.connections).toBe(1)
  })
})

describe('pool with TLS', () => {
  const fixture = (name: string) => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8')
  const tls = { key: fixture('tls-test-key.pem'), cert: fixture('tls-test-cert.pem') }

  it('the miner trusts a pool by its TLS fingerprint, and by no other', async () => {
    const test = await pool({ tls })
    const { X509Certificate } = await import('node:crypto')
    const { fingerprint256 } = new X509Certificate(tls.cert)
    const { source, reader } = await mining([test.url()], {
      trust: { fingerprint: fingerprint256.replaceAll(':', '') },
    })
    expect(await source.submit(shareOf(await reader.job()))).toEqual({ step: 'acknowledged' })

    const stranger = await pool({ tls })
    const stop = new AbortController()
    const waited: string[] = []
    const options = { agent: 'newcut/test', clock: systemClock, random: Math.random, failbackMs: 1000 }
    for (const trust of [{ fingerprint: 'ab'.repeat(32) }, {}]) {
      const pools = [readPoolAddress(stranger.url())]
      PoolSource.reach({ ...options, pools, trust }, (text) => waited.push(text), stop.signal).catch(() => undefined)
    }
    await expect.poll(() => waited.length, SOON).toBe(2)
    stop.abort()
    expect(waited.sort()).toEqual([
      expect.stringMatching(/its certificate has the fingerprint/),
      expect.stringMatching(/self-signed|certificate/),
    ])
    expect(stranger.methods).toEqual([])
  })
})

describe('recorded sessions', () => {
  const file = new URL('../../vectors/stratum.json', import.meta.url)
  const { sessions } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly sessions: readonly { readonly pool: string; readonly messages: readonly Recorded[] }[]
  }
  interface Recorded {
    readonly dir: string
    readonly raw: string
    readonly decoded?: { readonly chain?: number; readonly height?: number; readonly target_be_hex?: string }
  }

  it.each(sessions)('the recorded session of $pool replays', async ({ messages }) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        // Newcut uses the same ids as the recorded client: authorize 1, subscribe 2.
        for (const { dir, raw } of messages) if (dir === 'server->client') socket.write(`${raw}\n`)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => server.close())
    const { port } = server.address() as { port: number }
    const { reader } = await mining([`stratum+tcp://user@127.0.0.1:${port}`])
    const last = messages.at(-1)?.decoded
    const job = await reader.job(
      ({ work }) => work.fields.chainId === last?.chain && Number(work.fields.height) === last?.height,
    )
    const target = messages.find(({ decoded }) => decoded?.target_be_hex !== undefined)?.decoded?.target_be_hex
    expect(job.target.toString(16).padStart(64, '0')).toBe(target)
    expect(job.fixedNonce.bits).toBe(16)
  })
})

it('a miner with threads has all its shares accepted', async () => {
  const test = await pool({ difficulty: 2_000_000n })
  const stop = new AbortController()
  const options = { trust: {}, agent: 'newcut/test', clock: systemClock, random: Math.random, failbackMs: 1000 }
  const source = await PoolSource.reach(
    { ...options, pools: [readPoolAddress(test.url())] },
    () => undefined,
    stop.signal,
  )
  const engine = new CpuEngine({
    ranges: nonceRanges(2, Math.random),
    kernel: 'auto',
    priority: 'low',
    clock: systemClock,
  })
  const events: MinerEvent[] = []
  const onEvent = (event: MinerEvent) => void events.push(event)
  const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent, blocks: 20 })
  const { solutions, hardwareErrors } = await miner.run(stop.signal)
  expect(solutions).toMatchObject({ accepted: 20, rejected: 0, stale: 0, lost: 0 })
  expect(hardwareErrors).toBe(0)
  expect(test.shares.every(({ verdict }) => verdict === 'accepted')).toBe(true)
  expect(events.filter((event) => event.type === 'solution' && event.step === 'credited')).toHaveLength(20)
})

it.each(['0a0b0c', 'fa0b0c0d'])(
  'a miner with threads mines with the nonce1 %s, and shows the messages of the pool',
  async (nonce1) => {
    const test = await pool({ difficulty: 1_000_000n, nonce1, nonce2Bytes: 8 - nonce1.length / 2 })
    const stop = new AbortController()
    const options = { trust: {}, agent: 'newcut/test', clock: systemClock, random: Math.random, failbackMs: 1000 }
    const pools = [readPoolAddress(test.url())]
    const source = await PoolSource.reach({ ...options, pools }, () => undefined, stop.signal)
    const ranges = nonceRanges(2, Math.random)
    const engine = new CpuEngine({ ranges, kernel: 'auto', priority: 'low', clock: systemClock })
    const events: MinerEvent[] = []
    const onEvent = (event: MinerEvent) => {
      events.push(event)
      if (event.type === 'work') test.say({ id: null, method: 'client.show_message', params: ['down at noon'] })
    }
    const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent, blocks: 10 })
    const { solutions, hardwareErrors } = await miner.run(stop.signal)
    expect(solutions).toMatchObject({ accepted: 10, rejected: 0, stale: 0, lost: 0 })
    expect(hardwareErrors).toBe(0)
    expect(test.shares.every(({ verdict }) => verdict === 'accepted')).toBe(true)
    expect(events.filter(({ type }) => type === 'trouble' || type === 'notice')).toEqual([
      { type: 'notice', message: expect.stringMatching(/^pool stratum.*: down at noon$/) },
    ])
  },
)

it('a miner counts the shares that are blocks, by their hashes', async () => {
  const test = await pool({ difficulty: 500_000n })
  // Half of the shares meet the block target.
  test.notify(freshWork(1_000_000n))
  const stop = new AbortController()
  const options = { trust: {}, agent: 'newcut/test', clock: systemClock, random: Math.random, failbackMs: 1000 }
  const source = await PoolSource.reach(
    { ...options, pools: [readPoolAddress(test.url())] },
    () => undefined,
    stop.signal,
  )
  const engine = new CpuEngine({
    ranges: nonceRanges(1, Math.random),
    kernel: 'auto',
    priority: 'low',
    clock: systemClock,
  })
  const events: MinerEvent[] = []
  const onEvent = (event: MinerEvent) => void events.push(event)
  const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent, blocks: 30 })
  const { poolBlocks } = await miner.run(stop.signal)
  const found = events.filter((event) => event.type === 'solution' && event.step === 'found')
  const isBlock = found.map(({ work }) => meets(powHash(decodeBase64Url(work)), MAX_TARGET / 1_000_000n))
  expect(found.map(({ isPoolBlock }) => isPoolBlock)).toEqual(isBlock)
  expect(found).toHaveLength(30)
  expect(poolBlocks).toBe(isBlock.filter((each) => each).length)
  expect(poolBlocks).toBeGreaterThan(0)
  expect(poolBlocks).toBeLessThan(30)
})
