import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { EVENT_STREAM, type Operation } from '../../src/ground/schema/operation.ts'
import { operations } from '../../src/ground/schema/operations.ts'
import { randomFrom } from '../random.ts'
import { type HeaderObject, numberOf, plainOf, workOf } from './checker.ts'
import {
  BINARY,
  brief,
  CheckedPeer,
  expectCommonHeaders,
  JSON_TYPE,
  jsonOf,
  OBJECTS,
  PREFIX,
  start,
  TEXT,
} from './common.ts'
import { addHeaders } from './forks.ts'
import { mineBlock } from './miner.ts'
import { OpenResponse, Peer } from './request.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

/** A petersen node with 40 blocks above genesis, which most tests only read. */
let devnet: Devnet
let peer: CheckedPeer
/** All blocks of chain 3 as the node writes them, ascending. */
let chain: HeaderObject[]

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, difficulty: 4n, graph: 'petersen', blockDelayMs: 5 })
  peer = new CheckedPeer(devnet.url)
  for (let i = 0; i < 40; i++) await mineBlock(peer, i % 10)
  chain = jsonOf(await getHeaders()).items
})

afterAll(async () => {
  peer.close()
  await devnet.close()
})

const getHeaders = (query = '', accept = OBJECTS) =>
  peer.get(`${PREFIX}/chain/3/header${query}`, { headers: { accept } })
const hashes = ({ items }: { items: HeaderObject[] }) => items.map((item) => item.hash)
const UNKNOWN = 'A'.repeat(43)

describe('/info', () => {
  const table = (text: string) => text.split(', ').map((list) => list.split(' ').map(Number))
  const petersen = table('2 3 5, 3 4 6, 0 4 7, 0 1 8, 1 2 9, 0 6 9, 1 5 7, 2 6 8, 3 7 9, 4 5 8')
  const twenty = table(
    '5 10 15, 6 11 16, 7 12 17, 8 13 18, 9 14 19, 0 7 8, 1 8 9, 2 5 9, 3 5 6, 4 6 7, ' +
      '0 11 19, 1 10 12, 2 11 13, 3 12 14, 4 13 15, 0 14 16, 1 15 17, 2 16 18, 3 17 19, 4 10 18',
  )

  it.each([
    ['petersen', petersen],
    ['twenty', twenty],
    ['pair', [[1], [0]]],
    ['singleton', [[]]],
  ] as const)('/info describes the network %s', async (graph, adjacents) => {
    const { peer } = await start({ graph, blockDelayMs: 1234.5 })
    const answer = await peer.get('/info')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe(JSON_TYPE)
    expect(answer.headers['x-chainweb-node-version']).toBe('3.2')
    const info = jsonOf(answer)
    const chains = adjacents.map((_, id) => String(id))
    const history = [[0, adjacents.map((list, id) => [id, [...list]])]]
    expect(info).toEqual({
      nodeApiVersion: '0.0',
      nodeBlockDelay: 1_234_500,
      nodeChains: chains,
      nodeGenesisHeights: chains.map((id) => [id, 0]),
      nodeGraphHistory: history,
      nodeHistoricalChains: history,
      nodeLatestBehaviorHeight: expect.any(Number),
      nodeNumberOfChains: chains.length,
      nodePackageVersion: '3.2',
      nodeVersion: 'development',
    })
  })

  it('/info announces the date of its replacement, as release 2.32 does', async () => {
    const { peer } = await start({ nodeRelease: '2.32' })
    const answer = await peer.get('/info')
    expect(answer.headers['x-chainweb-node-version']).toBe('2.32')
    expect(jsonOf(answer)).toMatchObject({
      nodeLatestBehaviorHeight: 0,
      nodePackageVersion: '2.32',
      nodeServiceDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    })
  })
})

it('/health-check answers 200', async () => {
  expect(brief(await peer.get('/health-check'))).toEqual([200, TEXT, 'Health check OK.\n'])
})

