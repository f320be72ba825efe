import { describe, expect, it, onTestFinished } from 'vitest'
import { developmentAccount } from '../../src/devnet/control/block-maker.ts'
import { TaskQueue } from '../../src/devnet/control/queue.ts'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import { createApp, writeRefusal } from '../../src/devnet/http/app.ts'
import { Controls, interceptOf } from '../../src/devnet/http/controls.ts'
import { Faults } from '../../src/devnet/http/faults.ts'
import { Router } from '../../src/devnet/http/router.ts'
import { StreamGate } from '../../src/devnet/http/stream/stream-gate.ts'
import { foreignRefusal } from '../../src/devnet/http/this-machine.ts'
import { Chains } from '../../src/devnet/rules/chains.ts'
import { noJournal } from '../../src/devnet/rules/journal.ts'
import { NodeClock } from '../../src/devnet/rules/node-clock.ts'
import { isLoopback } from '../../src/ground/base/host.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { controlOperations } from '../../src/ground/schema/control.ts'
import { operations } from '../../src/ground/schema/operations.ts'
import { outerAddress } from '../addresses.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { until } from '../wait.ts'
import { noSearch } from './block-payload.ts'
import { checkNode } from './checker.ts'
import { brief, clockByHand, jsonOf, PREFIX, type Started, sharedNode, start as startNode } from './common.ts'
import { order, post, refusal, rewound } from './control-common.ts'
import { coordinatorOf } from './coordinator.ts'
import { askForWork, chainOf, getWork, mineBlock, solve, submit, targetOf } from './miner.ts'
import { OpenResponse, Peer } from './request.ts'
import type { DevnetOptions } from './whole-node.ts'

async function start(options: DevnetOptions = {}, machine: Partial<HostMachine> = {}) {
  return controlled(await startNode(options, machine))
}

/** A network as new, which several tests share. None of them may leave a fault, a pause or an open stream. */
function shared(options: DevnetOptions = {}) {
  const ledger = rewound(sharedNode(options))
  return async () => controlled(await ledger())
}

const twenty = shared()
const unmined = shared({ graph: 'pair', pow: false })

function controlled({ devnet, additions }: Started) {
  const peer = new Peer(devnet.url)
  onTestFinished(() => peer.close())
  const status = async () => jsonOf(await peer.get('/devnet/status'))
  return { devnet, peer, additions, status }
}

const MAX = (1n << 256n) - 1n
const EVENT = 'event:New Cut\n\n'

async function watch(url: string, chain: number): Promise<OpenResponse> {
  const body = Buffer.alloc(4)
  body.writeUInt32LE(chain)
  const stream = await OpenResponse.open(`${url}${PREFIX}/mining/updates`, { body })
  onTestFinished(() => stream.destroy())
  return stream
}

