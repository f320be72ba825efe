import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../random.ts'
import { roundsOf } from '../rotation.ts'
import type { HeaderObject } from './checker.ts'
import { BINARY, brief, CheckedPeer, JSON_TYPE, jsonOf, OBJECTS, PREFIX, start, TEXT } from './common.ts'
import { addHeaders, Fork, growCut, idOf } from './forks.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const UNKNOWN = 'A'.repeat(43)
/** A singleton network whose chain has many forks. */
let devnet: Devnet
let peer: CheckedPeer
let blocks: HeaderObject[]
let byHash: Map<string, HeaderObject>

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', pow: false, difficulty: 1n })
  peer = new CheckedPeer(devnet.url)
  const random = randomFrom(11)
  const { chains } = devnet
  for (let i = 0; i < 30; i++) growCut(devnet, 0)
  for (let i = 0; i < 12; i++) {
    const all = chains.store.slice(0, 0, chains.store.count(0))
    const { header } = all[Math.floor(random() * all.length)]
    const fork = new Fork(devnet, `fork ${i}`, new Map([[0, header]]))
    for (let k = 0; k <= random() * 6; k++) fork.grow(0)
  }
  blocks = jsonOf(await peer.get(`${PREFIX}/chain/0/header`, { headers: { accept: OBJECTS } })).items
  byHash = new Map(blocks.map((block) => [block.hash, block]))
})

afterAll(async () => {
  peer.close()
  await devnet.close()
})

interface Bounds {
  readonly upper?: readonly string[] | null
  readonly lower?: readonly string[] | null
}

const ask = (what: 'hash' | 'header' | 'block', bounds: unknown, query = '', accept = 'application/json', chain = 0) =>
  peer.request('POST', `${PREFIX}/chain/${chain}/${what}/branch${query}`, {
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(bounds),
  })

/** The block and all its ancestors. */
function lineOf(hash: string): HeaderObject[] {
  const block = byHash.get(hash)
  return block === undefined ? [] : [block, ...lineOf(block.parent)]
}

/** Descending by height, then by the bytes of the hash. */
function descending(a: HeaderObject, b: HeaderObject): number {
  return b.height - a.height || Buffer.compare(Buffer.from(b.hash, 'base64url'), Buffer.from(a.hash, 'base64url'))
}

function expected({ upper, lower }: Bounds): HeaderObject[] {
  const excluded = new Set((lower ?? []).flatMap(lineOf))
  return [...new Set((upper ?? []).flatMap(lineOf))].filter((block) => !excluded.has(block)).sort(descending)
}

it('the test chain has forks', () => {
  expect(blocks.length).toBeGreaterThan(50)
  const heights = blocks.map(({ height }) => height)
  expect(heights.length - new Set(heights).size).toBeGreaterThan(15)
  // Ascending by height and hash, orphans included.
  expect(blocks).toEqual([...blocks].sort(descending).reverse())
})