describe('/cut', () => {
  const getCut = (query = '') => peer.get(`${PREFIX}/cut${query}`)

  it('/cut returns the head of every chain, with the sums of heights and weights', async () => {
    const answer = await getCut()
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe(JSON_TYPE)
    const cut = jsonOf(answer)
    expect(Object.keys(cut.hashes)).toEqual([...Array(10).keys()].map(String))
    expect(cut.hashes[3]).toEqual({ height: chain.length - 1, hash: chain[chain.length - 1].hash })
    const heads = await Promise.all(
      Object.entries(cut.hashes as Record<string, { hash: string }>).map(async ([id, head]) =>
        jsonOf(await peer.get(`${PREFIX}/chain/${id}/header/${head.hash}`, { headers: { accept: OBJECTS } })),
      ),
    )
    expect(heads.map(({ height }) => height)).toEqual(
      Object.values(cut.hashes).map((head) => (head as HeaderObject).height),
    )
    expect(cut.height).toBe(40)
    expect(numberOf(cut.weight)).toBe(heads.reduce((sum, { weight }) => sum + numberOf(weight), 0n))
    expect(cut.id).toMatch(/^[\w-]{43}$/)
    expect(cut.origin).toBeNull()
    expect(jsonOf(await getCut())).toEqual(cut)
  })

  it('/cut with maxheight returns no block above maxheight divided by the number of chains', async () => {
    const whole = jsonOf(await getCut())
    for (const maxheight of [0, 9, 10, 19, 25, 39, 40, 1000]) {
      const cut = jsonOf(await getCut(`?maxheight=${maxheight}`))
      const limit = Math.floor(maxheight / 10)
      const expected = Object.values(whole.hashes as Record<string, { height: number }>).map(({ height }) =>
        Math.min(height, limit),
      )
      expect(Object.values(cut.hashes).map((head) => (head as HeaderObject).height)).toEqual(expected)
      expect(cut.hashes[3].hash).toBe(chain[expected[3]].hash)
      expect(cut.height).toBe(expected.reduce((sum, height) => sum + height, 0))
    }
    for (const wrong of ['x', '-1', '1.5', '']) {
      expect(brief(await getCut(`?maxheight=${wrong}`)).slice(0, 2)).toEqual([400, TEXT])
    }
  })
})