describe('access control', () => {
  it.each(['/devnet/make-blocks', '/make-blocks', '/devnet/fork', '/devnet/clock'])(
    '%s needs a body of type JSON',
    async (path) => {
      const { peer } = await twenty()
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
        const answer = await peer.request('POST', path, { headers: { 'content-type': type }, body: '{"0":1}' })
        expect(answer.status).toBe(415)
        expect(answer.body.toString()).toBe('expected a body of type application/json')
      }
      const without = await peer.request('POST', path, { body: '{"0":1}' })
      expect(without.status).toBe(415)
      const preflight = await peer.request('OPTIONS', path, {
        headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
      })
      expect(preflight.status).toBe(405)
      expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      expect((await post(peer, path, '{')).status).toBe(400)
    },
  )

  const attempt = async (peer: Peer, host: string) => {
    const headers = { 'content-type': 'application/json', host }
    return brief(await peer.request('POST', '/devnet/clock', { headers, body: '{"advanceMs":0}' }))
  }

  it.each([
    ['evil.example:1848', 'evil.example'],
    ['192.0.2.1', '192.0.2.1'],
    ['[2001:db8::1]:1848', '2001:db8::1'],
    ['localhost.evil.example', 'localhost.evil.example'],
  ])('access control refuses a request of this machine for another host: %j', async (host, named) => {
    const { peer } = await twenty()
    expect(await attempt(peer, host)).toEqual([
      403,
      'text/plain;charset=utf-8',
      `control needs localhost, 127.0.0.1 or [::1] in the URL, not ${named}`,
    ])
  })

  it('access control accepts names and addresses of this machine as host', async () => {
    const { peer } = await twenty()
    for (const host of ['localhost:1848', '127.0.0.1', '[::1]:1848', 'LOCALHOST', '0.0.0.0:1848']) {
      expect((await attempt(peer, host))[0], host).toBe(200)
    }
  })

  it('access control refuses every order and backup at an address that others reach, but serves the node there', async (context) => {
    const outer = outerAddress()
    if (outer === undefined) return context.skip('this machine has no address but loopback')
    const { devnet, peer } = await start({ pow: false, host: '0.0.0.0' })
    const others = new Peer(devnet.url.replace('0.0.0.0', outer))
    onTestFinished(() => others.close())
    for (const { method, path } of [...Object.values(controlOperations), operations.makeBackup]) {
      for (const host of [undefined, '127.0.0.1:1848', 'localhost']) {
        const headers = { 'content-type': 'application/json', ...(host !== undefined && { host }) }
        const answer = await others.request(method, path, { headers, body: '{}' })
        expect(answer.status, `${method} ${path}`).toBe(403)
        expect(answer.body.toString()).toBe(`control is for this machine only, not for ${outer}`)
      }
    }
    for (const path of ['/info', `${PREFIX}/cut`]) expect((await others.get(path)).status).toBe(200)
    expect((await askForWork(others)).status).toBe(200)
    // The same node at its loopback address.
    const loopback = new Peer(devnet.url.replace('0.0.0.0', '127.0.0.1'))
    onTestFinished(() => loopback.close())
    expect((await order(loopback, '/make-blocks', { 0: 1 })).made).toEqual({ 0: 1 })
    expect((await peer.get('/devnet/status')).status).toBe(200)
  })

  it.each([
    ['127.0.0.1', true],
    ['127.8.9.1', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:10.0.0.1', false],
    ['10.0.0.1', false],
    ['1.127.0.0', false],
    ['fe80::1', false],
    ['', false],
  ])('%j as an address of this machine: %s', (address, isOurs) => {
    expect(isLoopback(address)).toBe(isOurs)
  })

  it('access control refuses other machines with 403 as text', async () => {
    const app = createApp({ product: 'chainweb', packageVersion: '0', nowMs: Date.now })
    app.post('/devnet/x', (request, reply) => {
      const refusal = foreignRefusal(request)
      return refusal === null ? reply.send('done') : writeRefusal(reply, refusal)
    })
    const call = async (remoteAddress: string, host = 'localhost') => {
      const request = { method: 'POST', url: '/devnet/x', remoteAddress, headers: { host } } as const
      const { statusCode, body, headers } = await app.inject(request)
      return [statusCode, body, headers['content-type']]
    }
    const text = 'control is for this machine only, not for 192.0.2.7'
    expect(await call('192.0.2.7')).toEqual([403, text, 'text/plain;charset=utf-8'])
    expect((await call('::ffff:127.0.0.1'))[0]).toBe(200)
    expect((await call('127.0.0.1', ':1848'))[1]).toMatch(/not an empty host$/)
  })
})

