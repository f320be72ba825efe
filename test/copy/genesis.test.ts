/** Genesis headers of a forked network: the first fork learns them, and later ones must see the same. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { decodeBase64Url, encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { genesisHeader } from '../../src/ground/chain/genesis.ts'
import { decodeHeader } from '../../src/ground/chain/header.ts'
import { networkForms } from '../../src/ground/chain/network-data.ts'
import { definitionOf, type NetworkForm } from '../../src/ground/chain/network-form.ts'
import { COPY_LIMITS, type NetworkCopyOptions, openCopy } from '../../src/language/copy/network-copy.ts'
import { type Manner, proxyTo } from './proxy.ts'

const NAME = 'my-net'
const TIME = '2026-11-01T00:00:00.000001Z'
const form = (changes: Partial<NetworkForm> = {}): NetworkForm => ({
  ...{ network: 1, name: NAME, code: 77, 'block-delay': '12s', graphs: [{ from: 0, graph: 'pair' }] },
  genesis: { time: TIME, targets: [{ difficulty: 4096 }], 'first-epoch': 'faked' },
  ...changes,
})
const genesis = { ...form().genesis, time: '2026-11-02T00:00:00Z' }

const nodeOf = (network: NetworkForm, more: DevnetOptions = {}) =>
  startDevnet({ port: 0, pow: false, networkName: NAME, networks: [network], ...more })

let node: Devnet
let anew: Devnet
beforeAll(async () => {
  node = await nodeOf(form())
  anew = await nodeOf(form({ genesis }))
  for (const each of [node, anew]) await each.mine({ 0: 2, 1: 2 })
})
afterAll(async () => {
  await node.close()
  await anew.close()
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-genesis-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** Forks a node. @returns its notices */
async function fork(url: string, options: Partial<NetworkCopyOptions> = {}): Promise<string[]> {
  const notices: string[] = []
  const limits = { ...COPY_LIMITS, perSecond: 1000 }
  const onNotice = (message: string) => void notices.push(message)
  await openCopy({ ...limits, url, cut: null, chains: null, cacheFolder: null, pactKeys: [], onNotice, ...options })
  return notices
}

const fileIn = (cacheFolder: string) => join(cacheFolder, NAME, 'genesis.json')
const kept = (cacheFolder: string) => JSON.parse(readFileSync(fileIn(cacheFolder), 'utf8'))

describe('a fork of a network without a file', () => {
  it('a fork of an unknown network keeps its genesis headers beside the cache, one chain after the other', async () => {
    const cacheFolder = folder()
    await fork(node.url, { cacheFolder, chains: [1] })
    expect(Object.keys(kept(cacheFolder).chains)).toEqual(['1'])
    await fork(node.url, { cacheFolder })
    const target = node.network.genesisTarget(0).toString(16).padStart(64, '0')
    const chainOf = async (chain: number) => {
      const answer = await fetch(`${node.url}/chainweb/0.0/${NAME}/chain/${chain}/header?limit=1`)
      const { items } = (await answer.json()) as { readonly items: readonly string[] }
      const { payloadHash } = decodeHeader(decodeBase64Url(items[0], 'header'))
      const { hash } = genesisHeader(node.network, chain, payloadHash)
      return { height: 0, hash: encodeBase64Url(hash), target, payload: encodeBase64Url(payloadHash) }
    }
    expect(kept(cacheFolder)).toEqual({
      ...{ genesis: 1, network: NAME, url: node.url, code: 77, time: TIME, firstEpoch: 'faked' },
      chains: { 0: await chainOf(0), 1: await chainOf(1) },
    })
  })

  it('a fork refuses a node whose genesis block has changed, but not in another cache', async () => {
    const cacheFolder = folder()
    await fork(node.url, { cacheFolder })
    const before = kept(cacheFolder)
    const failure = fork(anew.url, { cacheFolder })
    await expect(failure).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: expect.stringMatching(
        new RegExp(
          `^the genesis block of chain 0 at ${anew.url} is \\S{43}, and an earlier fork of that network saw \\S{43}$`,
        ),
      ),
      hint: expect.stringContaining(fileIn(cacheFolder)),
    })
    expect(kept(cacheFolder)).toEqual(before)
    await fork(node.url, { cacheFolder })
    await fork(anew.url, { cacheFolder: folder() })
  })

  it('a fork fetches genesis headers again if their file is damaged, with a message', async () => {
    const cacheFolder = folder()
    await fork(node.url, { cacheFolder })
    const before = kept(cacheFolder)
    for (const text of ['{"genesis":1', '[]', 'null', '{"genesis":2,"chains":{}}']) {
      writeFileSync(fileIn(cacheFolder), text)
      expect(await fork(node.url, { cacheFolder })).toEqual([expect.stringContaining('genesis.json is damaged')])
      expect(kept(cacheFolder)).toEqual(before)
    }
  })
})

it('a fork whose cache has something else in place of the file is refused', async () => {
  const cacheFolder = folder()
  mkdirSync(fileIn(cacheFolder), { recursive: true })
  await expect(fork(node.url, { cacheFolder })).rejects.toMatchObject({
    code: 'DATA_UNUSABLE',
    message: expect.stringContaining(fileIn(cacheFolder)),
  })
})

