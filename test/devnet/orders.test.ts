import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { allCores, EngineSearch } from '../../src/compose/nonce-search.ts'
import { BlockRequest } from '../../src/devnet/control/block-request.ts'
import type { NonceSearch } from '../../src/devnet/control/nonce-search.ts'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import { targetOfDifficulty } from '../../src/ground/chain/target.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { until } from '../wait.ts'
import { checkNode } from './checker.ts'
import { start as startNode } from './common.ts'
import { order } from './control-common.ts'
import { Peer } from './request.ts'
import type { DevnetOptions } from './whole-node.ts'

async function start(options: DevnetOptions, machine: Partial<HostMachine> = {}) {
  const { devnet } = await startNode(options, machine)
  const peer = new Peer(devnet.url)
  onTestFinished(() => peer.close())
  return { devnet, peer }
}

const oneThread = { ...allCores, threads: 1 }

/**
 * The search of a real node but with one thread, endless if so asked, and a promise that resolves once it has tried
 * nonces.
 */
function watchedSearch(isEndless = false) {
  const engine = new EngineSearch(oneThread, () => undefined)
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const search: NonceSearch = {
    search: (work, target, { signal, onHashes }) => {
      const hear = (hashes: number) => {
        if (hashes > 0) begin()
        onHashes(hashes)
      }
      return engine.search(work, isEndless ? 0n : target, { signal, onHashes: hear })
    },
    close: () => engine.close(),
  }
  return { search, begun }
}

