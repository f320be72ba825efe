/** Differences between pools: the official client's server, and the message orders of recorded sessions. */
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeHex, readU64LE } from '../../../src/ground/base/bytes.ts'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { CpuEngine } from '../../../src/mining/engine/cpu/cpu.ts'
import { nonceRanges } from '../../../src/mining/engine/range.ts'
import { Miner } from '../../../src/mining/mine/miner.ts'
import { readPoolAddress } from '../../../src/mining/source/pool/address.ts'
import { PoolSource } from '../../../src/mining/source/pool/pool-source.ts'
import type { Job } from '../../../src/mining/source/source.ts'
import { SourceReader } from '../../conformance/source.ts'
import { settle } from '../../mine/virtual-clock.ts'
import { freshWork, UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { FIRST_TARGET, type OfficialRules, OfficialServer } from './official.ts'

const SOON = { interval: 10 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function official(rules: Partial<OfficialRules>): Promise<OfficialServer> {
  const plain = { works: [], level: 'block', greets: 'subscribed', rateMs: 150, nonce1: 0x0a } as const
  const server = await new OfficialServer({ ...plain, ...rules }).listen()
  cleanups.push(() => server.close())
  return server
}

function reached(port: number): Promise<PoolSource> {
  const stop = new AbortController()
  cleanups.push(() => stop.abort())
  const pools = [readPoolAddress(`stratum+tcp://k%3Aab.rig@127.0.0.1:${port}`)]
  const options = { trust: {}, agent: 'newcut/test', clock: systemClock, random: Math.random, failbackMs: 1000 }
  return PoolSource.reach({ ...options, pools }, () => undefined, stop.signal)
}

const cpu = () =>
  new CpuEngine({ ranges: nonceRanges(1, Math.random), kernel: 'auto', priority: 'low', clock: systemClock })

/** Mines until this many shares are accepted. */
async function earned(port: number, blocks: number, engine = cpu()) {
  const source = await reached(port)
  const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent: () => undefined, blocks })
  const stop = new AbortController()
  cleanups.push(() => stop.abort())
  return miner.run(stop.signal)
}

describe('server of the official client', () => {
  it.each([
    ['jobs come once the client has subscribed', 'subscribed'],
    ['jobs come before the client says anything', 'connected'],
  ] as const)('the miner finds blocks if %s', async (_, greets) => {
    const works = Array.from({ length: 12 }, () => freshWork(2_000_000n))
    const server = await official({ works, greets })
    const { solutions, hardwareErrors } = await earned(server.port, 10)
    expect(solutions).toMatchObject({ accepted: 10, rejected: 0, lost: 0 })
    expect(hardwareErrors).toBe(0)
    expect(server.closed).toEqual([])
    // Only a share that crosses the next work on the wire may be stale. No share may have another fault.
    expect(server.verdicts.filter((each) => each !== 'accepted' && each !== 'stale')).toEqual([])
    expect(server.blocks).toBe(server.verdicts.filter((each) => each === 'accepted').length)
    // Each block is the first share of its work, because the block target is easier than level 42.
    expect(server.targets).toEqual([(MAX_TARGET / 2_000_000n).toString(16).padStart(64, '0')])
  })

  it('the miner finds shares once the target is easier than level 42', async () => {
    const server = await official({ works: [freshWork(UNREACHABLE)], level: 18n, nonce1: 0xa700 })
    const engine = cpu()
    const mined = earned(server.port, 10, engine)
    await expect.poll(() => server.targets.length, SOON).toBe(1)
    expect(BigInt(`0x${server.targets[0]}`)).toBe(FIRST_TARGET)
    // Enough hashes for eight shares at the easier target.
    await until(() => engine.hashes() > 2 ** 21)
    expect(server.verdicts).toEqual([])
    server.setTarget()
    const { solutions } = await mined
    expect(solutions).toMatchObject({ accepted: 10, rejected: 0, stale: 0, lost: 0 })
    expect(server.closed).toEqual([])
    expect(server.blocks).toBe(0)
  })

  it('a share of obsolete work is stale, and the session continues', async () => {
    const server = await official({ works: [freshWork(4n), freshWork(4n), freshWork(4n)], rateMs: 1e6 })
    const source = await reached(server.port)
    const reader = new SourceReader(source)
    cleanups.push(async () => {
      reader.stop.abort()
      await reader.ended
    })
    const first = await reader.job()
    expect(await source.submit(shareOf(first))).toEqual({ step: 'acknowledged' })
    const second = await reader.job(({ id }) => id !== first.id)
    expect(await source.submit(shareOf(first, 1000n))).toEqual({ step: 'stale' })
    expect(await source.submit(shareOf(second))).toEqual({ step: 'acknowledged' })
    expect(server.closed).toEqual([])
    expect(server.verdicts).toEqual(['accepted', 'stale', 'accepted'])
  })
})