describe('pages of headers', () => {
  it('a page of headers holds objects or plain texts, as the Accept header requests', async () => {
    const objects = await getHeaders()
    expect(objects.status).toBe(200)
    expect(objects.headers['content-type']).toBe(OBJECTS)
    expect(jsonOf(objects)).toEqual({ limit: 5, items: chain, next: `exclusive:${chain[4].hash}` })
    expect(chain.map(({ height, chainId }) => [height, chainId])).toEqual([0, 1, 2, 3, 4].map((height) => [height, 3]))
    expect(Object.keys(chain[1]).slice(-4)).toEqual(['chainwebVersion', 'epochStart', 'featureFlags', 'hash'])
    for (const accept of [
      'application/json',
      '*/*',
      'application/*',
      JSON_TYPE,
      'application/json ; charset=utf-8',
      'x/y, */*; q=0.01',
    ]) {
      const plain = await getHeaders('', accept)
      expect(plain.status).toBe(200)
      expect(plain.headers['content-type']).toBe(JSON_TYPE)
      expect(jsonOf(plain)).toEqual({ ...jsonOf(objects), items: chain.map((header) => plainOf(header)) })
    }
    expect((await peer.get(`${PREFIX}/chain/3/header`)).headers['content-type']).toBe(JSON_TYPE)
    for (const accept of [BINARY, 'text/plain', 'application/json;blockheader-encoding=x']) {
      expect(brief(await getHeaders('', accept))).toEqual([406, undefined, ''])
    }
  })

  it('pages of one header reach the end, and continue from there when blocks are added', async () => {
    const { peer } = await start({ graph: 'singleton' })
    const page = async (query: string) =>
      jsonOf(await peer.get(`${PREFIX}/chain/0/header${query}`, { headers: { accept: OBJECTS } }))
    for (let i = 0; i < 4; i++) await mineBlock(peer)
    const seen: string[] = []
    let next = ''
    for (let i = 0; i < 5; i++) {
      const one = await page(`?limit=1${next}`)
      expect(one.limit).toBe(1)
      seen.push(...hashes(one))
      expect(one.next.split(':')[0]).toBe(i < 4 ? 'inclusive' : 'exclusive')
      next = `&next=${one.next}`
    }
    expect(seen).toEqual(hashes(await page('')))
    expect(await page(`?limit=1${next}`)).toEqual({ limit: 0, items: [], next: null })
    await mineBlock(peer)
    const [fifth] = (await page(`?limit=1${next}`)).items
    expect(fifth.height).toBe(5)
    expect(fifth.parent).toEqual(seen[4])
  })

  it('a page of headers follows limit, heights and cursor, in any combination', async () => {
    const random = randomFrom(7)
    const maybe = (most: number) => (random() < 0.4 ? null : Math.floor(random() * (most + 1)))
    for (let i = 0; i < 200; i++) {
      const [limit, min, max, at] = [maybe(6), maybe(6), maybe(6), maybe(4)]
      const kind = random() < 0.5 ? 'inclusive' : 'exclusive'
      const from = at === null ? 0 : at + (kind === 'exclusive' ? 1 : 0)
      const matching = chain.filter(
        ({ height }) => height >= Math.max(min ?? 0, from) && height <= (max ?? Number.POSITIVE_INFINITY),
      )
      const items = matching.slice(0, limit ?? 360)
      const last = items.length > 0 ? `exclusive:${items[items.length - 1].hash}` : null
      const next = matching.length > items.length ? `inclusive:${matching[items.length].hash}` : last
      const query = new URLSearchParams()
      if (limit !== null) query.set('limit', `${limit}`)
      if (min !== null) query.set('minheight', `${min}`)
      if (max !== null) query.set('maxheight', `${max}`)
      if (at !== null) query.set('next', `${kind}:${chain[at].hash}`)
      const found = jsonOf(await getHeaders(`?${query}`))
      expect(found, `${query}`).toEqual({ limit: items.length, items, next })
    }
  })

  it('a range of headers above the head is an empty page, as on live nodes, and not a 404', async () => {
    const above = await getHeaders('?minheight=900&maxheight=999')
    expect(above.status).toBe(200)
    expect(jsonOf(above)).toEqual({ limit: 0, items: [], next: null })
    const whole = await getHeaders('?maxheight=999')
    expect(whole.status).toBe(200)
    expect(jsonOf(whole).items).toHaveLength(chain.length)
  })

  it('a request for a page of headers fails for malformed cursors and numbers', async () => {
    for (const next of [
      '',
      'x',
      chain[1].hash,
      'inclusive:',
      `Inclusive:${UNKNOWN}`,
      `inclusive:${UNKNOWN}A`,
      'null',
    ]) {
      expect(brief(await getHeaders(`?next=${next}`)).slice(0, 2)).toEqual([400, TEXT])
    }
    for (const name of ['limit', 'minheight', 'maxheight']) {
      for (const value of ['', 'x', '-1', '1.5', 'null']) {
        expect(brief(await getHeaders(`?${name}=${value}`)).slice(0, 2)).toEqual([400, TEXT])
      }
    }
    const otherChain = jsonOf(await peer.get(`${PREFIX}/cut`)).hashes[4].hash
    for (const key of [UNKNOWN, otherChain]) {
      for (const kind of ['inclusive', 'exclusive']) {
        const answer = await getHeaders(`?next=${kind}:${key}`)
        expect(answer.status).toBe(404)
        expect(answer.headers['content-type']).toBe(JSON_TYPE)
        expect(jsonOf(answer)).toEqual({ reason: 'key not found', key })
      }
    }
  })

  it('a page of headers has at most 360 items, whatever the limit in the query', async () => {
    const { devnet, peer } = await start({ graph: 'singleton', pow: false, difficulty: 1n })
    addHeaders(devnet, 0, 362)
    for (const query of ['', '?limit=360', '?limit=361', '?limit=1000000']) {
      const page = jsonOf(await peer.get(`${PREFIX}/chain/0/header${query}`))
      expect(page.limit).toBe(360)
      expect(page.items.length).toBe(360)
      expect(page.next.slice(0, 10)).toBe('inclusive:')
      const rest = jsonOf(await peer.get(`${PREFIX}/chain/0/header?next=${page.next}`))
      expect(rest.limit).toBe(3)
      expect(rest.next.slice(0, 10)).toBe('exclusive:')
    }
  })
})