describe('rules set by hand', () => {
  it('a new difficulty applies from the next block of every chain, and ends earlier work', async () => {
    const { devnet, peer, status, additions } = await start({ graph: 'pair', blockDelayMs: 5 })
    await order(peer, '/make-blocks', { 0: 5, 1: 5 })
    const old = await getWork(peer, 0)
    const stream = await watch(devnet.url, 1)
    const changed = await order(peer, '/devnet/difficulty', { difficulty: 300 })
    expect(changed).toEqual({ difficulty: '300', from: { 0: 6, 1: 6 } })
    expect(await stream.read(EVENT.length)).toBe(EVENT)
    expect(targetOf(await getWork(peer, 0))).toBe(MAX / 300n)
    expect((await submit(peer, solve(old))).status).toBe(200)
    expect(additions.at(-1)).toMatchObject({ status: 'invalid', rules: expect.arrayContaining(['target']) })
    await order(peer, '/make-blocks', { 0: 3, 1: 3 })
    await order(peer, '/devnet/difficulty', { difficulty: '8' })
    await order(peer, '/make-blocks', { 0: 10, 1: 10 })
    const { ruleChanges } = await status()
    expect(ruleChanges).toEqual([changed, { difficulty: '8', from: { 0: 9, 1: 9 } }])
    expect((await checkNode({ url: devnet.url, setByHand: ruleChanges })).violations).toEqual([])
    expect((await checkNode({ url: devnet.url })).violations.map(({ rule }) => rule)).toContain('target')
  })

  it('a new block delay appears in /info, and targets follow it', async () => {
    // Each reading of the clock is one millisecond later, so blocks take equally long on every machine.
    const startMs = Date.now()
    let passedMs = 0
    const clock = { ...systemClock, monotonicMs: () => ++passedMs, wallMs: () => startMs + passedMs }
    const { devnet, peer, status } = await start({ graph: 'pair', difficulty: 4n, blockDelayMs: 8 }, { clock })
    await order(peer, '/make-blocks', { 0: 8, 1: 8 })
    const changed = await order(peer, '/devnet/block-delay', { blockDelayMs: 2.5 })
    expect(changed).toEqual({ blockDelayMs: 2.5, from: { 0: 9, 1: 9 } })
    expect(jsonOf(await peer.get('/info')).nodeBlockDelay).toBe(2500)
    await order(peer, '/make-blocks', { 0: 20, 1: 20 })
    const setByHand = (await status()).ruleChanges
    expect((await checkNode({ url: devnet.url, setByHand, firstBlockDelayMs: 8 })).violations).toEqual([])
    const rules = (await checkNode({ url: devnet.url, firstBlockDelayMs: 8 })).violations.map(({ rule }) => rule)
    expect(rules).toContain('target')
  })

  it.each([
    ['/devnet/difficulty', { difficulty: 0 }, /body: /],
    ['/devnet/difficulty', { difficulty: 1.5 }, /body: /],
    ['/devnet/difficulty', { difficulty: '1e3' }, /body: /],
    ['/devnet/difficulty', { difficulty: (1n << 256n).toString() }, /must be below 2\^256/],
    ['/devnet/difficulty', {}, /body: .*difficulty/],
    ['/devnet/block-delay', { blockDelayMs: 0 }, /body: \/blockDelayMs must be >= 0\.001/],
    ['/devnet/block-delay', { blockDelayMs: 1e12 }, /body: \/blockDelayMs must be <= /],
  ])('%s refuses the body %j', async (path, body, text) => {
    const { peer, status } = await twenty()
    expect(await refusal(peer, path, body)).toEqual([400, expect.stringMatching(text)])
    expect((await status()).ruleChanges).toEqual([])
  })
})

