/** The gateway over HTTP: access, accepted requests, and its treatment of the node's answers. */
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startDevnetWithPage } from '../../../src/compose/devnet-page.ts'
import type { DevnetOptions } from '../../../src/devnet/options/devnet-options.ts'
import { addMinePage } from '../../../src/faces/web/mine-page/page.ts'
import { encodeBase64Url } from '../../../src/ground/base/bytes.ts'
import { NewcutError } from '../../../src/ground/base/errors.ts'
import { developmentAccounts } from '../../../src/ground/chain/development-accounts.ts'
import { decodeWorkResponse } from '../../../src/ground/chain/work.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { type Answer, OpenResponse, Peer } from '../../devnet/request.ts'
import { miss, solve } from '../../solve.ts'

const KEY = 'ab'.repeat(32)
const account = { account: `k:${KEY}`, predicate: 'keys-all', publicKeys: [KEY] }
const MINER = JSON.stringify({ account: account.account, predicate: 'keys-all', 'public-keys': [KEY] })
const JSON_TYPE = { 'content-type': 'application/json' }
const BINARY = { 'content-type': 'application/octet-stream' }
const textOf = ({ status, body }: Answer): [number, string] => [status, body.toString()]
const jsonOf = ({ body }: Answer) => JSON.parse(body.toString())

interface Started {
  readonly peer: Peer
  readonly close: () => Promise<void>
}

async function started(options: DevnetOptions = {}): Promise<Started> {
  const devnet = await startDevnetWithPage({ port: 0, difficulty: 20n, ...options }, account)
  const peer = new Peer(devnet.url)
  let closed: Promise<void> | null = null
  const close = () => {
    peer.close()
    closed ??= devnet.close()
    return closed
  }
  return { peer, close }
}

/** A node for one test. */
async function start(options: DevnetOptions = {}): Promise<Started> {
  const made = await started(options)
  onTestFinished(made.close)
  return made
}

const askWork = (peer: Peer, headers = {}, body = MINER, query = '') =>
  peer.request('POST', `/mine/work${query}`, { headers: { ...JSON_TYPE, ...headers }, body })
const handIn = (peer: Peer, body: Uint8Array, headers = {}) =>
  peer.request('POST', '/mine/solved', { headers: { ...BINARY, ...headers }, body })

