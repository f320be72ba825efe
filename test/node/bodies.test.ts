/** Requests and answers of the client for each endpoint, as documented and as live nodes behave (PROTOCOL.md E.1). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { NodeClient, NodeMisbehaved, NodeRefusal, NotFound } from '../../src/client/node/public.ts'
import {
  BINARY,
  FakeNode,
  failureOf,
  JSON_TYPE,
  json,
  OBJECT_TYPE,
  PREFIX,
  pairInfo,
  startFakeNode,
  text,
} from './fake-node.ts'
import { blocksOf, devnet, headerJson, headerText, mine } from './mined.ts'

interface Vector {
  readonly withOutputs: boolean
  readonly payload: { readonly payloadHash: string; readonly transactions: readonly unknown[] }
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL('../vectors/payloads.json', import.meta.url), 'utf8'))
const withOutputs = vectors.filter((each) => each.withOutputs).map(({ payload }) => payload)
const plain = vectors.filter((each) => !each.withOutputs).map(({ payload }) => payload)
const key = 'a'.repeat(42).concat('A')

describe('the client and the node itself:', () => {
  it('the client reads /info as live nodes write it: newest graph first, no service date', async () => {
    const graphs = [
      [60, pairInfo.nodeGraphHistory[0][1]],
      [0, [[0, []]]],
    ]
    const { client } = await startFakeNode({ ...pairInfo, nodeGraphHistory: graphs, nodeServiceDate: null, more: 1 })
    expect(client.info.nodeGraphHistory[0][0]).toBe(60)
    expect(client.product).toBe('chainweb')
  })

  it('the client reports a 503 of /info as a retryable refusal: the node is starting or stopping', async () => {
    const node = await FakeNode.start()
    node.on('GET', '/info', () => text('later', 503))
    await expect(NodeClient.connect({ url: node.url })).rejects.toMatchObject({ status: 503, retryable: true })
  })

  it('the client does not recognise a node whose /info has another shape, and names the wrong property', async () => {
    const node = await FakeNode.start()
    node.on('GET', '/info', () => json({ ...pairInfo, nodeChains: 'all' }))
    const error = await failureOf(NodeClient.connect({ url: node.url }))
    expect(error).toMatchObject({ code: 'NODE_NOT_RECOGNISED', message: expect.stringContaining('/nodeChains') })
  })

  it('the client reports a failed health check as a retryable refusal with its text', async () => {
    const { node, client } = await startFakeNode()
    node.on('GET', '/health-check', () => text('Failed health check due to service drain.\n', 503))
    await expect(client.healthCheck()).rejects.toMatchObject({
      name: 'NodeRefusal',
      code: 'NODE_REFUSED',
      status: 503,
      retryable: true,
      operation: 'healthCheck',
      url: `${node.url}/health-check`,
      excerpt: 'Failed health check due to service drain.',
    })
  })

  it('the client requests /config at the root, and hints at the P2P port if it is missing', async () => {
    const { node, client } = await startFakeNode()
    await expect(client.config()).rejects.toMatchObject({ status: 404, hint: expect.stringContaining('P2P port') })
    node.on('GET', '/config', () => json({ chainwebVersion: 'development', gasLimitOfBlock: 150000 }))
    expect(await client.config()).toMatchObject({ gasLimitOfBlock: 150000 })
    node.on('GET', '/config', () => json([]))
    expect(await failureOf(client.config())).toBeInstanceOf(NodeMisbehaved)
  })

  it('the client requests a backup at the root, then below the network path, where live nodes have it', async () => {
    const { node, client } = await startFakeNode()
    await expect(client.makeBackup()).rejects.toMatchObject({
      status: 404,
      hint: expect.stringContaining('--enable-backup-api'),
    })
    expect(node.requests.map(({ path }) => path)).toEqual(['/make-backup', `${PREFIX}/make-backup`])
    node.onNetwork('POST', '/make-backup', () => text('1747000000000000', 202))
    expect(await client.makeBackup({ backupPact: true })).toBe('1747000000000000')
    expect(Object.keys(node.last.query)).toEqual(['backupPact'])
    node.on('POST', '/make-backup', () => text('1747000000'))
    expect(await client.makeBackup()).toBe('1747000000')
    expect(node.last).toMatchObject({ method: 'POST', path: '/make-backup', query: {} })
    node.on('POST', '/make-backup', () => text('<html> no id'))
    expect(await failureOf(client.makeBackup())).toBeInstanceOf(NodeMisbehaved)
  })

  it('the client requests the state of a backup at both places', async () => {
    const { node, client } = await startFakeNode()
    await expect(client.checkBackup('12')).rejects.toMatchObject({ name: 'NotFound', key: '12' })
    node.onNetwork('GET', '/check-backup/12', () => text('no such backup', 404))
    await expect(client.checkBackup('12')).rejects.toMatchObject({ key: '12', reason: 'no such backup' })
    node.onNetwork('GET', '/check-backup/12', () => text('backup-in-progress\n'))
    expect(await client.checkBackup('12')).toBe('backup-in-progress')
    node.on('GET', '/check-backup/12', () => text('backup-done'))
    expect(await client.checkBackup('12')).toBe('backup-done')
    node.on('GET', '/check-backup/12', () => text('backup-perhaps'))
    expect(await failureOf(client.checkBackup('12'))).toBeInstanceOf(NodeMisbehaved)
    await expect(client.checkBackup('../info')).rejects.toMatchObject({ code: 'BAD_OPTION' })
  })
})

describe('the client and the cut:', () => {
  const cut = { hashes: { '0': { height: 3, hash: key }, '1': { height: 4, hash: key } }, weight: key, height: 7 }
  const peer = { id: null, address: { hostname: 'node.example', port: 1789 } }

  it('the client reads a cut with and without the properties that only some nodes send', async () => {
    const { node, client } = await startFakeNode()
    node.onNetwork('GET', '/cut', () => json(cut))
    expect(await client.cut({ maxheight: 9 })).toEqual(cut)
    expect(node.last.query).toEqual({ maxheight: '9' })
    node.onNetwork('GET', '/cut', () => json({ ...cut, origin: peer, instance: 'x', id: key }))
    expect(await client.cut()).toMatchObject({ origin: peer, instance: 'x' })
  })

  it('the client puts cuts and peers, and accepts 200 and 204', async () => {
    const { node, client } = await startFakeNode()
    for (const status of [200, 204]) {
      node.onNetwork('PUT', '/cut', () => ({ status })).onNetwork('PUT', '/cut/peer', () => ({ status }))
      await client.putCut({ ...cut, origin: peer })
      expect(JSON.parse(node.last.body.toString())).toEqual({ ...cut, origin: peer })
      expect(node.last.headers['content-type']).toBe('application/json')
      await client.putCutPeer(peer)
      expect(JSON.parse(node.last.body.toString())).toEqual(peer)
    }
  })

  it('the client reports the 401 for a cut of an unknown peer with its text', async () => {
    const { node, client } = await startFakeNode()
    node.onNetwork('PUT', '/cut', () => text('Unknown peer', 401))
    await expect(client.putCut(cut)).rejects.toMatchObject({ status: 401, excerpt: 'Unknown peer' })
  })

  it('the client refuses to put a cut of wrong shape, without a request', async () => {
    const { node, client } = await startFakeNode()
    await expect(client.putCut({ ...cut, weight: 'heavy' })).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining('/weight'),
    })
    expect(node.requests).toEqual([])
  })

  it('the client reads pages of peers, whose cursors are numbers', async () => {
    const { node, client } = await startFakeNode()
    node.onNetwork('GET', '/cut/peer', ({ query }) =>
      query.next === undefined
        ? json({ limit: 1, items: [peer], next: 'inclusive:1' })
        : json({ limit: 1, items: [{ ...peer, id: key }], next: null }),
    )
    expect(await client.cutPeers({ limit: 1 }).all()).toEqual([peer, { ...peer, id: key }])
    expect(node.last.query).toEqual({ limit: '1', next: 'inclusive:1' })
  })
})

describe('the client and headers:', () => {
  it('the client requests each encoding by its media type, and accepts text from a node without binary', async () => {
    const mined = await devnet()
    await mine(mined.client, 1)
    const block = blocksOf(mined.node, 0)[1]
    const { node, client } = await startFakeNode()
    const path = `/chain/0/header/${block.id}`
    node.onNetwork('GET', path, ({ headers }) => {
      if (headers.accept === OBJECT_TYPE) {
        return { headers: { 'content-type': OBJECT_TYPE }, body: JSON.stringify(headerJson(block)) }
      }
      if (headers.accept === 'application/json') return json(JSON.stringify(headerText(block)))
      return { headers: { 'content-type': BINARY }, body: block.bytes }
    })
    expect(await client.header(0, block.id)).toEqual(block.header)
    expect(node.last.headers.accept).toMatch(/^application\/octet-stream\b/)
    expect(await client.header(0, block.id, { encoding: 'binary' })).toEqual(block.bytes.slice())
    expect(await client.header(0, block.id, { encoding: 'text' })).toBe(headerText(block))
    expect(await client.header(0, block.id, { encoding: 'object' })).toEqual(headerJson(block))
    node.onNetwork('GET', path, () => json(JSON.stringify(headerText(block))))
    expect(await client.header(0, block.id)).toEqual(block.header)
    expect(await client.header(0, block.id, { encoding: 'binary' })).toEqual(block.bytes.slice())
    node.onNetwork('GET', path, () => ({ status: 406 }))
    await expect(client.header(0, block.id, { encoding: 'object' })).rejects.toMatchObject({
      name: 'NotAcceptable',
      status: 406,
      operation: 'header',
    })
  })

  it('the client reads integers beyond 2^53 in headers exactly, and refuses negative ones', async () => {
    const mined = await devnet()
    const [genesis] = blocksOf(mined.node, 0)
    const { node, client } = await startFakeNode()
    const object = JSON.stringify(headerJson(genesis)).replace(
      '"featureFlags":0',
      '"featureFlags":13587439086007832832',
    )
    node.onNetwork('GET', '/chain/0/header', () => json(`{"limit":1,"items":[${object}],"next":null}`))
    const [item] = await client.headers(0, { encoding: 'object' }).all()
    expect(item.featureFlags).toBe(13587439086007832832n)
    node.onNetwork('GET', '/chain/0/header', () =>
      json(`{"limit":1,"items":[${object.replace('13587439086007832832', '-13587439086007832832')}],"next":null}`),
    )
    expect(await failureOf(client.headers(0, { encoding: 'object' }).all())).toBeInstanceOf(NodeMisbehaved)
  })

  it('the client sends the bounds of a branch, and reports which of them the node rejects', async () => {
    const { node, client } = await startFakeNode()
    const path = '/chain/1/header/branch'
    node.onNetwork('POST', path, () => json({ limit: 0, items: [], next: null }))
    const bounds = { upper: [new Uint8Array(32), key], lower: [key] }
    const list = client.headerBranch(1, bounds, { minheight: 1, maxheight: 5, limit: 7 })
    expect(await list.page('inclusive:'.concat(key))).toEqual({ limit: 0, items: [], next: null })
    expect(JSON.parse(node.last.body.toString())).toEqual({ upper: ['A'.repeat(43), key], lower: [key] })
    expect(node.last.query).toEqual({ minheight: '1', maxheight: '5', limit: '7', next: `inclusive:${key}` })
    const limits = '"upper branch bound limit exceeded. Only 32 values are supported."'
    node.onNetwork('POST', path, () => ({ status: 400, body: limits }))
    await expect(list.page()).rejects.toMatchObject({ name: 'BranchBoundsExceeded', limit: 32, retryable: false })
    node.onNetwork('POST', path, () => ({ status: 400 }))
    await expect(list.page()).rejects.toMatchObject({ name: 'BranchBoundsExceeded', limit: null })
    node.onNetwork('POST', path, () => text('Error in $: not enough input', 400))
    await expect(list.page()).rejects.toMatchObject({ name: 'NodeRefusal', status: 400 })
    node.onNetwork('POST', path, () => json({ reason: 'key not found', key }, 404))
    await expect(list.page()).rejects.toMatchObject({ name: 'NotFound', key, reason: 'key not found' })
    await expect(
      failureOf(Promise.resolve().then(() => client.headerBranch(1, { upper: ['short'] }))),
    ).resolves.toMatchObject({ code: 'BAD_FORMAT' })
  })
})

describe('the client and payloads:', () => {
  it('the client reads one payload, with outputs and without', async () => {
    const { node, client } = await startFakeNode()
    const [outputs] = withOutputs
    node.onNetwork('GET', `/chain/0/payload/${outputs.payloadHash}/outputs`, () => json(outputs))
    expect(await client.payloadOutputs(0, outputs.payloadHash, { height: 12, verify: true })).toEqual(outputs)
    expect(node.last.query).toEqual({ height: '12' })
    const [data] = plain
    node.onNetwork('GET', `/chain/0/payload/${data.payloadHash}`, () => json(data))
    expect(await client.payload(0, data.payloadHash, { verify: true })).toEqual(data)
    node.onNetwork('GET', `/chain/0/payload/${data.payloadHash}`, () => json({ ...data, payloadHash: key }))
    await expect(client.payload(0, data.payloadHash)).rejects.toMatchObject({ code: 'NODE_MISBEHAVED' })
  })

  it('the client returns many payloads in the order of the keys, without those that the node lacks', async () => {
    const { node, client } = await startFakeNode()
    const keys = withOutputs.map(({ payloadHash }) => payloadHash)
    expect(keys.length).toBeGreaterThan(1)
    const outputsOf = (asked: string[]) =>
      withOutputs.filter(({ payloadHash }) => asked.includes(payloadHash)).reverse()
    node.onNetwork('POST', '/chain/0/payload/outputs/batch', ({ body }) => {
      const asked = JSON.parse(body.toString())
      return json(outputsOf(asked.hashes ?? asked))
    })
    expect(await client.payloadsOutputs(0, [keys[0], key, ...keys], { verify: true })).toEqual(withOutputs)
    expect(node.requests.map(({ body }) => JSON.parse(body.toString()))).toEqual([
      [keys[0], key, ...keys.slice(1)],
      // The node may have omitted one because there were too many, so the client asks again.
      [key],
    ])
    await client.payloadsOutputs(0, { hashes: keys, heights: keys.map((_, i) => i) })
    expect(JSON.parse(node.last.body.toString())).toEqual({ hashes: keys, heights: keys.map((_, i) => i) })
    await expect(client.payloads(0, { hashes: keys, heights: [] })).rejects.toMatchObject({ code: 'BAD_OPTION' })
    for (const wrong of [[...withOutputs, withOutputs[0]], [{ ...withOutputs[0], payloadHash: key }]]) {
      node.onNetwork('POST', '/chain/0/payload/outputs/batch', () => json(wrong))
      expect(await failureOf(client.payloadsOutputs(0, keys))).toBeInstanceOf(NodeMisbehaved)
    }
  })

  it('the client requests more than 1,000 payloads in several requests', async () => {
    const { node, client } = await startFakeNode()
    const keys = Array.from({ length: 2_001 }, (_, i) => Buffer.alloc(32, `${i}`).toString('base64url'))
    const sizes: number[] = []
    node.onNetwork('POST', '/chain/0/payload/batch', ({ body }) => {
      sizes.push(JSON.parse(body.toString()).length)
      return json([])
    })
    expect(await client.payloads(0, [...keys, ...keys])).toEqual([])
    const different = new Set(keys).size
    expect(sizes.reduce((a, b) => a + b)).toBe(different)
    expect(Math.max(...sizes)).toBe(1000)
  })

  it('the client gets all payloads from a node that returns fewer than requested', async () => {
    const { node, client } = await startFakeNode()
    const payloads = Array.from({ length: 7 }, (_each, i) => ({
      ...plain[0],
      payloadHash: Buffer.alloc(32, i + 1).toString('base64url'),
    }))
    const have = payloads.filter((_each, i) => i !== 3)
    const bodies: { hashes: string[]; heights: number[] }[] = []
    node.onNetwork('POST', '/chain/0/payload/batch', ({ body }) => {
      const asked = JSON.parse(body.toString())
      bodies.push(asked)
      return json(have.filter(({ payloadHash }) => asked.hashes.slice(0, 3).includes(payloadHash)))
    })
    const hashes = payloads.map(({ payloadHash }) => payloadHash)
    const heights = [10, 11, 12, 13, 14, 15, 16]
    expect(await client.payloads(0, { hashes, heights })).toEqual(have)
    expect(bodies.map((each) => each.heights)).toEqual([heights, [13, 14, 15, 16], [13, 16], [13]])
  })

  it('the client passes on the reason if a node does not support batches of payloads', async () => {
    const { node, client } = await startFakeNode()
    node.onNetwork('POST', '/chain/0/payload/batch', () => json('"payload batch limit is 0"', 404))
    const error = await failureOf(client.payloads(0, [key]))
    expect(error).toBeInstanceOf(NodeRefusal)
    expect(error).not.toBeInstanceOf(NotFound)
    expect(error.message).toContain('payload batch limit is 0')
  })

  it('the client refuses payloads that do not have the hashes they claim', async () => {
    const { node, client } = await startFakeNode()
    const [, outputs] = withOutputs
    const other = withOutputs[0] as unknown as Record<string, string>
    const path = `/chain/0/payload/${outputs.payloadHash}/outputs`
    const failureWith = (change: object) => {
      node.onNetwork('GET', path, () => json({ ...outputs, ...change }))
      return failureOf(client.payloadOutputs(0, outputs.payloadHash, { verify: true }))
    }
    expect(await failureWith({ coinbase: 'AAAA' })).toMatchObject({
      name: 'InvalidPayload',
      rules: ['outputsHash', 'payloadHash'],
      hash: outputs.payloadHash,
    })
    expect(await failureWith({ transactions: [] })).toMatchObject({
      rules: ['transactionsHash', 'outputsHash', 'payloadHash'],
    })
    expect(await failureWith({ outputsHash: other.outputsHash })).toMatchObject({ rules: ['outputsHash'] })
    expect(await failureWith({ minerData: 'AAA_B' })).toBeInstanceOf(NodeMisbehaved)
  })

  it('the client refuses payloads with wrong hashes in an answer to many keys as well', async () => {
    const { node, client } = await startFakeNode()
    const options = { verify: true }
    const forged = [withOutputs[0], { ...withOutputs[1], coinbase: 'AAAA' }]
    const keys = forged.map(({ payloadHash }) => payloadHash)
    node.onNetwork('POST', '/chain/0/payload/outputs/batch', () => json(forged))
    expect(await failureOf(client.payloadsOutputs(0, keys, options))).toMatchObject({
      name: 'InvalidPayload',
      rules: ['outputsHash', 'payloadHash'],
      hash: keys[1],
    })
    expect(await client.payloadsOutputs(0, keys)).toEqual(forged)
    const [data] = plain
    node.onNetwork('POST', '/chain/0/payload/batch', () => json([{ ...data, minerData: 'AAAA' }]))
    expect(await failureOf(client.payloads(0, [data.payloadHash], options))).toMatchObject({
      name: 'InvalidPayload',
      rules: ['transactionsHash', 'payloadHash'],
      hash: data.payloadHash,
    })
  })
})

describe('the client and the memory pool:', () => {
  it('the client returns 64-bit marks of the memory pool unchanged', async () => {
    const { node, client } = await startFakeNode()
    const body = `{"hashes":["${key}"],"highwaterMark":[-4683248684880063035,17]}`
    node.onNetwork('POST', '/chain/1/mempool/getPending', () => json(body))
    const pending = await client.mempoolPending(1)
    expect(pending).toEqual({ hashes: [key], highwaterMark: [-4683248684880063035n, 17] })
    expect(node.last.query).toEqual({})
    await client.mempoolPending(1, { since: pending.highwaterMark })
    expect(node.last.query).toEqual({ nonce: '-4683248684880063035', since: '17' })
  })

  it('the client refuses an answer of the memory pool that does not have an entry for each key', async () => {
    const { node, client } = await startFakeNode()
    node.onNetwork('POST', '/chain/0/mempool/member', () => json([true, false]))
    expect(await client.mempoolMember(0, [key, new Uint8Array(32)])).toEqual([true, false])
    expect(JSON.parse(node.last.body.toString())).toEqual([key, 'A'.repeat(43)])
    expect(await failureOf(client.mempoolMember(0, [key]))).toBeInstanceOf(NodeMisbehaved)
    const found = [{ tag: 'Pending', contents: '{}' }, { tag: 'Missing' }]
    node.onNetwork('POST', '/chain/0/mempool/lookup', () => json(found))
    expect(await client.mempoolLookup(0, [key, key])).toEqual(found)
    expect(await failureOf(client.mempoolLookup(0, [key, key, key]))).toBeInstanceOf(NodeMisbehaved)
    node.onNetwork('POST', '/chain/0/mempool/lookup', () => json([{ tag: 'Perhaps' }]))
    expect(await failureOf(client.mempoolLookup(0, [key]))).toBeInstanceOf(NodeMisbehaved)
  })

  it('the client sends commands to the memory pool as JSON texts', async () => {
    const { node, client } = await startFakeNode()
    node.onNetwork('PUT', '/chain/0/mempool/insert', () => ({ headers: { 'content-type': JSON_TYPE } }))
    const command = { cmd: '{}', hash: key, sigs: [] }
    await client.mempoolInsert(0, [command, JSON.stringify(command)])
    expect(JSON.parse(node.last.body.toString())).toEqual(Array(2).fill(JSON.stringify(command)))
  })
})

describe('the client refuses without a request:', () => {
  it.each([
    ['a negative limit', (client: NodeClient) => client.headers(0, { limit: -1 }).page()],
    ['a fraction', (client: NodeClient) => client.hashes(0, { minheight: 1.5 }).page()],
    ['a malformed cursor', (client: NodeClient) => client.hashes(0).page('next')],
    ['a negative chain', async (client: NodeClient) => client.hashes(-1)],
    ['half a chain', (client: NodeClient) => client.mempoolPending(0.5)],
    ['a hash that is too long', (client: NodeClient) => client.header(0, `${key}A`)],
    ['a hash that is not base64url', (client: NodeClient) => client.header(0, '/'.repeat(43))],
    ['bytes that are not a hash', (client: NodeClient) => client.payload(0, new Uint8Array(31))],
  ])('the client refuses %s without a request', async (_name, call) => {
    const { node, client } = await startFakeNode()
    const error = await failureOf(call(client))
    expect(error).toMatchObject({ code: expect.stringMatching(/^BAD_(OPTION|FORMAT)$/) })
    expect(node.requests).toEqual([])
  })
})
