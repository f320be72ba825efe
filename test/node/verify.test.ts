/** `verify` checks the answers of a node against the rules of the chain. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { InvalidHeader, type NodeClient } from '../../src/client/node/public.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import { decodeBase64Url, decodeHex, encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { genesisHeader } from '../../src/ground/chain/genesis.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { decodeHeader, encodeHeader, encodeWork, type Header } from '../../src/ground/chain/header.ts'
import type { Network } from '../../src/ground/chain/network.ts'
import { development, mainnet01, testnet06 } from '../../src/ground/chain/network-data.ts'
import { solves } from '../../src/ground/chain/pow.ts'
import type { Devnet } from '../devnet/whole-node.ts'
import { solve } from '../solve.ts'
import { BINARY, FakeNode, failureOf, json, OBJECT_TYPE, PREFIX } from './fake-node.ts'
import { blockJson, blocksOf, devnet, devnetOfFile, mine, payloadJson } from './mined.ts'

/** A node that serves the blocks of another node, with some headers changed. */
class Mirror {
  readonly #blocks: readonly (readonly Block[])[]
  readonly changed = new Map<string, Uint8Array>()
  readonly missing = new Set<string>()

  constructor(node: Devnet) {
    this.#blocks = node.chains.chainIds.map((chain) => blocksOf(node, chain))
  }

  async serve(info: unknown): Promise<{ node: FakeNode; client: NodeClient }> {
    const node = await FakeNode.start(info)
    node.setDefaultAnswer(({ path }) => json({ key: path.slice(-43), reason: 'key not found' }, 404))
    this.#blocks.forEach((blocks, chain) => {
      const text = (block: Block) => encodeBase64Url(this.#bytesOf(block))
      const between = ({ minheight = '0', maxheight = '1000' }) =>
        blocks.filter(({ height }) => height >= Number(minheight) && height <= Number(maxheight))
      node.onNetwork('GET', `/chain/${chain}/header`, ({ query }) => {
        const items = between(query)
          .filter(({ id }) => !this.missing.has(id))
          .map(text)
        return json({ limit: items.length, items, next: null })
      })
      node.onNetwork('GET', `/chain/${chain}/block`, ({ query }) => {
        const items = between(query).map(blockJson)
        return json({ limit: items.length, items, next: null })
      })
      for (const block of blocks) {
        node.onNetwork('GET', `/chain/${chain}/header/${block.id}`, () =>
          this.missing.has(block.id)
            ? json({ key: block.id, reason: 'key not found' }, 404)
            : { headers: { 'content-type': BINARY }, body: this.#bytesOf(block) },
        )
      }
    })
    return { node, client: await node.connect() }
  }

  #bytesOf(block: Block): Uint8Array {
    return this.changed.get(block.id) ?? block.bytes
  }
}

const ROUNDS = 6

/** The network of these nodes, for a client that does not take it from /info. */
const triangle: Network = {
  ...development,
  graphHistory: [{ from: 0, graph: graphs.triangle }],
  blockDelay: 1_000_000n,
}

/** Nodes with and without proof of work. */
const withPow = devnetOfFile(ROUNDS)
const anyNonce = devnetOfFile(ROUNDS, { pow: false })

async function startMirror(original = withPow) {
  const mirror = new Mirror(original.node)
  const { node, client } = await mirror.serve(original.client.info)
  return { mirror, node, client, blocks: blocksOf(original.node, 0), original }
}

/** The header with changed fields, the right hash, and a new nonce that solves it unless `nonce` is given. */
function forgeHeader(header: Header, fields: Partial<Header>): Uint8Array {
  const changed = { ...header, ...fields }
  const work = fields.nonce === undefined ? solve(encodeWork(changed)) : encodeWork(changed)
  return encodeHeader(decodeHeader(new Uint8Array([...work, ...blockHash(work)])))
}

/** The first nonce that does not solve the header. */
function wrongNonce(header: Header): bigint {
  for (let nonce = 0n; ; nonce++) if (!solves(encodeWork({ ...header, nonce }))) return nonce
}