describe('the gateway', () => {
  it('the gateway returns network, chains and the paid account', async () => {
    const { peer } = await start({ graph: 'petersen' })
    const about = { network: 'development', chains: 10, account: JSON.parse(MINER) }
    const { accounts, ...rest } = jsonOf(await peer.get('/mine/about'))
    expect(rest).toEqual(about)
    expect(accounts).toEqual(
      developmentAccounts.map((each) => {
        return { account: each.account, predicate: 'keys-all', 'public-keys': [each.publicKey] }
      }),
    )
  })

  it("the gateway returns the node's work for the suggested chain", async () => {
    const { peer } = await start()
    const answer = await askWork(peer, {}, MINER, '?chain=7')
    expect(answer.headers['content-type']).toBe('application/octet-stream')
    expect(answer.status).toBe(200)
    expect(answer.body).toHaveLength(322)
    expect(decodeWorkResponse(answer.body).fields.chainId).toBe(7)
  })

  it('the gateway follows a solution into its chain, and pays the account that asked for the work', async () => {
    const { peer } = await start()
    const work = decodeWorkResponse((await askWork(peer)).body)
    const { chainId } = work.fields
    const verdict = jsonOf(await handIn(peer, solve(work.bytes)))
    expect(verdict).toMatchObject({ verdict: 'accepted', chain: chainId, height: 1 })
    const base = `/chainweb/0.0/development`
    const { hash } = jsonOf(await peer.get(`${base}/cut`)).hashes[chainId]
    expect(verdict.hash).toBe(hash)
    const payload = jsonOf(
      await peer.get(`${base}/chain/${chainId}/payload/${encodeBase64Url(work.fields.payloadHash)}`),
    )
    expect(Buffer.from(payload.minerData, 'base64url').toString()).toContain(`k:${KEY}`)
  })

  it('the gateway calls a solution stale when another block came first', async () => {
    const { peer } = await start()
    const work = decodeWorkResponse((await askWork(peer, {}, MINER, '?chain=3')).body)
    const first = solve(work.bytes)
    const other = JSON.stringify({ account: 'other', predicate: 'keys-all', 'public-keys': [KEY] })
    const theirs = decodeWorkResponse((await askWork(peer, {}, other, '?chain=3')).body)
    expect(jsonOf(await handIn(peer, solve(theirs.bytes)))).toMatchObject({ verdict: 'accepted' })
    expect(jsonOf(await handIn(peer, first))).toMatchObject({ verdict: 'stale', chain: 3 })
  })

  it('the gateway makes a node that has forgotten a payload build the same block again, for the account that asked for it', async () => {
    const { peer } = await start()
    const other = JSON.stringify({ account: 'other', predicate: 'keys-all', 'public-keys': [KEY] })
    const { bytes } = decodeWorkResponse((await askWork(peer, {}, other)).body)
    const wrong = { headers: BINARY, body: miss(bytes) }
    expect((await peer.request('POST', '/chainweb/0.0/development/mining/solved', wrong)).status).toBe(400)
    expect(jsonOf(await handIn(peer, solve(bytes)))).toMatchObject({ verdict: 'accepted' })
  })

  it('the gateway does not pass a wrong solution to the node, which would forget the work', async () => {
    const { peer } = await start()
    const { bytes } = decodeWorkResponse((await askWork(peer)).body)
    const [status, text] = textOf(await handIn(peer, miss(bytes)))
    expect(text).toContain('the proof-of-work hash misses the target')
    expect(status).toBe(400)
    expect(jsonOf(await handIn(peer, solve(bytes)))).toMatchObject({ verdict: 'accepted' })
  })

  it("the gateway passes the node's refusals on, in its words", async () => {
    const { peer } = await start({ accounts: [{ account: 'k:other', predicate: 'keys-all', publicKeys: ['other'] }] })
    expect(textOf(await askWork(peer))).toEqual([403, `Unauthorized Miner: k:${KEY}`])
  })

  it('the gateway answers 502 while the node cannot be reached', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    const client = async () => {
      throw new NewcutError('NODE_UNREACHABLE', 'connection refused')
    }
    addMinePage(app, { client, account, clock: systemClock, random: Math.random })
    const headers = { host: 'localhost', ...JSON_TYPE }
    const answer = await app.inject({ method: 'POST', url: '/mine/work', headers, payload: MINER })
    expect(answer.statusCode).toBe(502)
    expect(answer.body).toBe('connection refused')
  })
})