describe('one header', () => {
  const getOne = (key: string, accept?: string, id: number | string = 3) =>
    peer.get(`${PREFIX}/chain/${id}/header/${key}`, accept === undefined ? {} : { headers: { accept } })

  it('a header is served in three encodings', async () => {
    for (const header of chain) {
      const plain = plainOf(header)
      expect(plain).toHaveLength(424)
      // Monitors query with and without an Accept header.
      for (const accept of [undefined, 'application/json']) {
        expect(brief(await getOne(header.hash, accept))).toEqual([200, JSON_TYPE, JSON.stringify(plain)])
      }
      expect(brief(await getOne(header.hash, OBJECTS))).toEqual([200, OBJECTS, JSON.stringify(header)])
      const binary = await getOne(header.hash, BINARY)
      expect(binary.status).toBe(200)
      expect(binary.headers['content-type']).toBe(BINARY)
      expect(binary.body.length).toBe(318)
      expect(binary.body.toString('base64url')).toBe(plain)
    }
    const [, { hash: key }] = chain
    expect((await getOne(key, `${BINARY}, application/json`)).headers['content-type']).toBe(BINARY)
    expect((await getOne(key, `text/html, ${OBJECTS}`)).headers['content-type']).toBe(OBJECTS)
    expect(brief(await getOne(key, 'text/plain'))).toEqual([406, undefined, ''])
  })

  it('a header that the chain lacks is a 404 with its key, in any encoding', async () => {
    for (const accept of ['application/json', OBJECTS, BINARY]) {
      const body = `{"reason":"key not found","key":"${UNKNOWN}"}`
      expect(brief(await getOne(UNKNOWN, accept))).toEqual([404, JSON_TYPE, body])
    }
    expect((await getOne(chain[1].hash, OBJECTS, 4)).status).toBe(404)
    for (const key of ['x', `${UNKNOWN}A`, UNKNOWN.slice(1), `${UNKNOWN.slice(1)}=`, 'A'.repeat(3000)]) {
      expect(brief(await getOne(key)).slice(0, 2)).toEqual([400, TEXT])
    }
  })
})

