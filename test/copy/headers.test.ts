/** Lists of headers and hashes of a fork: below the pin they are those of the forked node, checked down from the pin. */
import { describe, expect, it } from 'vitest'
import type { NodeCopy } from '../../src/devnet/copy/node-copy.ts'
import { HeaderTrees } from '../../src/devnet/http/lookup/header-trees.ts'
import { makeBlocks } from '../devnet/commands-common.ts'
import { jsonOf, OBJECTS, PREFIX, type Started } from '../devnet/common.ts'
import { randomFrom } from '../random.ts'
import { type Forked, folder, remoteOfFile, reorganise, startFork, startRemote } from './network.ts'
import { honest, type Manner, type ProxyAnswer } from './proxy.ts'

const JSON_BODY = { 'content-type': 'application/json' }

/** Objects where they are offered. */
const ANY = `${OBJECTS}, application/json;q=0.5`

async function get(node: Started, path: string, accept = ANY, chain = 0) {
  const { status, body } = await node.peer.request('GET', `${PREFIX}/chain/${chain}/${path}`, { headers: { accept } })
  return { status, text: body.toString() }
}

async function branch(node: Started, path: string, bounds: unknown) {
  const request = { headers: { ...JSON_BODY, accept: 'application/json' }, body: JSON.stringify(bounds) }
  const { status, body } = await node.peer.request('POST', `${PREFIX}/chain/0/${path}`, request)
  return { status, text: body.toString() }
}

const itemsOf = (text: string) => JSON.parse(text) as { items: string[]; next: string | null; limit: number }
const allHashes = async (node: Started) => itemsOf((await get(node, 'hash')).text).items

/** With some blocks above those of the token. */
const remote = remoteOfFile({ 0: 12, 1: 12 })

const pinOf = ({ devnet }: Pick<Forked, 'devnet'>) => devnet.fork?.pin.height ?? 0