describe('pause and resume', () => {
  it('a paused chain gives no work and accepts no solutions; miners hear when it resumes', async () => {
    const { devnet, peer, additions, status } = await start()
    const early = solve(await getWork(peer, 6))
    const stream = await watch(devnet.url, 6)
    expect(await order(peer, '/devnet/pause', { chain: 6 })).toEqual({ paused: [6] })
    expect(await stream.read(EVENT.length)).toBe(EVENT)
    expect((await submit(peer, early)).status).toBe(200)
    expect(additions.at(-1)).toEqual({ status: 'stale' })
    for (let i = 0; i < 40; i++) expect(chainOf(await getWork(peer, 6))).not.toBe(6)
    expect(await order(peer, '/devnet/pause', { chain: 3 })).toEqual({ paused: [3, 6] })
    expect((await status()).paused).toEqual([3, 6])
    // Chains 1, 8 and 9 are adjacent to 6, so they may be one block ahead.
    expect(await refusal(peer, '/make-blocks', { 1: 2 })).toEqual([
      409,
      'chain 6 would have to grow by 1, but it is paused',
    ])
    expect(await refusal(peer, '/make-blocks', { 6: 1 })).toEqual([409, expect.stringContaining('chain 6')])
    expect((await order(peer, '/make-blocks', { 1: 1 })).made).toEqual({ 1: 1 })
    expect(await order(peer, '/devnet/resume', { chain: 6 })).toEqual({ paused: [3] })
    expect(await stream.read(2 * EVENT.length)).toBe(EVENT + EVENT)
    expect(chainOf(await getWork(peer, 6))).toBe(6)
    expect(chainOf(await mineBlock(peer, 6))).toBe(6)
    expect((await checkNode({ url: devnet.url })).violations).toEqual([])
  })

  it('paused chains answer 503 with the reason if no chain can be mined', async () => {
    const { peer } = await start({ graph: 'triangle' })
    await order(peer, '/devnet/pause', { chain: 0 })
    for (let i = 0; i < 2; i++) await mineBlock(peer)
    const waiting = await askForWork(peer, 1)
    expect(waiting.status).toBe(503)
    expect(waiting.body.toString()).toBe('No chain can be mined: all wait for paused ones (0)')
    for (const chain of [1, 2]) await order(peer, '/devnet/pause', { chain })
    expect((await askForWork(peer)).body.toString()).toBe('No chain can be mined: all are paused')
    await order(peer, '/devnet/resume', { chain: 0 })
    expect(chainOf(await mineBlock(peer, 1))).toBe(0)
  })

  it('a fork does not touch paused chains', async () => {
    const { peer } = await start({ graph: 'pair', pow: false })
    await order(peer, '/make-blocks', { 0: 3, 1: 3 })
    await order(peer, '/devnet/pause', { chain: 1 })
    expect(await refusal(peer, '/devnet/fork', { chain: 0, depth: 2 })).toEqual([
      409,
      'chain 1 would lose 1 blocks, but it is paused',
    ])
    const { added } = await order(peer, '/devnet/fork', { chain: 0, depth: 1 })
    expect(Object.keys(added)).toEqual(['0'])
    // Another branch of chain 0 alone cannot weigh more: it is one block above chain 1.
    const [code, text] = await refusal(peer, '/devnet/fork', { chain: 0, depth: 1 })
    expect(code).toBe(409)
    expect(text).toContain('paused')
  })

  it.each(['/devnet/pause', '/devnet/resume'])('%s refuses a chain that does not exist', async (path) => {
    const { peer } = await twenty()
    expect(await refusal(peer, path, { chain: 20 })).toEqual([400, 'there is no chain 20: chains are 0 to 19'])
    expect((await refusal(peer, path, { chain: '2' }))[0]).toBe(400)
  })
})