describe('paths and methods', () => {
  it('paths that end with a slash get the same answer as those without, with every method', async () => {
    const { devnet } = await start({ graph: 'pair' })
    const peer = new Peer(devnet.url)
    onTestFinished(() => peer.close())
    const compared: string[] = []
    for (const { method, path, scope, responses } of Object.values<Operation>(operations)) {
      const filled = (scope === 'network' ? PREFIX : '') + path.replace('{chain}', '0').replace(/\{\w+\}/, UNKNOWN)
      if (EVENT_STREAM in (responses[200]?.content ?? {})) {
        const body = path.endsWith('/mining/updates') ? Buffer.alloc(4) : undefined
        const options = body === undefined ? {} : { body }
        const open = (each: string) => OpenResponse.open(devnet.url + each, options)
        const streams = await Promise.all([filled, `${filled}/`].map(open))
        for (const stream of streams) {
          expect(stream.status, filled).toBe(200)
          expect(stream.headers['x-accel-buffering'], filled).toBe('no')
          stream.destroy()
        }
        continue
      }
      const answers = await Promise.all([filled, `${filled}/`].map((each) => peer.request(method, each)))
      const [plain, slashed] = answers.map(({ status, headers, body }) => [status, headers['content-type'], `${body}`])
      expect(slashed.slice(0, 2), filled).toEqual(plain.slice(0, 2))
      expect(slashed[2], filled).not.toEqual(expect.stringContaining('nothing is served'))
      compared.push(filled)
    }
    expect(compared.length).toBeGreaterThan(30)
  })

  it.each([
    ['/', null],
    ['/inf', '/info'],
    ['/inf/', '/info'],
    ['/chainweb', null],
    [PREFIX, null],
    [`${PREFIX}/cuts`, `${PREFIX}/cut`],
    [`${PREFIX}/mining`, null],
    [`${PREFIX}/mining/works`, `${PREFIX}/mining/work`],
  ])('the path %s does not exist: a 404 says so, names /openapi.json, and suggests %s', async (path, similar) => {
    const guess = similar === null ? '' : `; did you mean ${similar}?`
    const text = `nothing is served at ${path}; GET /openapi.json lists what is${guess}`
    expect(brief(await peer.get(`${path}?limit=1`))).toEqual([404, TEXT, text])
  })

  it.each(['/chainweb/0.0/mainnet01', '/chainweb/0.1/development', '/ledger/0.0/development'])(
    'the path %s names another network or version: a 404 names the one that is served',
    async (prefix) => {
      const text = `this node serves ${PREFIX}, not ${prefix}`
      expect(brief(await peer.get(`${prefix}/cut`))).toEqual([404, TEXT, text])
    },
  )

  it('an unknown chain is a 404 that lists the existing ones', async () => {
    const { hash: key } = chain[1]
    const long = 'A'.repeat(3000)
    for (const id of ['10', '-1', '03', 'x', '3.0', '1e0', '99999999999', long]) {
      const text = `there is no chain ${id.slice(0, 20)}: chains are 0 to 9`
      expect(brief(await peer.get(`${PREFIX}/chain/${id}/header`))).toEqual([404, TEXT, text])
      if (id !== long) expect(brief(await peer.get(`${PREFIX}/chain/${id}/header/${key}`))).toEqual([404, TEXT, text])
    }
  })

  it('a path that cannot be decoded is a 400', async () => {
    const [status, type, message] = brief(await peer.get(`${PREFIX}/chain/%zz/header`))
    expect(status).toBe(400)
    expect(type).toBe(TEXT)
    expect(message).not.toBe('')
  })

  it('an unsupported method is a 405 without a body that lists the supported ones', async () => {
    for (const [allowed, paths] of [
      ['GET, HEAD', ['/info', '/health-check', `${PREFIX}/chain/3/header`, `${PREFIX}/chain/3/header/${UNKNOWN}`]],
      ['GET', [`${PREFIX}/header/updates`, `${PREFIX}/mining/work`, `${PREFIX}/mining/updates`]],
      ['POST', [`${PREFIX}/mining/solved`]],
    ] as const) {
      for (const path of paths) {
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
          if (allowed.split(', ').includes(method)) continue
          const answer = await peer.request(method, path)
          expect(brief(answer), `${method} ${path}`).toEqual([405, undefined, ''])
          expect(answer.headers.allow).toBe(allowed)
        }
      }
    }
  })

  it('a body of more than 2 MiB is a 413', async () => {
    const most = 2 * 1024 * 1024
    const post = (body: Buffer, length: number) =>
      peer.request('POST', `${PREFIX}/mining/solved`, { body, headers: { 'content-length': length } })
    expect((await post(Buffer.alloc(most), most)).status).toBe(400)
    // The content-length alone causes the refusal.
    expect(brief(await post(Buffer.alloc(10), most + 1)).slice(0, 2)).toEqual([413, TEXT])
    const headers = { 'content-type': 'application/json', 'content-length': most + 1 }
    expect((await peer.get(`${PREFIX}/mining/work`, { headers, body: '{}' })).status).toBe(413)
  })

  it('an unsupported content type is a 415', async () => {
    const send = (method: string, path: string, type: string) =>
      peer.request(method, `${PREFIX}/mining/${path}`, { body: 'x', headers: { 'content-type': type } })
    expect(brief(await send('POST', 'solved', 'application/json')).slice(0, 2)).toEqual([415, TEXT])
    expect(brief(await send('GET', 'work', BINARY)).slice(0, 2)).toEqual([415, TEXT])
  })
})

describe('header/updates', () => {
  it('header/updates sends every new block of every chain, with its hash as miners see it', async () => {
    const { devnet, peer } = await start({ graph: 'petersen' })
    const stream = await OpenResponse.open(`${devnet.url}${PREFIX}/header/updates`)
    onTestFinished(() => stream.destroy())
    expect(stream.status).toBe(200)
    expect(stream.headers['content-type']).toBe('text/event-stream')
    expectCommonHeaders(stream)
    const chains = [4, 7, 2]
    for (const id of chains) await mineBlock(peer, id)
    const bigEndian = (bytes: Buffer) => Buffer.from(bytes).reverse().toString('hex')
    let expected = ''
    for (const id of chains) {
      const page = await peer.get(`${PREFIX}/chain/${id}/header?minheight=1`, { headers: { accept: OBJECTS } })
      const [header]: HeaderObject[] = jsonOf(page).items
      const powHash = bigEndian(hash('blake2s256', workOf(header), 'buffer'))
      const target = bigEndian(Buffer.from(header.target, 'base64url'))
      expect(powHash <= target).toBe(true)
      expected += `event:BlockHeader\ndata:${JSON.stringify({ header, txCount: 0, powHash, target })}\n\n`
    }
    expect(await stream.read(expected.length)).toBe(expected)
  })
})

