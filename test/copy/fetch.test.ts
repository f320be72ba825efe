/** Questions of a fork to the forked node, the answers that it takes, and the entries that stay in its cache. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import type { Domain } from '../../src/language/contracts/machine/state.ts'
import { CopyCache } from '../../src/language/copy/cache.ts'
import { entriesIn } from '../../src/language/copy/entries.ts'
import { type NetworkCopyOptions, openCopy, pinFile } from '../../src/language/copy/network-copy.ts'
import { signed } from '../devnet/command.ts'
import { exec, makeBlocks } from '../devnet/commands-common.ts'
import { jsonOf, PREFIX } from '../devnet/common.ts'
import { execWith, folder, inBlock, remoteOfFile } from './network.ts'
import { honest, type Manner, type NodeProxy, proxyTo } from './proxy.ts'

const remote = remoteOfFile()

const ACCOUNTS = 'free.fork-token.accounts'
const rows: Domain = `table:${ACCOUNTS}`

const heights = () => [...remote.devnet.cut.values()].map(({ height }) => Number(height))

/** A fork of chain 0 through a proxy, at the heads. */
async function opened(changes: Partial<NetworkCopyOptions> = {}, manner: Manner = honest) {
  const proxy = await proxyTo(remote.devnet.url)
  proxy.manner = manner
  const fork = await openCopy({
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

/** Codes that the node was asked to run. */
const asked = ({ seen }: NodeProxy) =>
  seen
    .filter(({ url }) => url.includes('/local'))
    .map(({ body }) => String(JSON.parse(JSON.parse(body).cmd).payload.exec?.code))

/** Lets calls that contain a text fail with a message. */
const failing =
  (text: string, message: string): Manner =>
  async ({ url, body }, forward) => {
    if (!url.includes('/local') || !body.includes(text)) return forward()
    return { status: 200, body: JSON.stringify({ result: { status: 'failure', error: { message } }, metaData: null }) }
  }

/** Places of the entries that are cached from here on. */
function cachedPlaces(): () => readonly string[] {
  const put = vi.spyOn(CopyCache.prototype, 'put')
  onTestFinished(() => put.mockRestore())
  put.mockClear()
  return () => put.mock.calls.map(([place]) => place)
}

describe('a row', () => {
  it('a requested row comes with those that code probably reads next: 50 short keys, each new', async () => {
    const { fetcher, entries, proxy } = await opened()
    const names = Array.from({ length: 60 }, (_, i) => `name ${i}`)
    const [longest, longer] = ['x'.repeat(256), 'x'.repeat(257)]
    await fetcher.fetch({ domain: rows, key: 'alice' }, [longer, longest, 'alice', ...names, ...names])
    const keysIn = (code: string) =>
      [.../"([^"]*)"/g[Symbol.matchAll](code.slice(code.lastIndexOf('[')))].map((each) => each[1])
    expect(keysIn(asked(proxy)[0])).toEqual(['alice', longest, ...names.slice(0, 49)])
    const cached = entries.rows(ACCOUNTS)
    expect(cached.get('name 3')).toBe(false)
    expect(cached.has('name 49')).toBe(false)
    const before = asked(proxy).length
    await fetcher.fetch({ domain: rows, key: 'bob' }, ['alice', 'name 3', 'new', 'new'])
    expect(keysIn(asked(proxy)[before])).toEqual(['bob', 'new'])
  })

  it.each([
    [`(read ${ACCOUNTS}`, rows, 'alice'],
    [`(keys ${ACCOUNTS}`, rows, null],
    ['describe-keyset', 'keysets', 'free.known'],
    ['describe-namespace', 'namespaces', 'free'],
  ] as const)('a row is not absent because %s fails for another reason', async (code, domain, key) => {
    const { fetcher, proxy } = await opened({}, failing(code, 'Gas limit (1) exceeded: 2'))
    const cached = cachedPlaces()
    await expect(fetcher.fetch({ domain, key })).rejects.toMatchObject({
      code: 'NODE_REFUSED',
      message: expect.stringMatching(/ fails \(.* with: Gas limit \(1\) exceeded: 2$/),
    })
    expect(cached()).toEqual([])
    proxy.manner = honest
    await fetcher.fetch({ domain, key })
    expect(cached()).not.toEqual([])
  })

  it('a row never becomes a value of another form, whatever the node answers', async () => {
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
        const { fetcher } = await opened({}, answering(data))
        const cached = cachedPlaces()
        await expect(fetcher.fetch({ domain, key }), JSON.stringify(data)).rejects.toMatchObject({
          code: 'NODE_MISBEHAVED',
          message: expect.stringContaining('returned a value of the wrong form: '),
        })
        expect(cached()).toEqual([])
      }
    }
  })

  it('a row is fetched with its whole table only if the table has no more rows than the limit', async () => {
    for (const [tableRows, keys] of [
      [2, ['alice', 'bob']],
      [1, { tooMany: '2' }],
    ] as const) {
      const { fetcher, entries } = await opened({ tableRows })
      await fetcher.fetch({ domain: rows, key: null })
      expect(entries.tableKeys.get(ACCOUNTS)).toEqual(keys)
    }
  })
})

describe('a run', () => {
  it('a run starts again for each missing entry', async () => {
    const { chain, state, proxy } = await opened()
    await chain.warm(['(free.fork-token.names)'])
    const before = asked(proxy).length
    let runs = 0
    const found = await chain.complete(() => {
      runs++
      return Array.from({ length: 20 }, (_, i) => state.get(rows, `name ${i}`))
    })
    expect(found).toEqual(Array(20).fill(undefined))
    expect(runs).toBe(21)
    expect(asked(proxy).length - before).toBe(20)
  })

  it('a run requests no row of a table whose keys are known', async () => {
    const { chain, state, proxy } = await opened()
    expect(await chain.complete(() => state.keys(rows))).toEqual(['alice', 'bob'])
    const before = proxy.seen.length
    expect(await chain.complete(() => state.get(rows, 'carol'))).toBeUndefined()
    expect(proxy.seen).toHaveLength(before)
  })
})

describe('a module', () => {
  it('a requested module comes with all modules that it names and its place in the deployment', async () => {
    const code =
      '(namespace "free")\n(module behind G\n  (defcap G () true)\n  (defun f () (coin.get-balance (fork-second.twice))))'
    const block = [exec('(+ 1 2)', { gasPrice: 1e-6 }), execWith(code, {}, { gasLimit: 50_000 })]
    const deployed = await inBlock(remote.peer, block)
    expect(deployed.map(({ result }) => result.status)).toEqual(['success', 'success'])
    await makeBlocks(remote.peer, { 0: 1, 1: 2 })
    const { chain, entries, proxy } = await opened()
    await chain.warm(['(free.behind.f)'])
    for (const name of ['free.behind', 'free.fork-second', 'coin', 'fungible-v2']) {
      expect(entries.constants.has(name), name).toBe(true)
      expect(entries.modules.has(name), name).toBe(true)
    }
    expect(entries.origins.get('free.behind')).toMatchObject({ line: 1 })
    expect(asked(proxy).filter((each) => each === '(list-modules)')).toHaveLength(1)
    expect(chain.hints(['(f "a" b)', "(g 'c)"])).toEqual(['a', 'c'])
  })

  it('a module gets its constants if the process ended before they arrived', async () => {
    const cacheFolder = folder()
    const first = await opened({ cacheFolder })
    await first.chain.warm(['(free.fork-second.twice)'])
    const file = join(cacheFolder, 'development', readdirSync(join(cacheFolder, 'development'))[0])
    const lines = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, lines.filter((line) => !line.startsWith('["constants:')).join('\n'))
    const { chain, state, entries } = await opened({ cacheFolder })
    expect(entries.constants.has('free.fork-token')).toBe(false)
    const module = await chain.complete(() => state.get<{ hash: string }>('modules', 'free.fork-second'))
    expect(module?.hash).toEqual(expect.any(String))
    expect(entries.constants.has('free.fork-token')).toBe(true)
  })
})