describe('verification passes headers that keep the rules:', () => {
  it('verification passes headers in every encoding, from any height, and requests each missing header once', async () => {
    const { node, client, blocks } = await startMirror()
    for (const encoding of ['decoded', 'text', 'binary'] as const) {
      expect(await client.headers(0, { encoding, verify: true }).all()).toHaveLength(ROUNDS + 1)
    }
    expect(await client.blocks(0, { verify: true, minheight: 2 }).all()).toHaveLength(ROUNDS - 1)
    expect(await client.headers(0, { verify: { network: triangle } }).all()).toHaveLength(ROUNDS + 1)
    node.requests.splice(0)
    expect(await client.headers(0, { verify: true }).all()).toHaveLength(ROUNDS + 1)
    // One page of headers, and pages of the adjacent chains too.
    expect(node.requests.map(({ path, query }) => [path.slice(PREFIX.length), query])).toEqual([
      ['/chain/0/header', {}],
      ['/chain/1/header', { minheight: '0', maxheight: `${ROUNDS - 1}` }],
      ['/chain/2/header', { minheight: '0', maxheight: `${ROUNDS - 1}` }],
    ])
    node.requests.splice(0)
    const { id, header } = blocks[3]
    expect(await client.header(0, id, { verify: true })).toEqual(header)
    expect(node.requests.map(({ path }) => path.slice(PREFIX.length).slice(0, 15)).sort()).toEqual([
      '/chain/0/header',
      '/chain/0/header',
      '/chain/1/header',
      '/chain/2/header',
    ])
  })

  it('verification passes headers across many adjustments of difficulty, in both directions', async () => {
    const { node, client } = await devnet({ blockDelayMs: 20 })
    await mine(client, 40)
    const headers = await client.headers(1, { verify: true, limit: 7 }).all()
    expect(new Set(headers.map(({ target }) => target)).size).toBeGreaterThan(2)
    expect(headers).toHaveLength(node.chains.store.count(1))
  })

  it("verification passes headers of the main network, by its own rules and not by the node's /info", async () => {
    const file = new URL('../vectors/difficulty.json', import.meta.url)
    const sets: Record<string, unknown>[] = JSON.parse(readFileSync(file, 'utf8'))
    const isHex = (value: unknown): value is string => typeof value === 'string' && value.length === 636
    const headerTextsIn = (value: unknown): string[] =>
      isHex(value)
        ? [value]
        : typeof value === 'object' && value !== null
          ? Object.values(value).flatMap(headerTextsIn)
          : []
    const set = sets.find((each) => JSON.stringify(each).includes('6321600')) ?? {}
    const headers = headerTextsIn(set).map((hex) => decodeHeader(decodeHex(hex)))
    const tip = headers.find(({ height }) => height === 6321600n)
    if (tip === undefined) throw new Error('the vectors have no header at 6321600')
    const node = await FakeNode.start({
      nodeVersion: 'mainnet01',
      nodeApiVersion: '0.0',
      nodeChains: ['0'],
      nodeNumberOfChains: 1,
      // The client ignores the node's /info for a public network.
      nodeGraphHistory: [[0, [[0, []]]]],
      nodeBlockDelay: 1,
    })
    for (const header of headers) {
      const path = `/chainweb/0.0/mainnet01/chain/${header.chainId}/header/${encodeBase64Url(header.hash)}`
      node.on('GET', path, () => ({ headers: { 'content-type': BINARY }, body: encodeHeader(header) }))
    }
    const client = await node.connect()
    expect(await client.header(tip.chainId, tip.hash, { verify: true })).toEqual(tip)
    expect(tip.version).toBe(mainnet01.code)
  })
})

