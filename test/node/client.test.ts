/** The client against the embedded node: one case for each operation of the interface. */
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import {
  type Command,
  type HeaderObject,
  type NodeClient,
  NotFound,
  NumberText,
  type Paging,
  type PeerInfo,
} from '../../src/client/node/public.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { encodeHeader, type Header } from '../../src/ground/chain/header.ts'
import { solves } from '../../src/ground/chain/pow.ts'
import type { OperationId } from '../../src/ground/schema/operations.ts'
import { commandPayload, signed, signText } from '../devnet/command.ts'
import type { Devnet } from '../devnet/whole-node.ts'
import { solve } from '../solve.ts'
import { blocksOf, devnet, devnetOfFile, headerText, mine, payloadJson } from './mined.ts'

const ROUNDS = 4
const account = { account: `k:${'ab'.repeat(32)}`, predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }
/** A signed command for a chain, as wallets make them. */
const commandFor = (chain: number) => signed({ chainId: String(chain) }) as Command
const NOBODY = 'A'.repeat(43)
const backupDir = mkdtempSync(join(tmpdir(), 'newcut-client-'))
afterAll(() => rmSync(backupDir, { recursive: true }))

type Case = (client: NodeClient, node: Devnet) => Promise<unknown>

/** All blocks of chain 0, and their hashes in base64url. */
const chain0 = (node: Devnet) => {
  const blocks = blocksOf(node, 0)
  return { blocks, ids: blocks.map(({ id }) => id), tip: blocks[blocks.length - 1] }
}

/** A peer for the node: a server that listens on this machine. */
async function somePeer(): Promise<PeerInfo> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { id: null, address: { hostname: '127.0.0.1', port: (server.address() as AddressInfo).port } }
}

/** Mines until a block contains the command: on a busy machine the next block may be too early for it. */
async function mineIn(client: NodeClient, { hash }: Command, chain = 0): Promise<void> {
  do await mine(client, 1)
  while (!(await client.poll(chain, [hash])).has(hash))
}

/** A command that runs code on chain 0. */
const exec = (code: string, meta = {}) => signed(meta, { payload: { exec: { code, data: {} } } }) as Command

