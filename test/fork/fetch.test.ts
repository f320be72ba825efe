/** Questions of a fork to the forked node, the answers that it takes, and the entries that stay in its cache. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Domain } from '../../src/contracts/machine/state.ts'
import { ForkCache } from '../../src/fork/cache.ts'
import { type ForkOptions, openFork, pinFile } from '../../src/fork/fork.ts'
import { HEADER_KEY } from '../../src/fork/payload-fetch.ts'
import { signed } from '../devnet/command.ts'
import { exec, makeBlocks } from '../devnet/commands-common.ts'
import { jsonOf, PREFIX } from '../devnet/common.ts'
import { folder, inBlock, remoteOfFile } from './network.ts'
import { honest, type Manner, proxyTo } from './proxy.ts'

const remote = remoteOfFile()

const ACCOUNTS = 'free.fork-token.accounts'
const rows: Domain = `table:${ACCOUNTS}`

const heights = () => [...remote.devnet.cut.values()].map(({ height }) => Number(height))

/** A fork of chain 0 through a proxy, at the heads. */
async function opened(changes: Partial<ForkOptions> = {}, manner: Manner = honest) {
  const proxy = await proxyTo(remote.devnet.url)
  proxy.manner = manner
  const fork = await openFork({
    url: proxy.url,
    cut: String(Math.min(...heights())),
    chains: [0],
    cacheFolder: null,
    perSecond: 1e6,
    timeoutMs: 60_000,
    tableRows: 100,
    pactKeys: [],
    ...changes,
  })
  const chain = fork.chain(0)
  return { proxy, fork, chain, ...chain }
}

describe('a row', () => {
  it('is no value of another form, whatever the node answers', async () => {
    const answering =
      (data: unknown): Manner =>
      async (request, forward) => {
        const answer = await forward()
        if (!request.url.includes('/local')) return answer
        return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), result: { status: 'success', data } }) }
      }
    let deep: unknown = 1
    for (let levels = 0; levels < 300; levels++) deep = [deep]
    for (const [domain, key, answers] of [
      [rows, 'alice', [5, [], [5], [['alice', deep, []]], [[], []]]],
      [rows, null, [5, [], [{ int: 1 }, 5], [{ int: 1 }, [5]], [5, [['alice', {}, []]]]]],
      ['keysets', 'free.known', [deep]],
      ['modules', null, [5, [5]]],
    ] as const) {
      for (const data of answers) {
        const { fetcher, cache } = await opened({}, answering(data))
        await expect(fetcher.fetch({ domain, key }), JSON.stringify(data)).rejects.toMatchObject({
          code: 'NODE_MISBEHAVED',
          message: expect.stringContaining('gives a value of the wrong form: '),
        })
        expect([...cache.withPrefix('')]).toHaveLength(1)
      }
    }
  })
})

describe('a pact', () => {
  const continued = (pactId: string) =>
    signed({}, { payload: { cont: { pactId, step: 1, rollback: false, data: {}, proof: null } } })

  it('has the state that its own command tells, once that is named, in a cache of before too', async () => {
    const begun = [exec('(free.fork-token.steps "alice")'), exec('(free.fork-token.steps "bob")')]
    await inBlock(remote.peer, begun)
    const next = begun.map(({ hash }) => continued(hash))
    await inBlock(remote.peer, next)
    await makeBlocks(remote.peer, { 1: 2 })
    const [{ hash: id }] = begun
    const keys = next.map(({ hash }) => hash).reverse()
    const cacheFolder = folder()
    const stateWith = async (pactKeys: readonly string[]) => {
      const { chain, state, proxy } = await opened({ cacheFolder, pactKeys })
      const before = proxy.seen.length
      const found = await chain
        .complete(() => state.get<{ id: string; step: number; args: unknown }>('pacts', id))
        .catch(String)
      return { found, requests: proxy.seen.length - before }
    }
    for (const wrong of [[], [keys[0]]]) {
      expect((await stateWith(wrong)).found).toContain('name its request key with --fork-pact')
    }
    // Nothing else is named, so nothing is asked again.
    expect(await stateWith([keys[0]])).toMatchObject({ found: expect.stringContaining('--fork-pact'), requests: 0 })
    expect((await stateWith(keys)).found).toMatchObject({ id, step: 1, args: ['alice'] })
    expect(await stateWith([])).toMatchObject({ found: { id, step: 1 }, requests: 0 })
  })

  it('has no state because the node refuses to tell results', async () => {
    const begun = exec('(free.fork-token.steps "alice")')
    await inBlock(remote.peer, [begun])
    await makeBlocks(remote.peer, { 1: 1 })
    const manner: Manner = async ({ url }, forward) => (url.includes('/poll') ? { status: 403, body: 'no' } : forward())
    const { fetcher, cache } = await opened({}, manner)
    await expect(fetcher.fetch({ domain: 'pacts', key: begun.hash })).rejects.toThrow(
      `refuses the results of pact ${begun.hash} with status 403: no`,
    )
    expect(cache.has(`pact:${begun.hash}`)).toBe(false)
  })
})