describe('verification names the rule that a header breaks:', () => {
  const year = 31_536_000_000_000n
  const cases: [string, (header: Header, others: readonly Header[]) => Uint8Array, string[]][] = [
    ['a wrong hash', (header) => encodeHeader({ ...header, hash: new Uint8Array(32).fill(7) }), ['hash']],
    ['another nonce', (header) => forgeHeader(header, { nonce: wrongNonce(header) }), ['proofOfWork']],
    ['another network', (header) => forgeHeader(header, { version: 5 }), ['version']],
    ['a fork that was not voted for', (header) => forgeHeader(header, { featureFlags: 1n }), ['forkNumber']],
    [
      'two votes at once',
      (header) => forgeHeader(header, { featureFlags: header.featureFlags + (2000n << 32n) }),
      ['forkVotes'],
    ],
    ['a height too high', (header) => forgeHeader(header, { height: header.height + 1n }), ['height']],
    ['a grandparent', (header, others) => forgeHeader(header, { parent: others[1].hash }), ['height']],
    [
      'a time before its parent',
      (header) => forgeHeader(header, { creationTime: header.creationTime - year }),
      ['creationTime'],
    ],
    ['an easier target', (header) => forgeHeader(header, { target: 2n * header.target }), ['target']],
    ['a heavier weight', (header) => forgeHeader(header, { weight: header.weight + 1n }), ['weight']],
    ['another epoch', (header) => forgeHeader(header, { epochStart: header.epochStart + 1n }), ['epochStart']],
    [
      'adjacents exchanged',
      (header) => {
        const [[a, first], [b, second]] = header.adjacents
        return forgeHeader(header, {
          adjacents: new Map([
            [a, second],
            [b, first],
          ]),
        })
      },
      ['adjacents'],
    ],
  ]
  const byNetwork = { network: triangle }
  const byEach = cases.flatMap(([name, forge, rules]) => [
    [name, forge, rules, true] as const,
    [`${name}, by the rules of a given network`, forge, rules, byNetwork] as const,
  ])
  it.each(byEach)('verification names the rule that a header breaks with %s', async (_name, forge, rules, verify) => {
    const { mirror, client, blocks } = await startMirror()
    const last = blocks[ROUNDS]
    const bytes = forge(
      last.header,
      blocks.map(({ header }) => header),
    )
    mirror.changed.set(last.id, bytes)
    const error = (await failureOf(client.headers(0, { verify }).all())) as InvalidHeader
    expect(error).toBeInstanceOf(InvalidHeader)
    expect(error).toMatchObject({ code: 'NODE_MISBEHAVED', operation: 'headers', chain: 0, retryable: false })
    expect(rules.filter((rule) => !error.rules.includes(rule as never))).toEqual([])
    expect(error.hash).toBe(encodeBase64Url(decodeHeader(bytes).hash))
    // Without `verify`, the client returns the header as it came.
    expect(await client.headers(0).all()).toHaveLength(ROUNDS + 1)
  })

  it('verification names the rule of a header whose parent or adjacent the node lacks', async () => {
    const { mirror, client, blocks, original } = await startMirror()
    const { id, header } = blocks[4]
    mirror.missing.add(blocks[3].id)
    expect(await failureOf(client.header(0, id, { verify: true }))).toMatchObject({ rules: ['parent'] })
    mirror.missing.clear()
    const adjacent = original.node.chains.store.get(header.adjacents.get(1) ?? new Uint8Array())
    mirror.missing.add(adjacent?.id ?? '')
    const error = await failureOf(client.header(0, id, { verify: true }))
    expect(error).toMatchObject({ rules: expect.arrayContaining(['adjacents']) })
  })

  it('verification names the rule of a header of the first chain that the network lacks', async () => {
    const { node, client, blocks } = await startMirror()
    const bytes = forgeHeader(blocks[4].header, { chainId: 3 })
    const hash = encodeBase64Url(decodeHeader(bytes).hash)
    node.onNetwork('GET', `/chain/3/header/${hash}`, () => ({ headers: { 'content-type': BINARY }, body: bytes }))
    expect(await failureOf(client.header(3, hash, { verify: true }))).toMatchObject({
      name: 'InvalidHeader',
      rules: ['chain'],
      chain: 3,
    })
  })

  it('verification names the rule of a referenced header that does not have its hash', async () => {
    const { mirror, client, blocks } = await startMirror()
    const { header } = blocks[3]
    mirror.changed.set(blocks[3].id, encodeHeader({ ...header, weight: 1n }))
    const error = await failureOf(client.header(0, blocks[4].id, { verify: true }))
    expect(error).toMatchObject({ name: 'InvalidHeader', rules: expect.arrayContaining(['hash']), height: 3n })
  })

  it('verification does not use a wrong header to judge another', async () => {
    const { node, client, blocks } = await startMirror()
    const pages = [encodeHeader({ ...blocks[3].header, weight: 1n }), blocks[4].bytes].map((bytes) => [
      encodeBase64Url(bytes),
    ])
    node.onNetwork('GET', '/chain/0/header', () => json({ limit: 1, items: pages.shift(), next: null }))
    const list = client.headers(0, { verify: true })
    expect(await failureOf(list.page())).toMatchObject({ name: 'InvalidHeader', height: 3n })
    expect((await list.page()).items).toEqual([blocks[4].header])
  })

  it('verification names the rules that another genesis block breaks', async () => {
    const { mirror, client, blocks } = await startMirror()
    const [{ header, id }] = blocks
    const change = (fields: Partial<Header>) => {
      mirror.changed.set(id, forgeHeader(header, { nonce: 0n, ...fields }))
      return failureOf(client.headers(0, { verify: true, maxheight: 0 }).all())
    }
    expect(await change({ creationTime: 1n })).toMatchObject({ rules: ['creationTime'], height: 0n })
    expect(await change({ parent: new Uint8Array(32) })).toMatchObject({ rules: ['parent'] })
    expect(await change({ weight: 1n, epochStart: 1n })).toMatchObject({ rules: ['epochStart', 'weight'] })
    expect(await change({ version: 7 })).toMatchObject({ rules: expect.arrayContaining(['version']) })
  })
})