describe('the next transaction', () => {
  /** Id in an output. */
  const idIn = (output: string) => JSON.parse(Buffer.from(output, 'base64url').toString()).txId as number
  const accept = { headers: { accept: 'application/json;blockheader-encoding=object' } }

  async function outputsAt(height: number) {
    const page = `${PREFIX}/chain/0/header?minheight=${height}&maxheight=${height}`
    const [{ payloadHash }] = jsonOf(await remote.peer.request('GET', page, accept)).items
    return jsonOf(await remote.peer.get(`${PREFIX}/chain/0/payload/${payloadHash}/outputs`)) as {
      readonly transactions: [string, string][]
      readonly coinbase: string
    }
  }

  it('the id of the next transaction follows from the outputs of the pinned block, at each height', async () => {
    const counter = async (height: number, manner?: Manner) => {
      const { chain, state } = await opened({ cut: String(height) }, manner)
      return chain.complete(() => state.get<number>('counters', 'tx'))
    }
    /** Leaves the ids out of the reward and of the first transaction. */
    const without: Manner = async ({ url }, forward) => {
      const answer = await forward()
      if (!url.endsWith('/outputs')) return answer
      const { transactions, ...rest } = JSON.parse(answer.body)
      const [[command], ...others] = transactions
      return {
        ...answer,
        body: JSON.stringify({ ...rest, transactions: [[command, 'e30'], ...others], coinbase: 'e30' }),
      }
    }
    const seen: number[] = []
    for (let height = 0; height < Math.min(...heights()); height++) {
      const next = idIn((await outputsAt(height + 1)).coinbase)
      expect(await counter(height), `height ${height}`).toBe(next)
      const { transactions } = await outputsAt(height)
      seen.push(transactions.length)
      if (height > 0 && transactions.length > 1) expect(await counter(height, without)).toBe(next)
    }
    expect(seen[0]).toBeGreaterThan(1)
    expect(Math.max(...seen.slice(1))).toBeGreaterThan(1)
  })

  it('the id of the next transaction is unknown if the node no longer has these outputs', async () => {
    const gone: Manner = async ({ url }, forward) =>
      url.endsWith('/outputs') ? { status: 404, body: 'pruned' } : forward()
    const { chain, state, proxy } = await opened({}, gone)
    expect(await chain.payload()).toBe(null)
    expect(await chain.complete(() => state.get('counters', 'tx'))).toBeUndefined()
    expect(proxy.seen.filter(({ url }) => url.endsWith('/outputs'))).toHaveLength(1)
  })
})