describe('lists of a fork', () => {
  it('a fork lists the branches of the forked node up to the pin', async () => {
    const forked = await startFork(remote)
    const pin = pinOf(forked)
    const all = await allHashes(remote)
    const random = randomFrom(7)
    const below = (most: number) => Math.floor(random() * most)
    for (let i = 0; i < 40; i++) {
      const [from, to] = [below(pin), below(pin + 1)]
      const query = [
        `maxheight=${i % 3 === 0 ? pin : to}`,
        ...(i % 2 === 0 ? [`minheight=${from}`] : []),
        ...(i % 4 < 2 ? [`limit=${below(6)}`] : []),
        ...(i % 5 === 0 ? [`next=${i % 2 === 0 ? 'in' : 'ex'}clusive:${all[below(pin)]}`] : []),
      ].join('&')
      for (const list of ['hash', 'header']) {
        const path = `${list}?${query}`
        expect(await get(forked, path), path).toEqual(await get(remote, path))
      }
      const bounds = { upper: [all[below(all.length)], all[below(all.length)]], lower: i % 2 === 0 ? [all[from]] : [] }
      for (const path of ['hash/branch', 'header/branch']) {
        const [here, there] = [
          await branch(forked, `${path}?${query}`, bounds),
          await branch(remote, `${path}?${query}`, bounds),
        ]
        expect(here, `${path}?${query} ${JSON.stringify(bounds)}`).toEqual(there)
      }
    }
    for (const accept of ['application/json', OBJECTS, 'application/octet-stream']) {
      expect(await get(forked, `header/${all[3]}`, accept)).toEqual(await get(remote, `header/${all[3]}`, accept))
    }
    expect(await get(forked, 'header?limit=5', OBJECTS, 1)).toEqual(await get(remote, 'header?limit=5', OBJECTS, 1))
  })

  it("a fork's lists continue above the pin with its own blocks, orphans included", async () => {
    const forked = await startFork(remote)
    const pin = pinOf(forked)
    const below = await allHashes(remote)
    // The forked network goes on, and the fork has nothing of that.
    await makeBlocks(remote.peer, { 0: 2, 1: 2 })
    await makeBlocks(forked.peer, { 0: 2, 1: 2 })
    await reorganise(forked, 1)
    const own = (await get(forked, `hash?minheight=${pin + 1}`)).text
    expect(itemsOf(own).items.length).toBeGreaterThanOrEqual(4)
    expect(await allHashes(forked)).toEqual([...below, ...itemsOf(own).items])
    const above = (await allHashes(remote)).at(-1)
    expect((await get(forked, `header/${above}`)).status).toBe(404)
    expect((await get(forked, `hash?next=inclusive:${above}`)).status).toBe(404)
    // Page by page, in both directions.
    const walk = async (page: (next: string) => Promise<{ text: string }>) => {
      const found: string[] = []
      for (let next: string | null = ''; next !== null && !next.startsWith('exclusive'); ) {
        const { items, next: following } = itemsOf((await page(next === '' ? '' : `&next=${next}`)).text)
        found.push(...items)
        next = following
      }
      return found
    }
    expect(await walk((next) => get(forked, `hash?limit=3${next}`))).toEqual(await allHashes(forked))
    const head = [...forked.devnet.cut.values()].map(({ hash }) => Buffer.from(hash).toString('base64url'))[0]
    const down = await walk((next) => branch(forked, `hash/branch?limit=3${next}`, { upper: [head] }))
    expect(down.slice(-below.length)).toEqual(below.toReversed())
    expect(down.slice(0, -below.length)).toHaveLength(Number(forked.devnet.cut.get(0)?.height) - pin)
    // A lower bound of the fork leaves out everything below it, and one below the pin leaves the rest.
    expect(itemsOf((await branch(forked, 'hash/branch', { upper: [head], lower: [below.at(-1)] })).text).items).toEqual(
      down.slice(0, -below.length),
    )
    const part = await branch(forked, 'hash/branch', { upper: [head], lower: [below[4]] })
    expect(itemsOf(part.text).items).toEqual(down.slice(0, -5))
  })

  it("a fork's lists need no node once they are cached", async () => {
    const cacheFolder = folder()
    const first = await startFork(remote, { cacheFolder })
    const asked = async (node: Started) => [
      await get(node, 'header'),
      await get(node, 'hash', ANY, 1),
      await get(node, `header/${(await allHashes(node))[2]}`, 'application/json'),
    ]
    const told = await asked(first)
    const before = first.proxy.seen.length
    expect(await asked(first)).toEqual(told)
    expect(first.proxy.seen).toHaveLength(before)
    const cut = String(pinOf(first))
    await first.proxy.close()
    const second = await startFork(remote, { cacheFolder, cut }, {}, {}, async () => null)
    expect(await asked(second)).toEqual(told)
    expect(second.proxy.seen).toEqual([])
  })

  it("a fork's lists fetch only what they need", async () => {
    const forked = await startFork(remote)
    const pin = pinOf(forked)
    const asked = () => forked.proxy.seen.filter(({ url }) => url.includes('/header/branch')).map(({ url }) => url)
    const before = asked().length
    const path = (from: number) => `hash?minheight=${from}&limit=2`
    expect(await get(forked, path(pin))).toEqual(await get(remote, path(pin)))
    expect(asked()).toHaveLength(before)
    await Promise.all([get(forked, path(pin - 3)), get(forked, path(pin - 3)), get(forked, path(pin - 2))])
    expect(asked().slice(before)).toEqual([expect.stringContaining(`minheight=${pin - 3}&maxheight=${pin - 1}`)])
    const pinned = forked.devnet.fork?.pin.hashes.get(0)
    await branch(forked, 'hash/branch?limit=4', { upper: [pinned] })
    expect(asked().slice(before + 1)).toEqual([expect.stringContaining(`minheight=${pin - 5}&maxheight=${pin - 4}`)])
    const single = () => forked.proxy.seen.filter(({ method, url }) => method === 'GET' && url.includes('/header/'))
    const seen = single().length
    for (const id of ['nothing', `${'A'.repeat(42)}B`, `${'A'.repeat(42)}.`]) {
      for (const odd of [`header/${id}`, `hash?next=inclusive:${id}`]) {
        expect(await get(forked, odd), odd).toEqual(await get(remote, odd))
      }
    }
    expect(single()).toHaveLength(seen)
  })

  it("a fork's lists report how far down headers are checked", async () => {
    const forked = await startFork(remote)
    const pin = pinOf(forked)
    const trees = new HeaderTrees(forked.devnet.chains.store, forked.devnet.fork as NodeCopy, 3)
    const from = (minheight: number) => trees.treeForPage({ chain: 0, query: { minheight }, most: 360 })
    expect((await from(pin - 3)).slice(0, pin - 3, pin + 1)).toHaveLength(4)
    await expect(from(pin - 4)).rejects.toMatchObject({
      status: 400,
      message:
        `height ${pin - 4} is 4 blocks below the fork at height ${pin}. Headers are checked from there down, at most 3 ` +
        `of them: ask with minheight=${pin - 3} or above, or ask the forked node`,
    })
  })
})