/** A header as the node encodes it. */
async function headerAt(chain: number, height: number): Promise<string> {
  const page = `${PREFIX}/chain/${chain}/header?minheight=${height}&maxheight=${height}`
  return jsonOf(await remote.peer.get(page)).items[0]
}

/** A header with one byte of its nonce changed: its hash is no longer its own. */
function edited(header: string): string {
  const bytes = Buffer.from(header, 'base64url')
  bytes[bytes.length - 33] ^= 1
  return bytes.toString('base64url')
}

describe('a pin', () => {
  const isBranch = /header\/branch/
  const answering =
    (change: (body: { items: string[] }) => unknown): Manner =>
    async ({ url }, forward) => {
      const answer = await forward()
      return isBranch.test(url) ? { ...answer, body: JSON.stringify(change(JSON.parse(answer.body))) } : answer
    }

  it('has the very blocks that a cut names, and no others that the node tells', async () => {
    const height = Math.min(...heights())
    const { proxy, fork } = await opened()
    const below = await headerAt(0, height - 1)
    for (const item of [await headerAt(1, height), below, edited(await headerAt(0, height)), 'AAAA', 5]) {
      await expect(
        opened(
          {},
          answering((body) => ({ ...body, items: [item] })),
        ),
      ).rejects.toMatchObject({
        code: 'NODE_MISBEHAVED',
        message: expect.stringContaining(`gives no right header of chain 0 at height ${height}: `),
      })
    }
    const hash = fork.pin.hashes.get(0)
    const cut = JSON.stringify({ network: 'development', hashes: { 0: { height: height - 1, hash } } })
    await expect(
      opened(
        { cut },
        answering((body) => ({ ...body, items: [below] })),
      ),
    ).rejects.toMatchObject({
      code: 'NODE_MISBEHAVED',
      message: expect.stringContaining(`gives another block of chain 0 than the pinned ${hash}`),
    })
    expect(proxy.seen.filter(({ url }) => isBranch.test(url))).toHaveLength(1)
  })

  it('is in the cache for its height if it has all chains, and if no other network has one there', async () => {
    const [cacheFolder, height] = [folder(), Math.min(...heights())]
    const cut = String(height)
    await opened({ cacheFolder, cut })
    const whole = { network: 'development', height }
    const isThere = () => readdirSync(cacheFolder).includes('pins') && readdirSync(join(cacheFolder, 'pins')).length > 0
    expect(isThere()).toBe(false)
    const { fork, chain } = await opened()
    const hash = fork.pin.hashes.get(0)
    await opened({
      cacheFolder,
      chains: null,
      cut: JSON.stringify({ network: 'development', hashes: { 0: { height, hash } } }),
    })
    expect(isThere()).toBe(false)
    const first = await opened({ cacheFolder, chains: null, cut })
    expect(isThere()).toBe(true)
    const again = await opened({ cacheFolder, chains: null, cut })
    expect([again.proxy.seen, again.fork.pin]).toEqual([[], first.fork.pin])
    const other = pinFile(cacheFolder, { ...whole, network: 'another' })
    writeFileSync(other, readFileSync(pinFile(cacheFolder, whole), 'utf8').replace('development', 'another'))
    const asks = await opened({ cacheFolder, chains: null, cut })
    expect([asks.proxy.seen.length > 0, asks.fork.pin]).toEqual([true, first.fork.pin])
    expect(chain.block.hash).toBe(hash)
  })

  it('takes no header of the cache that is not the pinned one', async () => {
    const cacheFolder = folder()
    const { block, cache } = await opened({ cacheFolder })
    const right = cache.get(HEADER_KEY) as string
    const cut = JSON.stringify({ network: 'development', hashes: { 0: block } })
    const asks = async () => (await opened({ cacheFolder, cut })).proxy.seen.length
    expect(await asks()).toBe(0)
    // A program that can write the file can seal a wrong line.
    for (const wrong of [edited(right), await headerAt(0, block.height - 1)]) {
      const writer = new ForkCache(cacheFolder, block)
      writer.put(HEADER_KEY, wrong)
      writer.save()
      expect([await asks(), await asks()]).toEqual([1, 0])
    }
  })
})