function shareOf(job: Job, from = 0n) {
  const { bits, value } = job.fixedNonce
  for (let high = from; ; high++) {
    const bytes = withNonce(job.work.bytes, (high << BigInt(bits)) | BigInt(value))
    if (meets(powHash(bytes), job.target)) return { job, bytes: Uint8Array.from(bytes) }
  }
}

/** A server with a scripted reaction to each method, and a log of the requests. */
async function scripted(answers: Readonly<Record<string, (id: number, socket: Socket) => void>>) {
  const asked: { readonly method: string; readonly params: readonly string[] }[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
        asked.push({ method, params })
        answers[method ?? 'answer']?.(id, socket)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => server.close())
  return { asked, port: (server.address() as { port: number }).port }
}

const line = (message: object) => `${JSON.stringify(message)}\n`
const EASY = (MAX_TARGET / 256n).toString(16).padStart(64, '0')
const target = line({ id: null, method: 'mining.set_target', params: [EASY] })
const notify = (id: string, work: Uint8Array, ...flag: boolean[]) =>
  line({ id: null, method: 'mining.notify', params: [id, encodeHex(work), ...flag] })

async function firstShare(port: number, reaching = reached(port)) {
  const source = await reaching
  const reader = new SourceReader(source)
  cleanups.push(async () => {
    reader.stop.abort()
    await reader.ended
  })
  const job = await reader.job()
  return { job, receipt: await source.submit(shareOf(job)), jobs: reader.jobs }
}

describe('message order of other pools', () => {
  it('a session can be like antpool: target and eight jobs after the user, nonce1 later, with its list of subscriptions', async () => {
    const works = Array.from({ length: 8 }, () => freshWork(UNREACHABLE))
    const subscriptions = [
      ['mining.notify', '40591'],
      ['mining.set_difficulty', '40592'],
    ]
    let subscribed = 0
    const { asked, port } = await scripted({
      'mining.subscribe': (id) => {
        subscribed = id
      },
      'mining.authorize': (id, socket) => {
        socket.write(line({ id, result: true, error: null }) + target)
        for (const [index, work] of works.entries()) socket.write(notify(String(3361 + index), work, true))
        socket.write(line({ id: subscribed, result: [subscriptions, '4059', 6], error: null }))
      },
      'mining.submit': (id, socket) => socket.write(line({ id, result: true, error: null })),
    })
    const { job, receipt, jobs } = await firstShare(port)
    expect(job.work.bytes).toEqual(works[7])
    expect(job.fixedNonce).toEqual({ bits: 16, value: 0x4059 })
    expect(jobs).toHaveLength(1)
    expect(receipt).toEqual({ step: 'acknowledged' })
    const { params } = asked[asked.length - 1]
    expect(params.slice(0, 2)).toEqual(['k:ab.rig', '3368'])
    const { bytes } = shareOf(job)
    // The first bytes of the nonce on the wire are nonce1, lowest first; nonce2 is the rest.
    expect(readU64LE(bytes, 278)).toBe(BigInt(`0x${params[2]}4059`))
  })

  it('a session can be like poolflare: two parameters of a job, and the target before it', async () => {
    const work = freshWork(UNREACHABLE)
    const { asked, port } = await scripted({
      'mining.authorize': (id, socket) => socket.write(line({ id, result: true, error: null })),
      'mining.subscribe': (id, socket) =>
        socket.write(line({ id, result: [null, 'a796', 6], error: null }) + target + notify('5d064e41', work)),
      'mining.submit': (id, socket) => socket.write(line({ id, result: true, error: null })),
    })
    const { receipt } = await firstShare(port)
    expect(receipt).toEqual({ step: 'acknowledged' })
    expect(asked.at(-1)?.params[1]).toBe('5d064e41')
  })

  it('a pool gets no share before its late answer to the user', async () => {
    let authorize: () => unknown = () => undefined
    const { port, asked } = await scripted({
      'mining.subscribe': (id, socket) => {
        const answer = line({ id, result: [null, '09e8', 6], error: null })
        socket.write(answer + target + notify('6412800009e8', freshWork(UNREACHABLE), true))
        // The client answers this once it has read everything before it.
        socket.write(line({ id: 9, method: 'client.get_version', params: [] }))
      },
      'mining.authorize': (id, socket) => {
        authorize = () => socket.write(line({ id, result: [], error: null }))
      },
      'mining.submit': (id, socket) => socket.write(line({ id, result: true, error: null })),
    })
    let hasWork = false
    const reaching = reached(port).finally(() => {
      hasWork = true
    })
    await until(() => asked.length === 3)
    await settle()
    expect(hasWork).toBe(false)
    authorize()
    const { receipt } = await firstShare(port, reaching)
    expect(receipt).toEqual({ step: 'acknowledged' })
    expect(asked.at(-1)?.params[1]).toBe('6412800009e8')
  })
})