describe('pages of branches', () => {
  it('pages of branches follow bounds, heights, limit and cursor, in any combination', async () => {
    const random = randomFrom(5)
    const below = (most: number) => Math.floor(random() * most)
    const some = (most: number) => Array.from({ length: below(most + 1) }, () => blocks[below(blocks.length)].hash)
    let full = 0
    const rounds = roundsOf(300, 100)
    for (let i = 0; i < rounds; i++) {
      const bounds = { upper: some(4), lower: some(2) }
      const query = new URLSearchParams()
      let found = expected(bounds)
      if (random() < 0.4) {
        const cursor = found.length > 0 && random() < 0.8 ? found[below(found.length)] : blocks[below(blocks.length)]
        const isInclusive = random() < 0.5
        query.set('next', `${isInclusive ? 'inclusive' : 'exclusive'}:${cursor.hash}`)
        found = found.filter((block) => descending(block, cursor) >= (isInclusive ? 0 : 1))
      }
      if (random() < 0.4) {
        const min = below(40)
        query.set('minheight', `${min}`)
        found = found.filter(({ height }) => height >= min)
      }
      if (random() < 0.4) {
        const max = below(40)
        query.set('maxheight', `${max}`)
        found = found.filter(({ height }) => height <= max)
      }
      const limit = random() < 0.5 ? null : below(12)
      if (limit !== null) query.set('limit', `${limit}`)
      const items = found.slice(0, limit ?? found.length)
      if (items.length > 5) full++
      const next = found.length > items.length ? `inclusive:${found[items.length].hash}` : null
      const page = jsonOf(await ask('hash', bounds, `?${query}`))
      const wanted = { limit: items.length, items: items.map(({ hash }) => hash), next }
      expect(page, `${bounds} ${query}`).toEqual(wanted)
    }
    expect(full).toBeGreaterThan(rounds / 6)
  })

  it('pages of branches return all blocks when their cursors are followed, in each encoding', async () => {
    const upper = [blocks[blocks.length - 1].hash, blocks[20].hash, blocks[40].hash]
    const all = expected({ upper })
    for (const [what, accept, itemOf] of [
      ['hash', 'application/json', ({ hash }: HeaderObject) => hash],
      ['header', OBJECTS, (header: HeaderObject) => header],
      ['header', 'application/json', null],
      ['block', 'application/json', null],
    ] as const) {
      const seen: unknown[] = []
      for (let next: string | null = ''; next !== null; ) {
        const answer = await ask(what, { upper }, `?limit=7${next && `&next=${next}`}`, accept)
        expect(answer.status).toBe(200)
        expect(answer.headers['content-type']).toEqual(accept === OBJECTS ? OBJECTS : JSON_TYPE)
        const page = jsonOf(answer)
        seen.push(...page.items)
        next = page.next
      }
      if (itemOf !== null) expect(seen).toEqual(all.map((header) => itemOf(header)))
      else if (what === 'block') expect(seen.map((block) => (block as { header: unknown }).header)).toEqual(all)
      else {
        const hashes = seen.map((text) =>
          Buffer.from(text as string, 'base64url')
            .subarray(-32)
            .toString('base64url'),
        )
        expect(hashes).toEqual(all.map(({ hash }) => hash))
      }
    }
  })

  it('pages of branches are empty without an upper bound, or if every upper bound is a lower one', async () => {
    const empty = { limit: 0, items: [], next: null }
    const [{ hash }] = blocks
    const child = blocks.find(({ parent }) => parent === hash)?.hash
    for (const bounds of [{}, { upper: [] }, { upper: null }, { lower: [hash] }, { upper: [hash], lower: [child] }]) {
      expect(jsonOf(await ask('hash', bounds))).toEqual(empty)
    }
    // A limit of 0 returns only the cursor.
    const page = jsonOf(await ask('header', { upper: [child] }, '?limit=0'))
    expect(page).toEqual({ limit: 0, items: [], next: `inclusive:${child}` })
  })

  it('pages of branches refuse bounds and cursors that do not exist, upper and lower', async () => {
    const { peer: other } = await start({ graph: 'singleton' })
    // A block of another network, and a text that is not a valid hash: its last character has excess bits.
    const foreign = jsonOf(await other.get(`${PREFIX}/cut`)).hashes[0].hash
    const [{ hash }] = blocks
    for (const key of [UNKNOWN, `${foreign.slice(0, 42)}_`]) {
      for (const [bounds, query] of [
        [{ upper: [hash, key] }, ''],
        [{ upper: [hash], lower: [key] }, ''],
        [{ upper: [hash] }, `?next=inclusive:${key}`],
      ] as const) {
        for (const what of ['hash', 'header', 'block'] as const) {
          const answer = await ask(what, bounds, query)
          expect(answer.status).toBe(404)
          expect(answer.headers['content-type']).toBe(JSON_TYPE)
          expect(jsonOf(answer)).toEqual({ reason: 'key not found', key })
        }
      }
    }
  })

  it('pages of branches take 32 upper and 32 lower bounds, and no more', async () => {
    const bounds = (count: number) => Array.from({ length: count }, (_, i) => blocks[i % blocks.length].hash)
    expect((await ask('header', { upper: bounds(32), lower: bounds(32) })).status).toBe(200)
    for (const side of ['upper', 'lower']) {
      const answer = await ask('header', { [side]: bounds(33) })
      const message = `"${side} branch bound limit exceeded. Only 32 values are supported."`
      expect(brief(answer)).toEqual([400, JSON_TYPE, message])
    }
  })

  it('pages of branches refuse malformed bodies, types and numbers', async () => {
    const [{ hash }] = blocks
    for (const body of [
      '',
      'x',
      '[]',
      '"x"',
      '{"upper":"x"}',
      `{"upper":["${hash}A"]}`,
      '{"upper":[1]}',
      '{"lower":{}}',
    ]) {
      const answer = await peer.request('POST', `${PREFIX}/chain/0/header/branch`, {
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(brief(answer).slice(0, 2), body).toEqual([400, TEXT])
      expect(answer.body.toString()).toMatch(/^Error in the request body: ./)
    }
    for (const query of ['?limit=x', '?minheight=-1', '?maxheight=1e3', '?next=x', `?next=${hash}`]) {
      expect(brief(await ask('hash', { upper: [hash] }, query)).slice(0, 2)).toEqual([400, TEXT])
    }
    expect(brief(await ask('header', { upper: [hash] }, '', BINARY))).toEqual([406, undefined, ''])
    expect(brief(await ask('hash', { upper: [hash] }, '', OBJECTS))).toEqual([406, undefined, ''])
    const elsewhere = brief(await ask('hash', { upper: [hash] }, '', 'application/json', 1))
    expect(elsewhere).toEqual([404, TEXT, 'there is no chain 1: chains are 0 to 0'])
    const noType = await peer.request('POST', `${PREFIX}/chain/0/hash/branch`, { body: '{}' })
    expect(brief(noType).slice(0, 2)).toEqual([415, TEXT])
  })
})

it('a bound must be a block of the chain in the path', async () => {
  const { devnet, peer } = await start({ graph: 'pair', pow: false, difficulty: 1n })
  const { header } = growCut(devnet, 1)
  const ask = (chain: number) =>
    peer.request('POST', `${PREFIX}/chain/${chain}/hash/branch`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ upper: [idOf(header)] }),
    })
  expect(jsonOf(await ask(1)).items).toHaveLength(2)
  expect((await ask(0)).status).toBe(404)
})