describe('the genesis blocks of testnet06', () => {
  const genesisNode = async (payloadOf: (chain: number) => string) => {
    const graph = graphs.twenty.adjacents.map((adjacents, chain) => [chain, adjacents])
    const nodeChains = graph.map(([chain]) => String(chain))
    const node = await FakeNode.start({ nodeVersion: 'testnet06', nodeChains, nodeGraphHistory: [[0, graph]] })
    for (const chain of [0, 7]) {
      const header = genesisHeader(testnet06, chain, decodeBase64Url(payloadOf(chain)))
      const items = [encodeBase64Url(encodeHeader(header))]
      const path = `/chainweb/0.0/testnet06/chain/${chain}/header`
      node.on('GET', path, () => json({ limit: 1, items, next: null }))
    }
    return node.connect()
  }

  it('verification passes the genesis blocks of testnet06', async () => {
    const client = await genesisNode((chain) => testnet06.genesisPayload(chain) ?? '')
    for (const chain of [0, 7]) {
      const [header] = await client.headers(chain, { verify: true }).all()
      expect(header).toMatchObject({ version: 8, featureFlags: 0n, creationTime: 1_771_229_700_000_000n })
    }
  })

  it('verification refuses genesis blocks of testnet06 with the payload of another chain or network', async () => {
    const client = await genesisNode((chain) => testnet06.genesisPayload(7 - chain) ?? '')
    for (const chain of [0, 7]) {
      expect(await failureOf(client.headers(chain, { verify: true }).all())).toMatchObject({ rules: ['payloadHash'] })
    }
  })
})

it('verification does not request all headers between two distant ones', async () => {
  const original = await devnet({ pow: false })
  await mine(original.client, 60)
  const blocks = blocksOf(original.node, 0)
  const { node, client } = await new Mirror(original.node).serve(original.client.info)
  const items = [1, 20, 40, 60].map((height) => encodeBase64Url(blocks[height].bytes))
  node.onNetwork('POST', '/chain/0/header/branch', () => json({ limit: 4, items, next: null }))
  const bounds = { upper: [blocks[60].id] }
  expect(await client.headerBranch(0, bounds, { verify: { checkPow: false } }).all()).toHaveLength(4)
  expect(node.requests.filter(({ query }) => query.minheight !== undefined)).toEqual([])
})

describe("verify on networks of one's own", () => {
  it('verification with checkPow: false checks everything but proof of work and targets', async () => {
    const { client, mirror, blocks } = await startMirror(anyNonce)
    const verify = { checkPow: false }
    expect(await client.headers(0, { verify }).all()).toHaveLength(ROUNDS + 1)
    const last = blocks[ROUNDS]
    mirror.changed.set(last.id, forgeHeader(last.header, { nonce: 5n, target: last.header.target / 2n }))
    expect(await failureOf(client.headers(0, { verify }).all())).toMatchObject({ rules: ['weight'] })
    mirror.changed.set(last.id, forgeHeader(last.header, { nonce: wrongNonce(last.header) }))
    expect(await client.headers(0, { verify }).all()).toHaveLength(ROUNDS + 1)
    expect(await failureOf(client.headers(0, { verify: true }).all())).toMatchObject({ name: 'InvalidHeader' })
  })

  it('verification checks headers of an unknown network by the rules that hold everywhere', async () => {
    const { mirror, original, blocks } = await startMirror()
    const { node } = await mirror.serve(original.client.info)
    node.on('GET', '/info', () => json({ ...original.client.info, nodeVersion: 'my-net' }))
    for (const block of [blocks[3], blocks[4]]) {
      const adjacents = [...block.header.adjacents.values()].map((hash) => original.node.chains.store.get(hash))
      for (const each of [block, blocks[2], ...adjacents]) {
        if (each === undefined) continue
        const path = `/chainweb/0.0/my-net/chain/${each.chain}/header/${each.id}`
        node.on('GET', path, () => ({
          headers: { 'content-type': BINARY },
          body: mirror.changed.get(each.id) ?? each.bytes,
        }))
      }
    }
    const client = await node.connect()
    expect(await client.header(0, blocks[3].id, { verify: true })).toEqual(blocks[3].header)
    const network = { network: { ...mainnet01, name: 'my-net' } }
    expect(await failureOf(client.header(0, blocks[3].id, { verify: network }))).toMatchObject({
      name: 'InvalidHeader',
    })
  })

  it('the client refuses a node with an invalid graph before it requests any header', async () => {
    const { mirror, original } = await startMirror()
    const { nodeGraphHistory: _, ...rest } = original.client.info
    for (const graph of [
      [],
      [[0, []]],
      [
        [
          0,
          [
            [0, [1]],
            [1, []],
          ],
        ],
      ],
      [[0, [[0, [0]]]]],
      [[0, [[5, []]]]],
    ]) {
      const error = await failureOf(mirror.serve({ ...rest, nodeGraphHistory: graph }))
      expect(error).toMatchObject({ operation: 'nodeInfo', message: expect.stringContaining('graph') })
    }
  })
})