describe('streams', () => {
  it('closed streams end cleanly, and clients may open new ones', async () => {
    const { devnet, peer, status } = await start({ pow: false })
    const mining = await watch(devnet.url, 0)
    const header = await OpenResponse.open(`${devnet.url}${PREFIX}/header/updates`)
    onTestFinished(() => header.destroy())
    expect((await status()).streams).toEqual({ open: { mining: 1, header: 1, block: 0 }, stalled: [] })
    await order(peer, '/devnet/streams', { action: 'close', stream: 'mining' })
    await mining.closed
    expect(mining.text).toBe('')
    const again = await watch(devnet.url, 0)
    await order(peer, '/make-blocks', { 0: 1 })
    expect(await again.read(EVENT.length)).toBe(EVENT)
    expect(await header.read(1)).toMatch(/^event:BlockHeader/)
    await order(peer, '/devnet/streams', { action: 'close', stream: 'all' })
    await Promise.all([again.closed, header.closed])
    while ((await status()).streams.open.header > 0);
  })

  it('stalled streams stay open, and lose events until they resume', async () => {
    const { devnet, peer, status } = await start({ pow: false })
    const mining = await watch(devnet.url, 0)
    const header = await OpenResponse.open(`${devnet.url}${PREFIX}/header/updates`)
    onTestFinished(() => header.destroy())
    const { stalled } = await order(peer, '/devnet/streams', { action: 'stall', stream: 'mining' })
    expect(stalled).toEqual(['mining'])
    const opened = await watch(devnet.url, 0)
    await order(peer, '/make-blocks', { 0: 1 })
    await header.read(1)
    expect(mining.text).toBe('')
    expect(opened.text).toBe('')
    expect((await status()).streams).toEqual({ open: { mining: 2, header: 1, block: 0 }, stalled: ['mining'] })
    await order(peer, '/devnet/streams', { action: 'resume', stream: 'all' })
    expect(mining.text).toBe('')
    expect(opened.text).toBe('')
    await order(peer, '/make-blocks', { 0: 1 })
    await Promise.all([mining.read(EVENT.length), opened.read(EVENT.length)])
    for (const { text } of [mining, opened]) expect(text.replaceAll(EVENT, '')).toBe('')
  })

  it('the order for streams refuses other actions and other streams', async () => {
    const { peer } = await twenty()
    for (const body of [{ action: 'stop', stream: 'all' }, { action: 'close', stream: 'cut' }, { action: 'close' }]) {
      expect((await refusal(peer, '/devnet/streams', body))[0]).toBe(400)
    }
  })
})

describe('faults', () => {
  const cutPath = `${PREFIX}/cut`

  it('a fault answers the next calls of an endpoint with a status and a body, and then normally', async () => {
    const { devnet, peer, status } = await start()
    const fault = { operation: 'cut', count: 2, status: 503, body: 'try later' }
    expect(await order(peer, '/devnet/faults', fault)).toEqual({ faults: [fault] })
    expect((await peer.get('/info')).status).toBe(200)
    expect(brief(await peer.get(cutPath))).toEqual([503, 'text/plain;charset=utf-8', 'try later'])
    expect((await status()).faults).toEqual([{ ...fault, count: 1 }])
    expect((await peer.get(cutPath)).status).toBe(503)
    expect((await peer.get(cutPath)).status).toBe(200)
    expect((await status()).faults).toEqual([])
    const garbage = { operation: 'nodeInfo', count: 1, status: 200, body: '{"x', contentType: 'application/json' }
    await order(peer, '/devnet/faults', garbage)
    expect(brief(await peer.get('/info'))).toEqual([200, 'application/json', '{"x'])
    await order(peer, '/devnet/faults', { operation: 'updates', count: 1, status: 500 })
    expect((await watch(devnet.url, 0)).status).toBe(500)
    expect((await watch(devnet.url, 0)).status).toBe(200)
  })

  it('a fault answers late, until count 0 clears it', async () => {
    const { time, clock, waiting } = clockByHand()
    const { peer } = await start({}, { clock })
    await order(peer, '/devnet/faults', { operation: 'cut', count: 1, delayMs: 120 })
    const late = peer.get(cutPath)
    await until(() => waiting(120) === 1)
    await time.pass(119)
    expect(waiting(120)).toBe(1)
    await time.pass(1)
    expect((await late).status).toBe(200)
    await order(peer, '/devnet/faults', { operation: 'cut', count: 1000, delayMs: 600_000, status: 500 })
    expect(await order(peer, '/devnet/faults', { operation: 'cut', count: 0 })).toEqual({ faults: [] })
    expect((await peer.get(cutPath)).status).toBe(200)
  })

  it('a fault lets a node close while an answer is late', async () => {
    const { devnet, peer } = await start()
    await order(peer, '/devnet/faults', { operation: 'cut', count: 1, delayMs: 600_000, status: 500 })
    const waiting = new Peer(devnet.url)
    const answer = waiting.get(cutPath).catch(() => 'over')
    while (jsonOf(await peer.get('/devnet/status')).faults.length > 0);
    await devnet.close()
    // The answer comes just before the close, or the connection breaks.
    expect(['over', expect.objectContaining({ status: 500 })]).toContainEqual(await answer)
    waiting.close()
  })

  it.each([
    [{ operation: 'cat', count: 1, status: 500 }, /^there is no operation "cat": use healthCheck, .*\bcut\b/],
    [{ operation: 'makeBlocks', count: 1, status: 500 }, /^there is no operation "makeBlocks"/],
    [{ operation: 'cut', count: 1 }, /^a fault has a status, a delayMs, or both$/],
    [{ operation: 'cut', count: 1, delayMs: 1, body: 'x' }, /^a fault with body or contentType needs a status$/],
    [{ operation: 'cut', count: -1, status: 500 }, /body: \/count must be >= 0/],
    [{ operation: 'cut', count: 1, status: 101 }, /body: \/status must be >= 200/],
    [{ operation: 'cut', count: 1, delayMs: 600_001 }, /body: \/delayMs must be <= 600000/],
    [{ operation: 'cut', count: 1, status: 200, contentType: 'a\r\nb: c' }, /body: \/contentType must match/],
  ])('the order for faults refuses %j', async (body, text) => {
    const { peer, status } = await twenty()
    expect(await refusal(peer, '/devnet/faults', body)).toEqual([400, expect.stringMatching(text)])
    expect((await status()).faults).toEqual([])
  })
})