describe('the gateway refuses', () => {
  /** One node, since it never gets a block. */
  let peer: Peer
  let close: () => Promise<void>
  beforeAll(async () => {
    ;({ peer, close } = await started())
  })
  afterAll(() => close())

  it.each([
    ['work', 'not JSON', JSON_TYPE, 400, 'request body: '],
    ['work', '{"account":"k:x"}', JSON_TYPE, 400, 'expected {"account": "k:KEY"'],
    ['work', '{"account":"x","predicate":"keys-all","public-keys":"y"}', JSON_TYPE, 400, '/public-keys must be array'],
    ['work', MINER, { 'content-type': 'text/plain' }, 415, 'content-type: text/plain, expected application/json'],
    ['work', `"${'x'.repeat(9000)}"`, JSON_TYPE, 413, 'request body: it is too long'],
    ['work?chain=20', MINER, JSON_TYPE, 400, 'chain=20: expected one of the chains 0, 1, 2'],
    ['work?chain=-1', MINER, JSON_TYPE, 400, 'chain=-1: expected one of the chains 0, 1, 2'],
    ['solved', 'x'.repeat(285), BINARY, 400, 'request body: '],
    ['solved', '', BINARY, 400, 'work at offset 0: ends after 0 bytes'],
    ['solved', 'x'.repeat(2000), BINARY, 413, 'request body: it is too long'],
    ['solved', 'x'.repeat(286), JSON_TYPE, 415, 'content-type: application/json, expected application/octet-stream'],
  ])(
    'the gateway refuses POST %s with body %j, and says what is wrong, where, and what is right',
    async (path, body, headers, status, message) => {
      const answer = textOf(await peer.request('POST', `/mine/${path}`, { headers, body }))
      expect(answer).toEqual([status, expect.stringContaining(message)])
    },
  )

  const foreign: [string, Record<string, string>][] = [
    ['another site', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://localhost:1' }],
    ['a request that crosses sites', { 'sec-fetch-site': 'cross-site' }],
    ['another port, without an Origin', { 'sec-fetch-site': 'same-site' }],
    ['a name that was made to point here', { host: 'evil.example:1848', origin: 'http://evil.example:1848' }],
    ['such a name, without an Origin', { host: 'evil.example' }],
  ]
  it.each(foreign)('the gateway refuses %s', async (_, headers) => {
    const about = await peer.get('/mine/about', { headers })
    const news = await peer.get('/mine/updates?chain=0', { headers })
    const { bytes } = decodeWorkResponse((await askWork(peer)).body)
    const answers = [about, news, await askWork(peer, headers), await handIn(peer, solve(bytes), headers)]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    // Unlike the gateway, the node itself lets any page read its answers.
    for (const answer of answers) expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    expect(jsonOf(await peer.get('/chainweb/0.0/development/cut')).height).toBe(0)
  })

  it('the gateway refuses no request of the page itself', async () => {
    const { port } = new URL(peer.url)
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
      const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }
      expect((await askWork(peer, headers)).status).toBe(200)
    }
  })

  it.each([
    ['GET', '/mine/work', 'POST'],
    ['GET', '/mine/solved', 'POST'],
    ['POST', '/mine/updates', 'GET'],
    ['PUT', '/mine', 'GET'],
    ['OPTIONS', '/mine/work', 'POST'],
  ])('the gateway answers %s %s with 405', async (method, path, allowed) => {
    const answer = await peer.request(method, path)
    expect(answer.headers.allow).toEqual(allowed)
    expect(answer.status).toBe(405)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  it.each([
    '/mine/gateway.js',
    '/mine/browser/main.js',
    '/mine/served/main.js',
    '/mine/../gateway.js',
    '/mine/..%2fgateway.js',
    '/mine/../../../../package.json',
    '/mine/..%2f..%2fpackage.json',
    '/mine/%2e%2e/%2e%2e/%2e%2e/package.json',
    '/mine/main.js.map',
    '/mine/',
    '/src/web/mine-page/site/mine.html',
    '/node_modules/@noble/hashes/blake2.js',
    '/dist/src/ground/chain/pow.js',
  ])('the gateway refuses to serve %s', async (path) => {
    expect((await peer.get(path)).status).toBe(404)
  })

  it.each(['', '?chain=', '?chain=20', '?chain=x'])(
    'the gateway refuses the updates of a wrong chain: /mine/updates%s',
    async (query) => {
      const [status, text] = textOf(await peer.get(`/mine/updates${query}`))
      expect(text).toContain('expected one of the chains 0, 1, 2')
      expect(status).toBe(400)
    },
  )
})

describe('news of a chain', () => {
  const open = (peer: Peer, query: string) => OpenResponse.open(`${peer.url}/mine/updates${query}`)

  it('the update events of a chain have data, which an EventSource needs', async () => {
    const { peer } = await start()
    const stream = await open(peer, '?chain=4')
    expect(stream.headers['content-type']).toBe('text/event-stream')
    expect(stream.headers['access-control-allow-origin']).toBeUndefined()
    await expect.poll(() => stream.text).toContain('event: stands\ndata: 4\n\n')
    const { bytes } = decodeWorkResponse((await askWork(peer, {}, MINER, '?chain=4')).body)
    await handIn(peer, solve(bytes))
    await expect.poll(() => stream.text).toContain('event: cut\ndata: 4\n\n')
    stream.destroy()
  })

  it('the gateway refuses update streams with 503 when 64 are open, until one of them ends', async () => {
    const { peer } = await start()
    const streams = await Promise.all(Array.from({ length: 64 }, () => open(peer, '?chain=0')))
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
    const [status, text] = textOf(await peer.get('/mine/updates?chain=0'))
    expect(text).toBe('64 update streams are open, and there are no more; try again later')
    expect(status).toBe(503)
    streams[0].destroy()
    await expect
      .poll(async () => {
        const again = await open(peer, '?chain=0')
        again.destroy()
        return again.status
      })
      .toBe(200)
    for (const stream of streams) stream.destroy()
  })

  it('the update streams of a chain end when the node closes', async () => {
    const { peer, close } = await start()
    const stream = await open(peer, '?chain=0')
    await expect.poll(() => stream.text).toContain('event: stands')
    await close()
    await stream.closed
  })
})