/** A manner that changes the answers to these requests. */
const changing =
  (path: RegExp, change: (answer: ProxyAnswer) => ProxyAnswer | null): Manner =>
  async ({ url }, forward) =>
    path.test(url) ? change(await forward()) : forward()

const withItems = (change: (items: string[]) => unknown[]) => (answer: ProxyAnswer) => {
  const page = itemsOf(answer.body)
  return { ...answer, body: JSON.stringify({ ...page, items: change(page.items) }) }
}

/** A header with one byte of its nonce changed: its hash is no longer its own. */
function edited(header: string): string {
  const bytes = Buffer.from(header, 'base64url')
  bytes[bytes.length - 33] ^= 1
  return bytes.toString('base64url')
}

describe('a forked node', () => {
  it('the error names a forked node with false or missing headers', async () => {
    const remote = await startRemote()
    await makeBlocks(remote.peer, { 0: 6, 1: 6 })
    await reorganise(remote, 3)
    const plain = async (path: string) => itemsOf((await get(remote, path, 'application/json')).text).items
    const heightOf = (header: string) => Number(Buffer.from(header, 'base64url').readBigUInt64LE(318 - 36 * 2 - 60))
    const other = 'that does not lead to the pinned block'
    const none = 'returned no headers of chain 0 below height'
    const cases: readonly [name: string, change: (answer: ProxyAnswer) => ProxyAnswer, why: string][] = [
      ['leaves one out', withItems((items) => items.toSpliced(3, 1)), other],
      ['repeats one', withItems((items) => items.toSpliced(3, 0, items[2])), other],
      ['begins one too low', withItems((items) => items.slice(1)), other],
      ['turns them around', withItems((items) => items.toReversed()), other],
      ['edits one', withItems((items) => items.with(4, edited(items[4]))), none],
      ['tells none', withItems(() => []), none],
      ['tells other things', withItems(() => [5]), none],
      ['has lost them', () => ({ status: 404, body: '{"reason":"key not found"}' }), 'status 404'],
      ['has compacted them', () => ({ status: 500, body: 'compacted' }), 'status 500: compacted'],
    ]
    const orphans = (await plain('header')).filter((header, i, all) => {
      return [all[i - 1], all[i + 1]].some((next) => next !== undefined && heightOf(next) === heightOf(header))
    })
    expect(orphans.length).toBeGreaterThanOrEqual(4)
    const swapped = withItems((items) => {
      const at = items.findIndex((item) => orphans.includes(item))
      const sibling = orphans.find((each) => heightOf(each) === heightOf(items[at]) && each !== items[at])
      return items.with(at, sibling ?? '')
    })
    for (const [name, change, why] of [...cases, ['tells one of another branch', swapped, other] as const]) {
      const forked = await startFork(remote)
      forked.proxy.manner = changing(/header\/branch/, change)
      for (const path of ['header', 'hash?limit=2']) {
        const { status, text } = await get(forked, path)
        expect(text, name).toContain(why)
        expect(status, name).toBe(502)
      }
      const pin = pinOf(forked)
      expect((await get(forked, `hash?minheight=${pin}`)).status).toBe(200)
      // Once the node returns right headers, so does the fork.
      forked.proxy.manner = honest
      const pinned = forked.devnet.fork?.pin.hashes.get(0)
      const bounds = { upper: [pinned] }
      expect(await branch(forked, 'header/branch', bounds)).toEqual(await branch(remote, 'header/branch', bounds))
    }
  })

  it('a forked node with orphans has them below no pin', async () => {
    const remote = await startRemote()
    await makeBlocks(remote.peer, { 0: 2, 1: 2 })
    await reorganise(remote, 2)
    const forked = await startFork(remote)
    const fork = forked.devnet.fork as NodeCopy
    const state = fork.stateOf(0)
    const heightOf = (hash: string) => fork.complete(() => state?.get<number>('headers', hash), [])
    const branchOf = itemsOf((await branch(remote, 'hash/branch', { upper: [fork.pin.hashes.get(0)] })).text).items
    const all = await allHashes(remote)
    expect(all.length - branchOf.length).toBeGreaterThanOrEqual(2)
    for (const hash of all.slice(-8)) {
      const index = branchOf.indexOf(hash)
      expect(await heightOf(hash), hash).toBe(index < 0 ? undefined : fork.pin.height - index)
    }
    // A refusal tells nothing, so it does not stay.
    const [, unknown] = all
    forked.proxy.manner = changing(/header\/[\w-]{43}/, () => ({ status: 403, body: 'no' }))
    await expect(heightOf(unknown)).rejects.toThrow(`refuses the header ${unknown} with status 403: no`)
    forked.proxy.manner = changing(/header\/[\w-]{43}/, (answer) => ({ ...answer, body: 'null' }))
    expect(await heightOf('A'.repeat(43))).toBeUndefined()
    forked.proxy.manner = honest
    expect(await heightOf(unknown)).toBe(1)
  })

  it('the error names a forked node that returns another header than the one with the hash', async () => {
    const forked = await startFork(remote)
    const [first, second] = await allHashes(remote)
    const { text: wrong } = await get(remote, `header/${second}`, 'application/json')
    for (const body of [wrong, '"AAAA"', '{}', JSON.stringify(edited(JSON.parse(wrong)))]) {
      forked.proxy.manner = changing(/header\/[\w-]{43}/, (answer) => ({ ...answer, body }))
      const { status, text } = await get(forked, `header/${first}`)
      expect(text).toContain(`returned another header than ${first} of chain 0`)
      expect(status).toBe(502)
    }
    forked.proxy.manner = changing(/header\/[\w-]{43}/, () => ({ status: 403, body: 'no' }))
    expect((await get(forked, `header/${first}`)).text).toContain(`refuses the header ${first} with status 403: no`)
  })

  it('the error names a forked node that is gone, and the fork serves what it knows', async () => {
    const forked = await startFork(remote)
    const pin = pinOf(forked)
    const known = await get(forked, `header?minheight=${pin - 2}&maxheight=${pin}`)
    await forked.proxy.close()
    expect(await get(forked, `header?minheight=${pin - 2}&maxheight=${pin}`)).toEqual(known)
    const { status, text } = await get(forked, 'hash')
    expect(text).toContain('gave no answer in 6 attempts')
    expect(status).toBe(502)
    const { status: ofBlocks, text: blocks } = await get(forked, 'block', 'application/json')
    expect(ofBlocks).toBe(200)
    expect(jsonOf({ body: Buffer.from(blocks) } as never).items.length).toBe(1)
  })
})