it('/devnet/clock moves the clock and block times forward', async () => {
  const { devnet, peer, status } = await unmined()
  const hourMs = 3_600_000
  const beforeMs = Date.now()
  const { aheadMs, nowMs } = await order(peer, '/devnet/clock', { advanceMs: hourMs })
  expect(aheadMs).toBe(hourMs)
  expect(nowMs).toBeGreaterThanOrEqual(beforeMs + hourMs)
  expect(nowMs).toBeLessThan(Date.now() + hourMs + 60_000)
  const answer = await peer.get('/info')
  const answeredAt = Number(answer.headers['x-server-timestamp'])
  expect(answeredAt).toBeGreaterThanOrEqual(Math.floor(nowMs / 1000))
  expect(answeredAt * 1000).toBeLessThan(Date.now() + hourMs + 60_000)
  await order(peer, '/make-blocks', { 0: 1 })
  const time = Number(devnet.chains.cut.get(0)?.creationTime) / 1000
  expect(time).toBeGreaterThan(beforeMs + hourMs)
  expect((await order(peer, '/devnet/clock', { advanceMs: 500 })).aheadMs).toBe(hourMs + 500)
  expect((await refusal(peer, '/devnet/clock', { advanceMs: 1e12 }))[0]).toBe(400)
  expect((await status()).clock.aheadMs).toBe(hourMs + 500)
})