describe('a pact', () => {
  const continued = (pactId: string) =>
    signed({}, { payload: { cont: { pactId, step: 1, rollback: false, data: {}, proof: null } } })

  it('a pact has the state in the result of its own command, even in an older cache', async () => {
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
      expect((await stateWith(wrong)).found).toContain('name its request key with `fork.pactKeys`')
    }
    // Nothing else is named, so nothing is asked again.
    expect(await stateWith([keys[0]])).toMatchObject({ found: expect.stringContaining('`fork.pactKeys`'), requests: 0 })
    expect((await stateWith(keys)).found).toMatchObject({ id, step: 1, args: ['alice'] })
    expect(await stateWith([])).toMatchObject({ found: { id, step: 1 }, requests: 0 })
  })

  it('a pact has no state if the node refuses to serve results', async () => {
    const begun = exec('(free.fork-token.steps "alice")')
    await inBlock(remote.peer, [begun])
    await makeBlocks(remote.peer, { 1: 1 })
    const manner: Manner = async ({ url }, forward) => (url.includes('/poll') ? { status: 403, body: 'no' } : forward())
    const { fetcher, entries } = await opened({}, manner)
    await expect(fetcher.fetch({ domain: 'pacts', key: begun.hash })).rejects.toThrow(
      `refuses the results of pact ${begun.hash} with status 403: no`,
    )
    expect(entries.pacts.has(begun.hash)).toBe(false)
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

  it('a pin has exactly the blocks that a cut names', async () => {
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
        message: expect.stringContaining(`returned no valid header of chain 0 at height ${height}: `),
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
      message: expect.stringContaining(`returned another block of chain 0 than the pinned ${hash}`),
    })
    expect(proxy.seen.filter(({ url }) => isBranch.test(url))).toHaveLength(1)
  })

  it('a pin has the height of the lowest head of a cut, and the network that the node names', async () => {
    await makeBlocks(remote.peer, { 0: 1 })
    const cut = (await remote.peer.get(`${PREFIX}/cut`)).body.toString()
    const [high, low] = [Math.max(...heights()), Math.min(...heights())]
    const { hashes } = JSON.parse(cut)
    const unnamed = JSON.stringify({ hashes })
    expect(high).toBeGreaterThan(low)
    const { fork } = await opened({ cut: unnamed, chains: null })
    expect(fork.pin).toMatchObject({ network: 'development', height: low })
    expect([...fork.headers.values()].map((header) => [Number(header.height), encodeBase64Url(header.hash)])).toEqual(
      [...fork.pin.hashes.values()].map((hash) => [low, hash]),
    )
    const urls: string[] = []
    const other: Manner = async ({ url }, forward) => {
      urls.push(url)
      return url === '/info' ? { status: 200, body: '{"nodeVersion":"testnet06"}' } : forward()
    }
    await expect(opened({ cut: unnamed }, other)).rejects.toThrow('it was orphaned')
    expect(urls).toEqual(['/info', expect.stringContaining('/chainweb/0.0/testnet06/chain/0/header/branch')])
  })

  it('the cache has the pin of a height if it has all chains of one network only', async () => {
    const [cacheFolder, height] = [folder(), Math.min(...heights())]
    const cut = String(height)
    await opened({ cacheFolder, cut })
    const whole = { network: 'development', height }
    const isThere = () => readdirSync(cacheFolder).includes('pins') && readdirSync(join(cacheFolder, 'pins')).length > 0
    expect(isThere()).toBe(false)
    const { fork, chain } = await opened()
    const hash = fork.pin.hashes.get(0)
    const part = JSON.stringify({ network: 'development', hashes: { 0: { height, hash } } })
    await expect(opened({ cacheFolder, chains: null, cut: part })).rejects.toThrow(
      'the cut of the fork: it lacks chain 1',
    )
    expect(isThere()).toBe(false)
    const first = await opened({ cacheFolder, chains: null, cut })
    expect(isThere()).toBe(true)
    const again = await opened({ cacheFolder, chains: null, cut })
    expect(again.proxy.seen).toEqual([])
    expect(again.fork.pin).toEqual(first.fork.pin)
    const other = pinFile(cacheFolder, { ...whole, network: 'another' })
    writeFileSync(other, readFileSync(pinFile(cacheFolder, whole), 'utf8').replace('development', 'another'))
    const asks = await opened({ cacheFolder, chains: null, cut })
    expect(asks.proxy.seen.length).toBeGreaterThan(0)
    expect(asks.fork.pin).toEqual(first.fork.pin)
    expect(chain.block.hash).toBe(hash)
  })

  it('a pin takes no header of the cache that is not the pinned one', async () => {
    const cacheFolder = folder()
    const { block, entries } = await opened({ cacheFolder })
    const right = entries.header.expect()
    const cut = JSON.stringify({ network: 'development', hashes: { 0: block } })
    const asks = async () => (await opened({ cacheFolder, cut })).proxy.seen.length
    expect(await asks()).toBe(0)
    // A program that can write the file can seal a wrong line.
    for (const wrong of [edited(right), await headerAt(0, block.height - 1)]) {
      const writer = entriesIn(new CopyCache(cacheFolder, block))
      writer.header.put(wrong)
      writer.save()
      expect(await asks()).toBe(1)
      expect(await asks()).toBe(0)
    }
  })
})