const cases: Readonly<Record<OperationId, Case>> = {
  local: async (client) => {
    const code = exec('[(+ 1 2), 0.1234567890123456789012345678, 0.00000001]')
    const { result, gas, metaData, preflightWarnings } = await client.local(0, code)
    const exact = [{ int: 3 }, { decimal: '0.1234567890123456789012345678' }, new NumberText('1.0e-8')]
    expect(result).toEqual({ status: 'success', data: exact })
    expect(gas).toEqual(expect.any(Number))
    expect(preflightWarnings).toEqual([])
    expect(metaData).toMatchObject({ blockHeight: ROUNDS + 1, publicMeta: { gasPrice: new NumberText('1.0e-8') } })
    const rewound = await client.local(0, code, { preflight: true, signatureVerification: false, rewindDepth: 2 })
    expect(rewound.result.status).toBe('success')
    expect(rewound.metaData?.blockHeight).toEqual(ROUNDS - 1)
    expect(rewound.gas).toBeGreaterThan(gas as number)
    const failed = await client.local(0, exec('(enforce false "no")'))
    expect(failed.result).toMatchObject({ status: 'failure', error: { type: 'TxFailure', message: 'no' } })
    await expect(client.local(0, { ...code, sigs: [] })).rejects.toMatchObject({
      status: 400,
      excerpt: expect.stringContaining('Number of signatures: 0.'),
    })
  },
  send: async (client) => {
    const [one, other] = [exec('1'), exec('2')]
    expect(await client.send(0, [one, other])).toEqual([one.hash, other.hash])
    const wrong = exec('1', { sender: 'nobody' })
    const excerpt =
      `One or more transactions were invalid: Transaction "${wrong.hash}" at index 0 failed with: ` +
      `Attempt to buy gas failed with: "${wrong.hash}" Failed to buy gas: ` +
      'No value found in table coin_coin-table for key: nobody'
    await expect(client.send(0, [wrong])).rejects.toMatchObject({ status: 400, excerpt, operation: 'send' })
  },
  poll: async (client) => {
    const command = exec('1')
    await client.send(0, [command])
    expect(await client.poll(0, [command.hash, NOBODY])).toEqual(new Map())
    await mineIn(client, command)
    const results = await client.poll(0, [command.hash, NOBODY])
    expect([...results.keys()]).toEqual([command.hash])
    expect(results.get(command.hash)).toMatchObject({
      result: { status: 'success', data: { int: 1 } },
      metaData: { blockHeight: Number((await client.cut()).hashes['0'].height), blockHash: expect.any(String) },
      events: [{ name: 'TRANSFER', module: { namespace: null, name: 'coin' } }],
    })
    expect((await client.poll(0, [command.hash], { confirmationDepth: 1 })).size).toBe(0)
    await mine(client, 1)
    expect((await client.poll(0, [command.hash], { confirmationDepth: 1 })).size).toBe(1)
  },
  listen: async (client) => {
    const command = exec('1')
    await client.send(0, [command])
    const result = client.listen(0, command.hash)
    await mineIn(client, command)
    expect(await result).toEqual((await client.poll(0, [command.hash])).get(command.hash))
    await expect(client.listen(0, NOBODY, { timeoutMs: 50 })).rejects.toMatchObject({ reason: 'timeout' })
  },
  spv: async (client) => {
    const command = exec('1')
    await expect(client.spv(0, command.hash, 1)).rejects.toMatchObject({
      status: 400,
      excerpt: `Transaction hash not found: "${command.hash}"`,
    })
    await client.send(0, [command])
    await mineIn(client, command)
    await mine(client, 2)
    const proof = await client.spv(0, command.hash, 1)
    expect(JSON.parse(Buffer.from(proof, 'base64url').toString())).toMatchObject({ chain: 1, algorithm: 'SHA512t_256' })
  },
  private: async (client) => {
    const { payload, signers, networkId, nonce } = commandPayload()
    const meta = { address: { from: 'Alice', to: ['Bob'] } }
    const command = signText(JSON.stringify({ payload, signers, networkId, nonce, meta })) as Command
    expect(await client.private(0, command)).toBe(command.hash)
    expect((await client.poll(0, [command.hash])).get(command.hash)?.result).toEqual({
      status: 'success',
      data: { int: 3 },
    })
  },
  healthCheck: async (client) => expect(await client.healthCheck()).toBe('Health check OK.'),
  nodeInfo: async (client) => {
    const info = await client.nodeInfo()
    expect(info).toMatchObject({ nodeVersion: 'development', nodeNumberOfChains: 3, nodeBlockDelay: 1_000_000 })
    expect(info).toEqual(client.info)
  },
  config: async (client) =>
    expect(await client.config()).toMatchObject({ chainwebVersion: 'development', backup: { api: { enabled: true } } }),
  makeBackup: async (client) => expect(await client.makeBackup()).toMatch(/^[\w-]+$/),
  checkBackup: async (client) => {
    const id = await client.makeBackup({ backupPact: true })
    expect(await client.checkBackup(id)).toMatch(/^backup-(done|in-progress)$/)
    await expect(client.checkBackup('nobody')).rejects.toMatchObject({ name: 'NotFound', key: 'nobody' })
  },
  cut: async (client, node) => {
    const cut = await client.cut()
    expect(cut.height).toBe(3 * ROUNDS)
    expect(cut.hashes['0']).toEqual({ height: ROUNDS, hash: chain0(node).tip.id })
    expect((await client.cut({ maxheight: 3 })).hashes['0']).toEqual({ height: 1, hash: chain0(node).ids[1] })
  },
  putCut: async (client) => {
    const origin = await somePeer()
    const cut = await client.cut()
    const missing = { status: 400, operation: 'putCut', excerpt: expect.stringMatching(/origin/i) }
    await expect(client.putCut(cut)).rejects.toMatchObject(missing)
    await expect(client.putCut({ ...cut, origin })).rejects.toMatchObject({ status: 401, excerpt: 'Unknown peer' })
    await client.putCutPeer(origin)
    await client.putCut({ ...cut, origin })
    expect(await client.cut()).toEqual(cut)
  },
  cutPeers: async (client) => {
    expect(await client.cutPeers().all()).toEqual([])
    const peers = [await somePeer(), await somePeer(), await somePeer()]
    for (const peer of peers) await client.putCutPeer(peer)
    expect(await client.cutPeers({ limit: 2 }).all()).toEqual(peers)
  },
  putCutPeer: async (client) => {
    const nobody = { id: null, address: { hostname: '127.0.0.1', port: 1 } }
    await expect(client.putCutPeer(nobody)).rejects.toMatchObject({ status: 400, operation: 'putCutPeer' })
    await client.putCutPeer(await somePeer())
    expect(await client.cutPeers().all()).toHaveLength(1)
  },
  hashes: async (client, node) => {
    expect(await client.hashes(0, { limit: 2 }).all()).toEqual(chain0(node).ids)
    expect(await client.hashes(0, { minheight: 1, maxheight: 2 }).all()).toEqual(chain0(node).ids.slice(1, 3))
  },
  hashBranch: async (client, node) => {
    const { ids, tip } = chain0(node)
    const bounds = { upper: [tip.id], lower: [ids[1]] }
    expect(await client.hashBranch(0, bounds, { limit: 1 }).all()).toEqual(ids.slice(2).reverse())
  },
  headers: async (client, node) => {
    const { blocks } = chain0(node)
    const list = client.headers(0, { limit: 2, verify: true })
    expectTypeOf(list).toEqualTypeOf<Paging<Header>>()
    expect(await list.all()).toEqual(blocks.map(({ header }) => header))
    expect(await client.headers(0, { encoding: 'text' }).all()).toEqual(blocks.map(headerText))
    expect(await client.headers(0, { encoding: 'binary' }).all()).toEqual(blocks.map(({ bytes }) => bytes.slice()))
    const objects = client.headers(0, { encoding: 'object' })
    expectTypeOf(objects).toEqualTypeOf<Paging<HeaderObject>>()
    expect((await objects.all()).map(({ hash }) => hash)).toEqual(blocks.map(({ id }) => id))
  },
  header: async (client, node) => {
    const { tip } = chain0(node)
    const decoded = await client.header(0, tip.id, { verify: true })
    expectTypeOf(decoded).toEqualTypeOf<Header>()
    expect(decoded).toEqual(tip.header)
    const binary = await client.header(0, tip.hash, { encoding: 'binary' })
    expectTypeOf(binary).toEqualTypeOf<Uint8Array>()
    expect(binary).toEqual(encodeHeader(tip.header))
    expect(await client.header(0, tip.id, { encoding: 'text' })).toBe(encodeBase64Url(binary))
    const object = await client.header(0, tip.id, { encoding: 'object', verify: true })
    expectTypeOf(object).toEqualTypeOf<HeaderObject>()
    expect(object).toMatchObject({ hash: tip.id, height: ROUNDS, chainwebVersion: 'development' })
    const unknown = encodeBase64Url(new Uint8Array(32))
    const error = await client.header(0, unknown).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(NotFound)
    expect(error).toMatchObject({ key: unknown, reason: 'key not found', status: 404, operation: 'header' })
    // The header is on another chain.
    await expect(client.header(1, tip.id)).rejects.toBeInstanceOf(NotFound)
  },
  headerBranch: async (client, node) => {
    const { blocks, tip } = chain0(node)
    const list = client.headerBranch(0, { upper: [tip.hash] }, { limit: 2, verify: true })
    expect(await list.all()).toEqual(blocks.map(({ header }) => header).reverse())
    await expect(client.headerBranch(0, { upper: ['A'.repeat(43)] }).all()).rejects.toBeInstanceOf(NotFound)
    const many = { upper: Array.from({ length: 33 }, () => tip.id) }
    await expect(client.headerBranch(0, many).all()).rejects.toMatchObject({ name: 'BranchBoundsExceeded', limit: 32 })
  },
  payload: async (client, node) => {
    const { coinbase, ...expected } = payloadJson(chain0(node).tip.payload)
    const payload = await client.payload(0, expected.payloadHash, { verify: true })
    expect(payload).toEqual({ ...expected, transactions: expected.transactions.map(([transaction]) => transaction) })
    expect(coinbase).not.toBe('')
  },
  payloadOutputs: async (client, node) => {
    const expected = payloadJson(chain0(node).tip.payload)
    expect(await client.payloadOutputs(0, expected.payloadHash, { verify: true })).toEqual(expected)
  },
  payloads: async (client, node) => {
    const wanted = chain0(node).blocks.map(({ payload }) => payload.payloadHash)
    const found = await client.payloads(0, [...wanted, new Uint8Array(32)], { verify: true })
    expect(found.map(({ payloadHash }) => payloadHash)).toEqual(wanted.map(encodeBase64Url))
  },
  payloadsOutputs: async (client, node) => {
    const expected = chain0(node).blocks.map(({ payload }) => payloadJson(payload))
    const keys = expected.map(({ payloadHash }) => payloadHash)
    expect(await client.payloadsOutputs(0, keys, { verify: true })).toEqual(expected)
  },
  blocks: async (client, node) => {
    const { blocks } = chain0(node)
    const expected = blocks.map(({ header, payload }) => ({ header, payloadWithOutputs: payloadJson(payload) }))
    expect(await client.blocks(0, { limit: 2, verify: true }).all()).toEqual(expected)
  },
  blockBranch: async (client, node) => {
    const { ids, tip } = chain0(node)
    const list = client.blockBranch(0, { upper: [tip.id], lower: [ids[2]] }, { encoding: 'object', verify: true })
    expect((await list.all()).map(({ header }) => header.hash)).toEqual(ids.slice(3).reverse())
  },
  headerUpdates: (client, node) => expectNews(client, node, 'headerUpdates'),
  blockUpdates: (client, node) => expectNews(client, node, 'blockUpdates'),
  mempoolPending: async (client) => {
    const command = commandFor(0)
    await client.mempoolInsert(0, [command])
    const { hashes, highwaterMark } = await client.mempoolPending(0)
    expect(hashes).toEqual([command.hash])
    const later = commandFor(0)
    await client.mempoolInsert(0, [later])
    expect((await client.mempoolPending(0, { since: highwaterMark })).hashes).toEqual([later.hash])
  },
  mempoolMember: async (client) => {
    const command = commandFor(0)
    await client.mempoolInsert(0, [command])
    expect(await client.mempoolMember(0, [NOBODY, command.hash])).toEqual([false, true])
  },
  mempoolLookup: async (client) => {
    const command = commandFor(0)
    await client.mempoolInsert(0, [JSON.stringify(command)])
    const [missing, pending] = await client.mempoolLookup(0, [NOBODY, command.hash])
    expect(missing).toEqual({ tag: 'Missing' })
    expect(pending).toMatchObject({ tag: 'Pending', contents: expect.stringContaining(command.hash) })
  },
  mempoolInsert: async (client, node) => {
    const command = commandFor(1)
    await expect(client.mempoolInsert(0, [command])).rejects.toMatchObject({ status: 400, operation: 'mempoolInsert' })
    await client.mempoolInsert(1, [command])
    expect(await client.mempoolMember(1, [command.hash])).toEqual([true])
    await mineIn(client, command, 1)
    // The transaction is in a block now.
    expect(await client.mempoolMember(1, [command.hash])).toEqual([false])
    const [, tip] = blocksOf(node, 1).slice(-2)
    const block = await client.payload(1, tip.payload.payloadHash, { verify: true })
    expect(block.transactions.map((each) => JSON.parse(Buffer.from(each, 'base64url').toString()).hash)).toEqual([
      command.hash,
    ])
  },
  work: async (client) => {
    const startMs = Date.now()
    const { work, clockAheadMs } = await client.work(account, 2)
    const spanMs = Date.now() - startMs
    expect(work.fields).toMatchObject({ chainId: 2, height: BigInt(ROUNDS + 1), nonce: 0n })
    // Both have one clock, and the time of an answer is in whole seconds.
    expect(Math.abs(clockAheadMs ?? Number.NaN)).toBeLessThanOrEqual(1_000 + spanMs)
    await expect(client.work({ ...account, account: '' })).rejects.toMatchObject({ code: 'BAD_OPTION' })
  },
  solved: async (client, node) => {
    const { work } = await client.work(account, 0)
    const solution = solve(work.bytes)
    expect(solves(solution)).toBe(true)
    await client.solved(solution)
    expect(chain0(node).blocks).toHaveLength(ROUNDS + 2)
    await expect(client.solved(solution)).rejects.toMatchObject({ status: 404, excerpt: 'No associated Payload' })
  },
  updates: async (client) => {
    const stop = new AbortController()
    const kinds: string[] = []
    let mined = Promise.resolve()
    const mineOne = async () => {
      const { work } = await client.work(account, 0)
      await client.solved(solve(work.bytes))
    }
    const onOpen = () => {
      mined = mineOne()
    }
    for await (const news of client.updates(0, { signal: stop.signal, onOpen })) {
      kinds.push(news.type)
      stop.abort()
    }
    await mined
    expect(kinds).toEqual(['newCut'])
  },
}