describe('/devnet/clock', () => {
  const timesOf = (devnet: { readonly chains: Pick<Chains, 'cut'> }) =>
    [...devnet.chains.cut.values()].map(({ creationTime }) => new Date(Number(creationTime) / 1000).toISOString())
  const START = Date.parse('2040-01-01T00:00:00Z')

  it('/devnet/clock sets the clock, which goes on from there', async () => {
    const { devnet, peer } = await unmined()
    const { nowMs } = await order(peer, '/devnet/clock', { to: '2040-01-01T00:00:00Z' })
    expect(nowMs).toBeGreaterThanOrEqual(START)
    await order(peer, '/make-blocks', { 0: 1 })
    expect(Number(devnet.chains.cut.get(0)?.creationTime) / 1000).toBeGreaterThan(nowMs)
  })

  it('/devnet/clock gives the next block a time, and goes on from there', async () => {
    const { devnet, peer } = await unmined()
    const work = solve(await getWork(peer, 0))
    await order(peer, '/devnet/clock', { nextBlock: new Date(Date.now() + 1000).toISOString() })
    expect((await submit(peer, work)).status).toBe(404)
    await order(peer, '/devnet/clock', { nextBlock: '2040-01-01T00:00:00Z' })
    await order(peer, '/make-blocks', { 0: 1 })
    expect(timesOf(devnet)[0]).toBe('2040-01-01T00:00:00.000Z')
    expect((await refusal(peer, '/devnet/clock', { nextBlock: '2040-01-01T00:00:00Z' }))[0]).toBe(409)
    await order(peer, '/make-blocks', { 1: 1 })
    const second = Number(devnet.chains.cut.get(1)?.creationTime) / 1000
    expect(second).toBeGreaterThan(START)
    expect(second).not.toBe(START)
  })

  it('/devnet/clock counts its steps from now, and goes back to the newest block', async () => {
    const clock = new VirtualClock()
    const { devnet, peer } = await start({ graph: 'pair', pow: false }, { clock })
    const made = () => Number(devnet.chains.cut.get(0)?.creationTime) / 1000
    const startMs = clock.wallMs()
    await order(peer, '/devnet/clock', { nextBlock: new Date(startMs + 1000).toISOString() })
    await order(peer, '/make-blocks', { 0: 1 })
    await clock.pass(5000)
    await order(peer, '/devnet/clock', { everyMs: 100 })
    await order(peer, '/make-blocks', { 1: 1, 0: 1 })
    expect(made()).toBe(startMs + 1000 + 5000 + 2 * 100)
    await order(peer, '/devnet/clock', { everyMs: null })
    await order(peer, '/devnet/clock', { advanceMs: 50 - 100 })
    const [code, text] = await refusal(peer, '/devnet/clock', { advanceMs: -51 })
    expect(code).toBe(409)
    expect(text).toContain('at most 50 ms')
    expect((await order(peer, '/devnet/clock', { advanceMs: -50 })).nowMs).toBe(made())
  })

  it('/devnet/clock moves with each block, until it runs again', async () => {
    const { devnet, peer, status } = await unmined()
    await order(peer, '/devnet/clock', { nextBlock: '2040-01-01T00:00:00Z' })
    await order(peer, '/make-blocks', { 0: 1 })
    const { nowMs, everyMs } = await order(peer, '/devnet/clock', { everyMs: 30_000 })
    expect(everyMs).toBe(30_000)
    await order(peer, '/make-blocks', { 1: 1 })
    await order(peer, '/make-blocks', { 0: 1 })
    const [later, earlier] = [...devnet.chains.cut.values()].map(({ creationTime }) => Number(creationTime) / 1000)
    expect(later - earlier).toBe(30_000)
    expect(Math.floor(earlier)).toBe(nowMs)
    expect((await status()).clock.nowMs).toBe(nowMs + 60_000)
    const { id } = await order(peer, '/devnet/snapshot', {})
    expect(await order(peer, '/devnet/clock', { everyMs: null })).not.toHaveProperty('everyMs')
    await until(async () => (await status()).clock.nowMs > nowMs + 60_000)
    await order(peer, '/devnet/revert', { id })
    expect((await status()).clock).toMatchObject({ nowMs: nowMs + 60_000, everyMs: 30_000 })
  })

  it.each([
    [{}, 400, /^expected one of advanceMs, to, nextBlock and everyMs, but got 0 of them/],
    [{ to: '2040-01-01', everyMs: 1 }, 400, /but got 2 of them/],
    [{ to: 'tomorrow' }, 400, /^tomorrow: expected a time such as/],
    [{ nextBlock: '2040-13-01' }, 400, /^2040-13-01: expected a time such as/],
    [{ at: 1 }, 400, /at is not a known field/],
    [{ everyMs: 0 }, 400, /everyMs must/],
    [{ nextBlock: '2001-01-01' }, 409, /each block must be later than its parent/],
    [{ to: '2001-01-01' }, 409, /each block must be later than its parent/],
  ])('/devnet/clock refuses %j', async (body, code, text) => {
    const { peer } = await unmined()
    await order(peer, '/make-blocks', { 0: 1 })
    expect(await refusal(peer, '/devnet/clock', body)).toEqual([code, expect.stringMatching(text)])
  })

  it('/devnet/clock does not stand still with proof of work', async () => {
    const { peer } = await start({ graph: 'pair' })
    for (const body of [{ nextBlock: '2040-01-01' }, { everyMs: 5 }]) {
      expect(await refusal(peer, '/devnet/clock', body)).toEqual([
        409,
        expect.stringContaining('clock goes forwards only'),
      ])
    }
  })
})

