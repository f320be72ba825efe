import { expect, it } from 'vitest'
import type { NodeClient } from '../../src/client/node/public.ts'
import { NodeMisbehaved } from '../../src/client/node/public.ts'
import { failureOf, json, startFakeNode } from './fake-node.ts'

const hash = (i: number) => Buffer.alloc(32, i).toString('base64url')

/** A list of hashes; `next` returns the cursor after the page that begins at `from`. */
async function listOf(next: (from: number) => string | null, size = 2) {
  const { node, client } = await startFakeNode()
  node.onNetwork('GET', '/chain/0/hash', ({ query }) => {
    const cursor = query.next?.split(':')[1]
    const from = cursor === undefined ? 0 : Buffer.from(cursor, 'base64url')[0]
    return json({ limit: size, items: Array.from({ length: size }, (_, i) => hash(from + i)), next: next(from) })
  })
  return { node, client }
}

const upTo = (last: number, end: string | null) => (from: number) =>
  from >= last ? end : `inclusive:${hash(from + 2)}`
const hashes = (count: number) => Array.from({ length: count }, (_, i) => hash(i))

it('pages() and items() follow the cursors to the end, each used as it came', async () => {
  for (const end of [null, `exclusive:${hash(5)}`]) {
    const { node, client } = await listOf(upTo(4, end))
    const pages = []
    for await (const page of client.hashes(0, { minheight: 3 }).pages()) pages.push(page)
    expect(pages.flatMap(({ items }) => items)).toEqual(hashes(6))
    expect(pages.at(-1)?.next).toBe(end)
    expect(node.requests.map(({ query }) => query)).toEqual([
      { minheight: '3' },
      { minheight: '3', next: `inclusive:${hash(2)}` },
      { minheight: '3', next: `inclusive:${hash(4)}` },
    ])
  }
})

it('items() ends after `most` items, and requests no further page', async () => {
  const { node, client } = await listOf(upTo(100, null))
  expect(await client.hashes(0).all({ most: 3 })).toEqual(hashes(3))
  expect(node.requests).toHaveLength(2)
  expect(await client.hashes(0).all({ most: 0 })).toEqual([])
  for await (const item of client.hashes(0)) {
    if (item === hash(3)) break
  }
  expect(node.requests).toHaveLength(4)
})

it('pages({ from }) continues where an earlier list ended', async () => {
  const { node, client } = await listOf(() => null)
  expect(await client.hashes(0).all({ from: `exclusive:${hash(7)}` })).toEqual([hash(7), hash(8)])
  expect(node.last.query).toEqual({ next: `exclusive:${hash(7)}` })
})

it('`limit` bounds each page, and a larger page is refused', async () => {
  const { node, client } = await listOf(upTo(4, null))
  expect(await client.hashes(0, { limit: 2 }).all()).toEqual(hashes(6))
  expect(node.last.query).toMatchObject({ limit: '2' })
  expect(await failureOf(client.hashes(0, { limit: 1 }).all())).toMatchObject({
    code: 'NODE_MISBEHAVED',
    message: expect.stringContaining('2 items where at most 1'),
  })
})

it('a list of limit 0 has one empty page, and refuses to be read to its end', async () => {
  const { node, client } = await listOf(upTo(4, null))
  node.onNetwork('GET', '/chain/0/hash', () => json({ limit: 0, items: [], next: `inclusive:${hash(0)}` }))
  const none = client.hashes(0, { limit: 0 })
  expect(await none.page()).toEqual({ limit: 0, items: [], next: `inclusive:${hash(0)}` })
  expect(await failureOf(none.all())).toMatchObject({ code: 'BAD_OPTION' })
})

const endless: [string, (from: number) => string | null, number, string][] = [
  ['stand still', () => `inclusive:${hash(2)}`, 2, 'the same cursor again'],
  ['go round', (from) => `inclusive:${hash((from + 2) % 14)}`, 2, 'the same cursor again'],
  ['follow empty pages', (from) => `inclusive:${hash(from + 2)}`, 0, 'an empty page'],
  ['are malformed', () => 'inclusive:somewhere', 2, 'a malformed cursor'],
  ['are of another kind', () => `after:${hash(1)}`, 2, 'a malformed cursor'],
]
it.each(endless)('a node whose cursors %s is refused, not asked forever', async (_name, next, size, message) => {
  const { node, client } = await listOf(next, size)
  const error = await failureOf(client.hashes(0).all())
  expect(error).toBeInstanceOf(NodeMisbehaved)
  expect(error).toMatchObject({ operation: 'hashes', message: expect.stringContaining(message) })
  expect(node.requests.length).toBeLessThan(40)
})

it('a list that grows forever ends with an error at `mostPages`', async () => {
  const { node, client } = await listOf((from) => `inclusive:${hash((from + 1) % 250)}`)
  const walk = async (list: ReturnType<NodeClient['hashes']>) => {
    for await (const _page of list.pages({ mostPages: 5 }));
  }
  expect(await failureOf(walk(client.hashes(0)))).toMatchObject({
    message: expect.stringContaining('more than 5 pages'),
  })
  expect(node.requests).toHaveLength(5)
})