/** Sends an order whose caller can disconnect before the answer. */
function sendOrder(url: string, path: string, body: unknown) {
  const sent = request(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' } })
  sent.on('error', () => undefined)
  sent.end(JSON.stringify(body))
  return sent
}

describe('an order on a network with proof of work', () => {
  it('an order on a network with proof of work searches difficult blocks with the engine, and keeps every rule', async () => {
    const { devnet, peer } = await start({ graph: 'pair', difficulty: 200_000n })
    expect((await order(peer, '/make-blocks', { 0: 2, 1: 2 })).made).toEqual({ 0: 2, 1: 2 })
    expect((await checkNode({ url: devnet.url })).violations).toEqual([])
  })

  it('an order on a network with proof of work ends when its caller disconnects, and so does the search', async () => {
    const { search, begun } = watchedSearch(true)
    const { devnet, peer } = await start({ graph: 'pair', difficulty: 15_000_000_000n }, { search })
    const sent = sendOrder(devnet.url, '/make-blocks', { 0: 1 })
    await begun
    sent.destroy()
    // Orders run one at a time, so this answer comes after the end of the previous order.
    await order(peer, '/devnet/difficulty', { difficulty: 50 })
    expect(devnet.blocks).toBe(2)
    expect((await order(peer, '/make-blocks', { 0: 1 })).made).toEqual({ 0: 1 })
  })

  it('an order on a network with proof of work does not start if its caller disconnected before its turn', async () => {
    const { search, begun } = watchedSearch(true)
    let leave: () => void = () => undefined
    const hasLeft = new Promise<void>((resolve) => {
      leave = resolve
    })
    const onRequest = () => leave()
    const { devnet, peer } = await start({ graph: 'pair', difficulty: 15_000_000_000n, onRequest }, { search })
    const first = sendOrder(devnet.url, '/make-blocks', { 0: 1 })
    await begun
    const second = sendOrder(devnet.url, '/make-blocks', { 1: 1 })
    await once(second, 'finish')
    second.destroy()
    // The node reports a request at its end; this report is of the second.
    await hasLeft
    first.destroy()
    await order(peer, '/devnet/difficulty', { difficulty: 50 })
    expect(devnet.blocks).toBe(2)
  })

  it('an order on a network with proof of work reports its progress every five seconds', async () => {
    const clock = new VirtualClock()
    const notices: string[] = []
    let found: (nonce: bigint) => void = () => undefined
    let tell: (hashes: number) => void = () => undefined
    const search: NonceSearch = {
      search: (_work, _target, { onHashes }) => {
        tell = onHashes
        return new Promise((resolve) => {
          found = resolve
        })
      },
      close: () => Promise.resolve(),
    }
    const { signal } = new AbortController()
    const durable = () => Promise.resolve()
    const onNotice = (message: string, kind?: string) => {
      expect(kind).toBe('progress')
      notices.push(message)
    }
    const running = new BlockRequest({ name: 'make-blocks', signal, durable, search, clock, onNotice }, 4)
    const { devnet } = await start({ graph: 'pair', difficulty: 1_000_000_000n })
    const work = devnet.chains.newWork(0, new Uint8Array(32))
    if ('blockedBy' in work) throw new Error('blocked')
    const solved = running.solve(work)
    await clock.pass(0)
    tell(300_000_000)
    await clock.pass(4999)
    expect(notices).toEqual([])
    await clock.pass(1)
    expect(notices).toEqual(['make-blocks: 0 of 4 blocks made, 300M hashes searched, about 4.00G expected in all'])
    tell(1_500_000_000)
    found(7n)
    expect(await solved).toEqual({ ...work, nonce: 7n })
    running.made++
    await clock.pass(5000)
    expect(notices[1]).toBe('make-blocks: 1 of 4 blocks made, 1.50G hashes searched, about 4.00G expected in all')
    running.end()
    expect(clock.pending).toBe(0)
  })
})

it('an order without proof of work ends when its caller disconnects; its finished blocks stay', async () => {
  const { devnet, peer } = await start({ pow: false, graph: 'petersen' })
  const counts = Object.fromEntries([...devnet.cut.keys()].map((chain) => [chain, 9000]))
  const sent = sendOrder(devnet.url, '/make-blocks', counts)
  await until(() => devnet.blocks > 100)
  sent.destroy()
  const paused = await order(peer, '/devnet/pause', { chain: 0 })
  expect(paused).toEqual({ paused: [0] })
  const { blocks } = devnet
  expect(blocks).toBeGreaterThan(100)
  expect(blocks).toBeLessThan(90_000)
  // A leftover of the order would make blocks before these orders end.
  for (let i = 0; i < 3; i++) await order(peer, '/devnet/pause', { chain: 0 })
  expect(devnet.blocks).toBe(blocks)
})

describe('the search of a node', () => {
  const work = Uint8Array.from({ length: 286 }, (_, i) => i)
  const quiet = { onHashes: () => undefined }

  it('the search of a node finds a nonce that meets the target, one search after the other', async () => {
    const search = new EngineSearch(allCores, () => undefined)
    onTestFinished(() => search.close())
    const target = targetOfDifficulty(100_000n)
    for (let i = 0; i < 5; i++) {
      const bytes = Uint8Array.from(work)
      bytes[20] = i
      const hashes: number[] = []
      const { signal } = new AbortController()
      const nonce = await search.search(bytes, target, { signal, onHashes: (count) => hashes.push(count) })
      new DataView(bytes.buffer).setBigUint64(278, nonce, true)
      expect(meets(powHash(bytes), target)).toBe(true)
      expect(hashes.at(-1)).toBeGreaterThanOrEqual(0)
    }
  })

  it('the search of a node ends with the reason of its signal, and can search again', async () => {
    const { search, begun } = watchedSearch()
    onTestFinished(() => search.close())
    const left = new AbortController()
    const endless = search.search(work, 0n, { signal: left.signal, ...quiet })
    await begun
    left.abort(new Error('left'))
    await expect(endless).rejects.toThrow('left')
    const { signal } = new AbortController()
    expect(typeof (await search.search(work, targetOfDifficulty(1000n), { signal, ...quiet }))).toBe('bigint')
  })

  it('the search of a node continues longer than the threads stay between two searches', async () => {
    const search = new EngineSearch(oneThread, () => undefined)
    onTestFinished(() => search.close())
    const searched = (difficulty: bigint) =>
      search.search(work, targetOfDifficulty(difficulty), { signal: new AbortController().signal, ...quiet })
    // The threads start in real time.
    await searched(1000n)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await searched(1000n)
    const long = searched(20_000_000n)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(typeof (await long)).toBe('bigint')
  })

  it('the search of a node ends when it is closed', async () => {
    const search = new EngineSearch(oneThread, () => undefined)
    const endless = search.search(work, 0n, { signal: new AbortController().signal, ...quiet })
    const ended = expect(endless).rejects.toThrow('the node is closed')
    await search.close()
    await ended
  })
})

describe('a fork', () => {
  it('a fork leaves no chain lower than it was', async () => {
    const { devnet, peer } = await start({ graph: 'petersen', pow: false })
    await order(peer, '/make-blocks', { 0: 9 })
    for (const [chain, depth] of [
      [0, 1],
      [0, 6],
      [7, 3],
      [3, 2],
    ]) {
      const before = new Map([...devnet.cut].map(([each, { height }]) => [each, height]))
      await order(peer, '/devnet/fork', { chain, depth })
      for (const [each, { height }] of devnet.cut) expect(height).toBeGreaterThanOrEqual(before.get(each) ?? 0n)
    }
  })

  it('a fork leaves no chain lower if the old branch was easier to outweigh', async () => {
    const { devnet, peer } = await start({ graph: 'pair', difficulty: 4n })
    await order(peer, '/make-blocks', { 0: 10, 1: 10 })
    // One block of the new branch outweighs the whole old one.
    await order(peer, '/devnet/difficulty', { difficulty: 2000 })
    const before = [...devnet.cut.values()].map(({ height }) => height)
    await order(peer, '/make-blocks', { 0: 1, 1: 1 })
    await order(peer, '/devnet/fork', { chain: 0, depth: 6 })
    for (const [chain, { height }] of devnet.cut) expect(height).toBeGreaterThanOrEqual(before[chain])
  })
})