describe('ascending pages', () => {
  const get = async (what: string, query = '') => jsonOf(await peer.get(`${PREFIX}/chain/0/${what}${query}`))

  it('ascending pages of hashes and of blocks hold the same blocks as pages of headers, orphans included', async () => {
    const hashes = blocks.map(({ hash }) => hash)
    expect(await get('hash')).toEqual({ limit: blocks.length, items: hashes, next: `exclusive:${hashes.at(-1)}` })
    const page = await get('block')
    expect(page.items.map(({ header }: { header: HeaderObject }) => header)).toEqual(blocks)
    for (const { header, payloadWithOutputs } of page.items) {
      expect(payloadWithOutputs.payloadHash).toBe(header.payloadHash)
    }
    const some = await get('hash', `?minheight=3&maxheight=9&limit=4&next=exclusive:${hashes[2]}`)
    const matching = blocks.filter(({ height }, i) => i > 2 && height >= 3 && height <= 9).map(({ hash }) => hash)
    expect(some).toEqual({ limit: 4, items: matching.slice(0, 4), next: `inclusive:${matching[4]}` })
    expect(await get('block', '?limit=0')).toEqual({ limit: 0, items: [], next: `inclusive:${hashes[0]}` })
    expect(brief(await peer.get(`${PREFIX}/chain/0/block`, { headers: { accept: OBJECTS } }))[0]).toBe(406)
    expect((await peer.get(`${PREFIX}/chain/0/hash?next=inclusive:${UNKNOWN}`)).status).toBe(404)
  })
})

it('pages end at 4096 hashes, 360 headers and 360 blocks', async () => {
  const { devnet, peer } = await start({ graph: 'singleton', pow: false, difficulty: 1n })
  // Its payload is small, unlike that of the first block.
  growCut(devnet, 0)
  const head = idOf(addHeaders(devnet, 0, 4099))
  for (const [what, most] of [
    ['hash', 4096],
    ['header', 360],
    ['block', 360],
  ] as const) {
    for (const query of ['', '?limit=5000']) {
      const up = jsonOf(await peer.get(`${PREFIX}/chain/0/${what}${query}`))
      expect(up.limit, what).toEqual(most)
      expect(up.items.length, what).toEqual(most)
      expect(up.next.slice(0, 10), what).toBe('inclusive:')
      const down = await peer.request('POST', `${PREFIX}/chain/0/${what}/branch${query}`, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ upper: [head] }),
      })
      const page = jsonOf(down)
      expect(page.limit, what).toEqual(most)
      expect(page.items.length, what).toEqual(most)
      expect(page.next.slice(0, 10), what).toBe('inclusive:')
      const rest = await peer.request('POST', `${PREFIX}/chain/0/hash/branch?next=${page.next}`, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ upper: [head] }),
      })
      expect(jsonOf(rest).limit).toBe(Math.min(4101 - most, 4096))
    }
  }
})