it('an order acknowledges a change only when it is durable', async () => {
  const clock = new NodeClock(systemClock)
  let settle: () => void = () => undefined
  const written = new Promise<void>((resolve) => {
    settle = resolve
  })
  const durable = () => written
  const chains = new Chains({
    network: { ...development, window: null },
    checkPow: false,
    now: clock.microseconds,
    journal: { ...noJournal, durable },
  })
  const random = Math.random
  const app = createApp({ product: 'chainweb', packageVersion: '0', nowMs: Date.now })
  const [stop, streams] = [new AbortController(), new StreamGate()]
  const faults = new Faults(systemClock, stop.signal)
  const router = new Router({ app, prefix: '', chains: 20, intercept: interceptOf(faults) })
  new Controls(router, {
    ...{ faults, streams, stop },
    chains,
    coordinator: coordinatorOf(chains, { random, nowMs: Date.now, clock: systemClock }),
    account: developmentAccount,
    search: noSearch,
    autoMine: null,
    fork: null,
    switchNetwork: () => Promise.reject(new Error('one network only')),
    nodeClock: clock,
    clock: systemClock,
    onNotice: () => undefined,
    random,
  })
  const peer = new Peer(await app.listen({ port: 0, host: '127.0.0.1' }))
  onTestFinished(async () => {
    peer.close()
    await app.close()
  })
  let isAnswered = false
  const answer = order(peer, '/devnet/difficulty', { difficulty: 30 }).finally(() => {
    isAnswered = true
  })
  await until(() => chains.rules.changes.length === 1)
  // The server answers later requests meanwhile.
  const [other, third] = [new Peer(peer.url), new Peer(peer.url)]
  onTestFinished(() => third.close())
  const look = async () => {
    for (let i = 0; i < 3; i++) await third.get('/devnet/status')
  }
  await look()
  expect(isAnswered).toBe(false)
  // An order whose caller leaves before its turn changes nothing.
  const left = post(other, '/devnet/pause', { chain: 1 })
  const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
  await until(async () => (await connections()) === 3)
  await look()
  other.close()
  await expect(left).rejects.toThrow()
  await until(async () => (await connections()) === 2)
  await look()
  settle()
  expect((await answer).difficulty).toBe('30')
  expect((await order(peer, '/devnet/pause', { chain: 2 })).paused).toEqual([2])
})

it('control calls run in the order of arrival, and no more than 64 wait at once', async () => {
  const queue = new TaskQueue()
  const ran: number[] = []
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const results = Array.from({ length: 64 }, (_, i) =>
    queue.take(async () => {
      await gate
      ran.push(i)
      if (i === 3) throw new Error('three')
      return i
    }),
  )
  await expect(queue.take(async () => 64)).rejects.toMatchObject({ problem: { kind: 'too-many-waiting', waiting: 64 } })
  open()
  const settled = await Promise.allSettled(results)
  expect(ran).toEqual(Array.from({ length: 64 }, (_, i) => i))
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(await queue.take(async () => 65)).toBe(65)
})

it('/devnet/status of a new node shows no rule set by hand', async () => {
  const { status } = await start({ graph: 'pair' })
  expect(await status()).toEqual({
    mode: 'blocks by miners',
    heights: { 0: 0, 1: 0 },
    paused: [],
    streams: { open: { mining: 0, header: 0, block: 0 }, stalled: [] },
    faults: [],
    clock: { aheadMs: 0, nowMs: expect.any(Number) },
    ruleChanges: [],
    snapshots: [],
    gas: { blockLimit: 150_000, minPrice: '0.00000001' },
    impersonated: [],
    minting: 'coinbase',
    fork: null,
  })
})
