/** Questions at the pin to nodes whose head moves, lies or stands still. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openCopy } from '../../src/language/copy/network-copy.ts'
import { PinnedCaller } from '../../src/language/copy/pinned-caller.ts'
import { RemoteNode } from '../../src/language/copy/remote-node.ts'
import { makeBlocks, startLedger } from '../devnet/commands-common.ts'
import { until } from '../wait.ts'
import { bodyOfRequest, proxyTo } from './proxy.ts'

const PIN = 50
const hashAt = (height: number) => `hash of ${height}`.padEnd(43, '_')

/** One chain of a node. Its head moves before each answer. */
interface MovingNode {
  head: number
  /** Blocks before an answer of this number. */
  growth: (answers: number) => number
  /** Changes the height that an answer tells. */
  told: (height: number) => number
  readonly takesHeights: boolean
  /** Height below which code fails. */
  readonly failsBelow: number
  /** Holds an answer back, after its code has run. */
  held: (code: string) => Promise<void>
  answers: number
}

const still: MovingNode = {
  head: 100,
  growth: () => 0,
  told: (height) => height,
  takesHeights: false,
  failsBelow: 0,
  held: async () => undefined,
  answers: 0,
}

async function askerOf(changes: Partial<MovingNode>) {
  const node: MovingNode = { ...still, ...changes }
  const server = createServer(async (request, response) => {
    const { cmd = '{}' } = JSON.parse((await bodyOfRequest(request)) || '{}') as { readonly cmd?: string }
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://node')
    if (pathname.endsWith('/cut')) {
      response.end(JSON.stringify({ hashes: { 0: { height: node.head, hash: 'A'.repeat(43) } } }))
      return
    }
    node.head += node.growth(node.answers++)
    const depth = Math.min(node.head, Number(searchParams.get('rewindDepth')))
    const height = node.takesHeights ? Number(searchParams.get('rewindHeight')) : node.head - depth
    const { code } = JSON.parse(cmd).payload.exec as { readonly code: string }
    const isFailure =
      code === '(fails)' || (code === '(new)' && height < node.failsBelow) || (code === '(old)' && height > PIN)
    const metaData = isFailure ? null : { blockHeight: node.told(height + 1), prevBlockHash: hashAt(height) }
    const result = isFailure ? { status: 'failure', error: { message: 'no' } } : { status: 'success', data: height }
    await node.held(code)
    response.end(JSON.stringify({ result, metaData }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const notices: string[] = []
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const onNotice = (message: string) => void notices.push(message)
  const remote = new RemoteNode({ url, perSecond: 1e6, timeoutMs: 60_000, onNotice })
  const caller = new PinnedCaller(remote, { network: 'development', chain: 0, height: PIN, hash: hashAt(PIN) })
  return { caller, node, remote, notices, url }
}

/** Growth by chance, around a mean, the same in every run. */
function byChance(mean: number): (answers: number) => number {
  let state = 1
  return () => {
    let blocks = 0
    for (let i = 0; i < 4 * mean; i++) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      if (state / 2 ** 31 < 0.25) blocks++
    }
    return blocks
  }
}

describe('a question at the pin', () => {
  it.each([0, 1, 2, 7, 50, 1_000])(
    'a question at the pin needs few requests while the head moves by %d each time',
    async (k) => {
      const { caller, remote } = await askerOf({ growth: () => k })
      for (const most of [5, 3, 3]) {
        const before = remote.requests
        expect(await caller.exec('(height)')).toEqual({ value: PIN })
        expect(remote.requests - before).toBeLessThanOrEqual(most)
      }
    },
  )

  it.each([
    ['by 0 and by 2 in turn', (answers: number) => 2 * (answers % 2)],
    ['by 1 and by 5 in turn', (answers: number) => 1 + 4 * (answers % 2)],
    ['by 0, by 0 and by 5 in turn', (answers: number) => (answers % 3 === 2 ? 5 : 0)],
    ['by about 3, by chance', byChance(3)],
    ['by about 40, by chance', byChance(40)],
  ])('a question at the pin gets its answer from a head that moves %s', async (_, growth) => {
    const { caller } = await askerOf({ growth })
    for (let i = 0; i < 5; i++) expect(await caller.exec('(height)')).toEqual({ value: PIN })
  })

  it('a question at the pin gets its answer at once from a node that takes heights', async () => {
    const { caller, remote } = await askerOf({ takesHeights: true, growth: byChance(40) })
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    // The first one is for the cut.
    expect(remote.requests).toBe(2)
    expect(await caller.exec('(fails)')).toEqual({ failure: 'no' })
    expect(remote.requests).toBe(4)
  })

  it('a question at the pin fails if its node states wrong heights only, and the next one starts again', async () => {
    const lie = { isOn: true }
    const { caller, notices, url } = await askerOf({ told: (height) => (lie.isOn ? height + 1_000_000 : height) })
    await expect(caller.exec('(height)')).rejects.toThrow(
      `the forked node ${url} returned 200 answers at other heights than ${PIN + 1}`,
    )
    expect(notices[0]).toBe(
      `chain 0 of the forked node ${url} gets blocks faster than answers come: newcut has asked 8 times for the state at height 50`,
    )
    expect(notices).toHaveLength(2)
    lie.isOn = false
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
  })

  it('a question at the pin fails if its code fails there', async () => {
    const { caller } = await askerOf({})
    expect(await caller.exec('(fails)')).toEqual({ failure: 'no' })
  })

  it('a question at the pin may use far more gas than a block has', async () => {
    const { caller } = await askerOf({})
    const { cmd } = caller.command({})
    expect(JSON.parse(cmd).meta.gasLimit).toBeGreaterThan(20 * 150_000)
  })

  it('a question at the pin fails in few requests once the head stands still', async () => {
    const { caller, node } = await askerOf({ growth: () => 3 })
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    node.growth = () => 0
    const before = node.answers
    expect(await caller.exec('(fails)')).toEqual({ failure: 'no' })
    // Each attempt has a check. The first one is too deep, and the second one is not.
    expect(node.answers - before).toBe(4)
  })

  it('a question at the pin does not take the failure of another height for its own', async () => {
    // The first question teaches that the head moves by 3. Then it stands still, and the code runs 3 blocks too deep.
    const { caller, node } = await askerOf({ growth: () => 3, failsBelow: PIN })
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    const next = node.answers
    node.growth = (answers) => (answers === next + 1 ? 3 : 0)
    expect(await caller.exec('(new)')).toEqual({ value: PIN })
  })

  it('a question at the pin ignores the failure of another height while other answers come', async () => {
    const { caller, node } = await askerOf({ growth: () => 3, failsBelow: PIN })
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    // The code runs 3 blocks too deep. Before its failure arrives, the head moves by 3, which another answer tells.
    let answer: () => void = () => undefined
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    node.held = async (code) => (code === '(new)' ? answered : undefined)
    node.growth = () => 0
    const next = node.answers
    const first = caller.exec('(new)')
    await until(() => node.answers > next)
    node.growth = (answers) => (answers === next + 1 ? 3 : 0)
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    answer()
    expect(await first).toEqual({ value: PIN })
  })

  it('a question at the pin does not take a failure above the pin for its own', async () => {
    const { caller, node } = await askerOf({})
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    const next = node.answers
    node.growth = (answers) => (answers === next ? 1 : 0)
    expect(await caller.exec('(old)')).toEqual({ value: PIN })
  })

  it('a question at the pin follows a head that falls back to the pin, and refuses a lower one', async () => {
    const { caller, node, url } = await askerOf({ head: PIN + 3 })
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    node.head = PIN
    expect(await caller.exec('(height)')).toEqual({ value: PIN })
    node.head = PIN - 1
    // The next questions begin with the head that the node names.
    for (const code of ['(height)', '(height)', '(fails)']) {
      await expect(caller.exec(code)).rejects.toThrow(
        `the chain 0 of the forked node ${url} is only at height ${PIN - 1}, below the pin at ${PIN}`,
      )
    }
  })
})

it('a fork begins while the forked network makes a block of each chain before each answer', async () => {
  const { devnet, peer } = await startLedger()
  await makeBlocks(peer, { 0: 12, 1: 12 })
  const proxy = await proxyTo(devnet.url)
  let questions = 0
  proxy.manner = async (request, forward) => {
    if (request.url.includes('/local')) questions++
    if (request.url.includes('/local')) await makeBlocks(peer, { 0: 1, 1: 1 })
    return forward()
  }
  const fork = await openCopy({
    url: proxy.url,
    cut: null,
    chains: null,
    cacheFolder: null,
    perSecond: 1e6,
    timeoutMs: 60_000,
    tableRows: 100,
    pactKeys: [],
  })
  for (const chain of [0, 1]) {
    expect(await fork.chain(chain).fetcher.caller.exec('(at "block-height" (chain-data))')).toEqual({
      value: { int: fork.pin.height + 1 },
    })
  }
  expect(questions).toBe(2)
  // The pin shows how far below the heads it is.
  expect(proxy.seen.filter(({ url }) => url.endsWith('/cut'))).toHaveLength(1)
})