describe('the file of a network', () => {
  const [twice] = [{ ...form().genesis, targets: [{ difficulty: 8192 }] }]
  const payloads = [{ chains: 1, hash: 'A'.repeat(43) }]
  it.each([
    ['code', { code: 78 }, 'has code 78, and the genesis header of chain 0 at URL 77'],
    [
      'time',
      { genesis },
      `has genesis.time 2026-11-02T00:00:00.000000Z, and the genesis header of chain 0 at URL ${TIME}`,
    ],
    ['target', { genesis: twice }, 'has the target 0007ffff'],
    ['payload', { genesis: { ...form().genesis, payloads } }, 'chain 1 at URL'],
  ])('a network file with another %s contradicts the node', async (_, changes, text) => {
    const networks = [definitionOf(form(changes))]
    await expect(fork(node.url, { networks, cacheFolder: folder() })).rejects.toMatchObject({
      code: 'BAD_CONFIG',
      message: expect.stringContaining(text.replace('URL', node.url)),
    })
  })

  it('a network file has no effect on a node of another network, and newcut reports it', async () => {
    const networks = [definitionOf(form({ name: 'other', code: 9 }))]
    const text = 'the node belongs to my-net, but `network-file` describes other: it has no effect'
    expect(await fork(node.url, { networks })).toEqual([text])
  })

  it('a network file does not stop a private network from starting again', async () => {
    const cacheFolder = folder()
    const { genesis: _, ...open } = form({ public: false })
    for (const { url } of [node, anew]) await fork(url, { networks: [definitionOf(open)], cacheFolder })
    expect(existsSync(fileIn(cacheFolder))).toBe(false)
  })
})

describe('a node that gives', () => {
  const ofGenesis =
    (change: (items: string[]) => string[]): Manner =>
    async ({ url }, forward) => {
      const answer = await forward()
      if (!/header\?limit=/.test(url)) return answer
      return {
        ...answer,
        body: JSON.stringify({ items: change(JSON.parse(`${answer.body}`).items), next: null, limit: 3 }),
      }
    }
  const edited = (text: string) => `${text.slice(0, 60)}${text[60] === 'A' ? 'B' : 'A'}${text.slice(61)}`

  it.each([
    ['no genesis header', () => [], 'returned no genesis header of chain 0'],
    ['bytes', () => ['AAAA'], 'returned no genesis header of chain 0'],
    [
      'block 1 as genesis header',
      ([, second]: string[]) => [second],
      'whose parent hash does not fit its version code 77',
    ],
    ['a changed genesis header', ([first]: string[]) => [edited(first)], 'a header whose'],
  ])('a node with %s is refused', async (_, change, text) => {
    const proxy = await proxyTo(node.url)
    proxy.manner = ofGenesis(change)
    await expect(fork(proxy.url, { cacheFolder: folder() })).rejects.toMatchObject({
      code: 'NODE_MISBEHAVED',
      message: expect.stringContaining(text),
    })
  })

  it('a node without access to its genesis headers is forked, and newcut reports that it cannot compare', async () => {
    const proxy = await proxyTo(node.url)
    proxy.manner = async ({ url }, forward) =>
      /header\?limit=/.test(url) ? { status: 404, body: 'gone' } : await forward()
    const cacheFolder = folder()
    const text = `${proxy.url} gives no genesis headers: newcut cannot compare its network`
    expect(await fork(proxy.url, { cacheFolder })).toEqual([text])
    expect(existsSync(fileIn(cacheFolder))).toBe(false)
  })
})

describe('a development node that forks a network without a file', () => {
  it('a fork of an unknown network has its name and code on request, and lists its assumptions', async () => {
    const notices: string[] = []
    const onNotice = (message: string) => void notices.push(message)
    const own = await startDevnet({ port: 0, fork: { url: node.url }, networkName: NAME, onNotice })
    onTestFinished(() => own.close())
    expect(own.network).toMatchObject({ name: NAME, code: 77, isPublic: false })
    await own.mine({ 0: 1 })
    expect(own.cut.get(0)).toMatchObject({ version: 77, height: 1n })
    const text = 'newcut has no file of my-net, so its fork follows the rules of development: 150000 gas a block'
    expect(notices).toContainEqual(expect.stringContaining(text))
  })

  it("a fork keeps the rules of its first block on disk, whatever newcut's own files say later", async () => {
    const stoa = await startDevnet({ port: 0, pow: false, networkName: 'stoa' })
    onTestFinished(() => stoa.close())
    await stoa.mine({ 0: 1 })
    const dataDir = join(folder(), 'data')
    const networks = [{ ...networkForms.stoa, gas: { block: 1_000_000 } }]
    await (await startDevnet({ port: 0, fork: { url: stoa.url }, networks, dataDir })).close()
    const again = await startDevnet({ port: 0, dataDir })
    onTestFinished(() => again.close())
    expect(again.network).toMatchObject({ name: 'development', blockGas: 1_000_000 })
    await expect(startDevnet({ port: 0, dataDir: `${dataDir}x`, networkName: 'nowhere' })).rejects.toThrow('no file')
  })

  it('a fork of an unknown network has the name development by default, and needs a file for another', async () => {
    const own = await startDevnet({ port: 0, fork: { url: node.url } })
    expect(own.network).toMatchObject({ name: 'development', code: 2 })
    await own.close()
    await expect(startDevnet({ port: 0, fork: { url: node.url }, networkName: 'other' })).rejects.toThrow(
      'network other: newcut has no file of that network, and the forked node is of my-net',
    )
  })
})