it('a node with another product word has it in paths, the version header and the version field', async () => {
  const { devnet, peer } = await startLedger()
  const prefix = '/ledger/0.0/development'
  await mineBlock(peer, 0, { prefix })
  const answer = await peer.get(`${prefix}/chain/0/header`, { headers: { accept: OBJECTS } })
  expectCommonHeaders(answer, 'ledger')
  expect(Object.keys(answer.headers).filter((name) => name.includes('chainweb'))).toEqual([])
  const { items }: { items: HeaderObject[] } = jsonOf(answer)
  expect(items.map(({ ledgerVersion, chainwebVersion }) => [ledgerVersion, chainwebVersion])).toEqual(
    Array(2).fill(['development', undefined]),
  )
  expect((await peer.get(`${PREFIX}/cut`)).status).toBe(404)
  expectCommonHeaders(await peer.get('/nowhere'), 'ledger')
  const stream = await OpenResponse.open(`${devnet.url}${prefix}/header/updates`)
  onTestFinished(() => stream.destroy())
  expectCommonHeaders(stream, 'ledger')
  await mineBlock(peer, 1, { prefix })
  expect(await stream.read(300)).toContain('"ledgerVersion":"development"')
})

async function startLedger() {
  const { devnet } = await start({ graph: 'pair', product: 'ledger' })
  const peer = new Peer(devnet.url)
  onTestFinished(() => peer.close())
  return { devnet, peer }
}

describe('an answer that never changes', () => {
  it.each([JSON_TYPE, OBJECTS, BINARY])(
    'an answer that never changes has an entity tag and may be stored forever: a header as %s',
    async (accept) => {
      const { hash } = jsonOf(await peer.get(`${PREFIX}/cut`)).hashes[0]
      const path = `${PREFIX}/chain/0/header/${hash}`
      const first = await peer.request('GET', path, { headers: { accept } })
      const { etag, vary } = first.headers
      expect(first.status).toBe(200)
      expect(first.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(vary).toBe('Accept')
      const again = (tag: string) => peer.request('GET', path, { headers: { accept, 'if-none-match': tag } })
      for (const tag of [`${etag}`, `"x", W/${etag}`, '*']) {
        const { status, body, headers } = await again(tag)
        expect(status).toBe(304)
        expect(body).toHaveLength(0)
        expect(headers.etag).toEqual(etag)
      }
      expect((await again('"x"')).status).toBe(200)
    },
  )

  it('each form of an answer that never changes has its own entity tag, and a 404 has none', async () => {
    const { hash } = jsonOf(await peer.get(`${PREFIX}/cut`)).hashes[0]
    const { payloadHash } = jsonOf(
      await peer.request('GET', `${PREFIX}/chain/0/header/${hash}`, { headers: { accept: OBJECTS } }),
    )
    const tagOf = async (path: string, accept: string) =>
      (await peer.request('GET', `${PREFIX}/chain/0/${path}`, { headers: { accept } })).headers.etag
    const tags = [
      ...(await Promise.all([JSON_TYPE, OBJECTS, BINARY].map((type) => tagOf(`header/${hash}`, type)))),
      ...(await Promise.all([JSON_TYPE, BINARY].map((type) => tagOf(`payload/${payloadHash}`, type)))),
      ...(await Promise.all([JSON_TYPE, BINARY].map((type) => tagOf(`payload/${payloadHash}/outputs`, type)))),
    ]
    expect(new Set(tags).size).toBe(7)
    expect(await tagOf(`header/${UNKNOWN}`, JSON_TYPE)).toBeUndefined()
  })
})