async function expectNews(client: NodeClient, node: Devnet, id: 'headerUpdates' | 'blockUpdates'): Promise<void> {
  const stop = new AbortController()
  const heights: bigint[] = []
  let mined = Promise.resolve()
  const onOpen = () => {
    mined = mine(client, 2)
  }
  const options = { signal: stop.signal, verify: true, onOpen }
  for await (const news of client[id](options)) {
    if (news.type === 'gap') throw new Error('nothing was missed')
    expect(news.header.target).toBe(news.target)
    const block = node.chains.store.get(news.header.hash)
    expect(block?.header).toEqual(news.header)
    if ('payloadWithOutputs' in news) expect(news.payloadWithOutputs).toEqual(block && payloadJson(block.payload))
    else expect(id).toBe('headerUpdates')
    heights.push(news.header.height)
    if (heights.length === 6) stop.abort()
  }
  await mined
  expect(heights).toEqual([1n, 1n, 1n, 2n, 2n, 2n].map((above) => BigInt(ROUNDS) + above))
}

/** Operations whose cases leave the node as it was. They share one. */
const READ_ONLY = (
  'local healthCheck nodeInfo config makeBackup checkBackup cut work hashes ' +
  'hashBranch headers header headerBranch blocks blockBranch payload payloadOutputs payloads payloadsOutputs'
).split(' ')