describe('verify: true and a header without proof of work:', () => {
  async function withoutPow() {
    const found = await startMirror(anyNonce)
    const last = found.blocks[ROUNDS]
    found.mirror.changed.set(last.id, forgeHeader(last.header, { nonce: wrongNonce(last.header) }))
    return { ...found, last }
  }

  it('the error for a header without proof of work says that the network seems to take any nonce, and what to do', async () => {
    const { client, node } = await withoutPow()
    const error = (await failureOf(client.headers(0, { verify: true }).all())) as InvalidHeader
    expect(error).toMatchObject({
      rules: ['proofOfWork'],
      message: expect.stringMatching(/breaks the rule proofOfWork: .* this network seems to take any nonce$/),
      hint: expect.stringContaining('verify: { checkPow: false }'),
      url: `${node.url}${PREFIX}/chain/0/header`,
    })
  })

  it('the error for a header with a wrong hash does not say that the network takes any nonce', async () => {
    const { client, mirror, last } = await withoutPow()
    const bytes = encodeHeader({ ...last.header, nonce: wrongNonce(last.header) })
    mirror.changed.set(last.id, bytes)
    const error = (await failureOf(client.headers(0, { verify: true }).all())) as InvalidHeader
    expect(error.rules).toEqual(expect.arrayContaining(['hash', 'proofOfWork']))
    expect(error.message).not.toContain('any nonce')
    expect(error.hint).toBe(undefined)
  })
})

it('verification refuses an object header that cannot be decoded with NODE_MISBEHAVED', async () => {
  const { node, client, blocks } = await startMirror()
  const { id } = blocks[ROUNDS]
  const object = { ...blockJson(blocks[ROUNDS]).header, parent: '_'.repeat(43) }
  const headers = { 'content-type': OBJECT_TYPE }
  node.onNetwork('GET', `/chain/0/header/${id}`, () => ({ headers, body: JSON.stringify(object) }))
  expect(await failureOf(client.header(0, id, { encoding: 'object', verify: true }))).toMatchObject({
    name: 'NodeMisbehaved',
    operation: 'header',
    message: expect.stringContaining('a malformed header: parent'),
  })
})

it('errors of verification name the path of the call, chain and hash included', async () => {
  const { mirror, client, node, blocks } = await startMirror()
  const { id, header } = blocks[ROUNDS]
  mirror.changed.set(id, encodeHeader({ ...header, weight: 1n }))
  const urls = [
    await failureOf(client.headers(0, { verify: true }).all()),
    await failureOf(client.header(0, id, { verify: true })),
  ].map((error) => (error as InvalidHeader).url)
  expect(urls).toEqual([`${node.url}${PREFIX}/chain/0/header`, `${node.url}${PREFIX}/chain/0/header/${id}`])
  const block = { ...blockJson(blocks[2]), payloadWithOutputs: payloadJson(blocks[3].payload) }
  node.onNetwork('GET', '/chain/0/block', () => json({ limit: 1, items: [block], next: null }))
  const error = (await failureOf(client.blocks(0, { verify: true }).all())) as InvalidHeader
  expect(error.url).toBe(`${node.url}${PREFIX}/chain/0/block`)
})

it('verification refuses a block with the payload of another block', async () => {
  const { node, client, blocks } = await startMirror()
  const serve = (change: object) =>
    node.onNetwork('GET', '/chain/0/block', () =>
      json({ limit: 1, items: [{ ...blockJson(blocks[2]), ...change }], next: null }),
    )
  serve({ payloadWithOutputs: payloadJson(blocks[3].payload) })
  expect(await failureOf(client.blocks(0, { verify: true }).all())).toMatchObject({
    name: 'NodeMisbehaved',
    message: expect.stringContaining('is not the one of block'),
  })
  serve({ payloadWithOutputs: { ...payloadJson(blocks[2].payload), coinbase: 'AAAA' } })
  expect(await failureOf(client.blocks(0, { verify: true }).all())).toMatchObject({ name: 'InvalidPayload' })
  expect(await client.blocks(0).all()).toHaveLength(1)
})