describe('the client against the embedded node:', () => {
  const shared = devnetOfFile(ROUNDS, { backupDir, entity: 'Bob' })

  for (const [id, run] of Object.entries(cases) as [OperationId, Case][]) {
    it(`NodeClient.${id} works against the embedded node`, async () => {
      if (READ_ONLY.includes(id)) return void (await run(shared.client, shared.node))
      const { node, client } = await devnet({ backupDir, entity: 'Bob' })
      await mine(client, ROUNDS)
      await run(client, node)
    })
  }

  it('the client works with a node that calls itself ledger', async () => {
    const { node, client } = await devnet({ product: 'ledger' })
    await mine(client, 1)
    expect(client.product).toBe('ledger')
    const object = await client.header(0, chain0(node).tip.id, { encoding: 'object', verify: true })
    expect(object).toMatchObject({ ledgerVersion: 'development', height: 1 })
  })

  it('every call of the client ends when its signal aborts, with the reason of the signal', async () => {
    const { client } = await devnet()
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    const { tip } = { tip: 'A'.repeat(43) }
    const calls = [
      client.healthCheck({ signal }),
      client.cut({ signal }),
      client.headers(0, { signal }).page(),
      client.headers(0).page(null, { signal }),
      client.header(0, tip, { signal }),
      client.payloads(0, [tip], { signal }),
      client.mempoolMember(0, [tip], { signal }),
      client.work(account, 0, { signal }),
      client.solved(new Uint8Array(286), { signal }),
    ]
    for (const call of calls) await expect(call).rejects.toBe(reason)
    const late = await client.updates(0, { signal })[Symbol.asyncIterator]().next()
    expect(late.done).toBe(true)
  })

  it('pending and later calls of the client end after close() with the reason `closed`', async () => {
    const { client } = await devnet()
    await client.close()
    await expect(client.cut()).rejects.toMatchObject({ name: 'UnreachableError', reason: 'closed', retryable: false })
    const iterator = client.headerUpdates()[Symbol.asyncIterator]()
    await expect(iterator.next()).rejects.toMatchObject({ reason: 'closed' })
  })
})
