/** The npm package `chainweb`, a client library for live nodes, reads the embedded node over HTTP. */
import chainweb from 'chainweb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Header } from '../../src/ground/chain/header.ts'
import { until } from '../wait.ts'
import type { HeaderObject } from './checker.ts'
import type { Signed } from './command.ts'
import { transfer } from './commands-common.ts'
import { Fork, growCut, idOf } from './forks.ts'
import { textOf } from './mempool-common.ts'
import { Peer } from './request.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const NETWORK = 'development'
const CHAIN = 1

let devnet: Devnet
let host: string
/** The branch of chain 1, ascending. */
let branch: Header[]
/** A transfer in block 395 of the branch, and its output. */
let command: Signed
let output: { readonly events: readonly object[] }

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 1n })
  host = devnet.url
  command = transfer('sender01', 1.5, { chainId: `${CHAIN}` })
  branch = [...devnet.chains.cut.values()].filter(({ chainId }) => chainId === CHAIN)
  for (let height = 1; height <= 400; height++) {
    const commands = height === 395 ? [command] : []
    // Some orphans, which pages of branches must leave out.
    if (height % 50 === 0) new Fork(devnet, 'orphan').grow(CHAIN)
    const { header, payload } = growCut(devnet, CHAIN, { commands })
    branch.push(header)
    if (commands.length > 0) output = JSON.parse(textOf(payload.transactions[0].output))
    growCut(devnet, 0)
  }
})

afterAll(() => devnet.close())

const hashes = (headers: readonly HeaderObject[]) => headers.map(({ hash }) => hash)
const idsFrom = (from: number, to: number) => branch.slice(from, to + 1).map(idOf)

describe('chainweb reads of the cut', () => {
  it('the chainweb client reads the heads of the cut', async () => {
    const cut = await chainweb.cut.current(NETWORK, host)
    expect(cut.height).toBe(800)
    expect(cut.hashes[CHAIN]).toEqual({ height: 400, hash: idOf(branch[400]) })
  })

  it('the chainweb client reads the peers of the cut', async () => {
    expect(await chainweb.cut.peers(NETWORK, host)).toEqual([])
    const peer = new Peer(host)
    for (const hostname of ['127.0.0.1', 'localhost']) {
      const body = JSON.stringify({ id: null, address: { hostname, port: Number(new URL(host).port) } })
      const headers = { 'content-type': 'application/json' }
      expect((await peer.request('PUT', `/chainweb/0.0/${NETWORK}/cut/peer`, { headers, body })).status).toBe(204)
    }
    peer.close()
    const names = (await chainweb.cut.peers(NETWORK, host)).map(({ address }) => address.hostname)
    expect(names).toEqual(['localhost', '127.0.0.1'])
  })
})

describe('chainweb reads headers', () => {
  it('the chainweb client reads headers by hash and by height', async () => {
    for (const height of [0, 7, 400]) {
      const id = idOf(branch[height])
      expect((await chainweb.header.blockHash(CHAIN, id, NETWORK, host)).hash).toBe(id)
      const found = await chainweb.header.height(CHAIN, height, NETWORK, host)
      expect(found.hash).toEqual(id)
      expect(found.height).toEqual(height)
      expect(found.chainId).toBe(CHAIN)
    }
  })

  it('the chainweb client reads headers of a range, over more than one page', async () => {
    expect(hashes(await chainweb.header.range(CHAIN, 10, 395, NETWORK, host))).toEqual(idsFrom(10, 395))
  })

  it('the chainweb client reads recent headers at a depth', async () => {
    expect(hashes(await chainweb.header.recent(CHAIN, 3, 5, NETWORK, host))).toEqual(idsFrom(393, 397))
    expect(hashes(await chainweb.header.recent(CHAIN, 0, 370, NETWORK, host))).toEqual(idsFrom(31, 400))
  })

  it('the chainweb client reads headers of branches between bounds, as objects and as text', async () => {
    const [upper, lower] = [idOf(branch[390]), idOf(branch[380])]
    const headers = await chainweb.internal.branch(CHAIN, [upper], [lower], null, null, null, 'json', NETWORK, host)
    expect(hashes(headers)).toEqual(idsFrom(381, 390))
    const texts = await chainweb.internal.branch(CHAIN, [upper], [lower], null, null, null, 'binary', NETWORK, host)
    expect(texts.map((text) => Buffer.from(text as unknown as string, 'base64url').subarray(-32))).toEqual(
      branch.slice(381, 391).map(({ hash }) => Buffer.from(hash)),
    )
    const page = await chainweb.internal.branchPage(CHAIN, [upper], [], 385, 388, 2, null, 'json', NETWORK, host)
    expect(page.limit).toBe(2)
    expect(page.next).toBe(`inclusive:${idOf(branch[386])}`)
    expect(hashes(page.items)).toEqual(idsFrom(387, 388).reverse())
  })
})

describe('chainweb reads', () => {
  it('the chainweb client reads payloads in a batch', async () => {
    const wanted = branch.slice(392, 397).map(({ payloadHash }) => Buffer.from(payloadHash).toString('base64url'))
    const payloads = await chainweb.internal.payloads(CHAIN, wanted, 'json', NETWORK, host)
    expect(payloads.map(({ payloadHash }) => payloadHash)).toEqual(wanted)
    expect(payloads[0].minerData).toEqual({ account: 'miner', predicate: 'keys-all', 'public-keys': [] })
    expect(payloads[3].transactions).toEqual([{ transaction: { ...command, cmd: JSON.parse(command.cmd) }, output }])
  })

  it('the chainweb client reads blocks by hash, by height, of a range, and recent ones', async () => {
    const id = idOf(branch[395])
    const block = await chainweb.block.blockHash(CHAIN, id, NETWORK, host)
    expect(block.header.hash).toEqual(id)
    expect(block.payload.payloadHash).toEqual(block.header.payloadHash)
    expect((await chainweb.block.height(CHAIN, 395, NETWORK, host)).payload.transactions).toHaveLength(1)
    const range = await chainweb.block.range(CHAIN, 20, 25, NETWORK, host)
    expect(hashes(range.map(({ header }) => header))).toEqual(idsFrom(20, 25))
    const recent = await chainweb.block.recent(CHAIN, 2, 3, NETWORK, host)
    expect(hashes(recent.map(({ header }) => header))).toEqual(idsFrom(396, 398))
  })

  it('the chainweb client reads transactions and events of blocks', async () => {
    const transactions = await chainweb.transaction.recent(CHAIN, 0, 10, NETWORK, host)
    expect(transactions.map(({ height, output }) => [height, output])).toEqual([[395, output]])
    expect(output.events).toHaveLength(2)
    const events = output.events.map((event) => ({ ...event, height: 395 }))
    expect(await chainweb.event.height(CHAIN, 395, NETWORK, host)).toEqual(events)
    expect(await chainweb.transaction.height(CHAIN, 394, NETWORK, host)).toEqual([])
  })
})

it('the chainweb client reads the header stream at a depth', async () => {
  const seen: HeaderObject[] = []
  let changed: () => void = () => undefined
  const stream = chainweb.header.stream(
    1,
    [CHAIN],
    (header) => {
      seen.push(header)
      changed()
    },
    NETWORK,
    host,
  )
  try {
    await new Promise((resolve) => stream.addEventListener('open', resolve))
    const made = []
    for (let i = 0; i < 4; i++) {
      made.push(growCut(devnet, CHAIN).header)
      growCut(devnet, 0)
    }
    while (seen.length < 3) {
      await new Promise<void>((resolve) => {
        changed = resolve
      })
    }
    // A depth of 1 holds the newest block back.
    expect(hashes(seen)).toEqual(made.slice(0, 3).map(idOf))
  } finally {
    stream.close()
  }
})

it('the chainweb client reads streams of blocks, transactions and events', async () => {
  const blocks: string[] = []
  const transactions: unknown[] = []
  const events: string[] = []
  const open = [
    chainweb.block.stream(0, [CHAIN], ({ header }) => void blocks.push(header.hash), NETWORK, host),
    chainweb.transaction.stream(0, [CHAIN], ({ transaction }) => void transactions.push(transaction), NETWORK, host),
    chainweb.event.stream(0, [CHAIN], ({ name, height }) => void events.push(`${name} ${height}`), NETWORK, host),
  ]
  try {
    await Promise.all(open.map((stream) => new Promise((resolve) => stream.addEventListener('open', resolve))))
    const sent = transfer('sender01', 2.5, { chainId: `${CHAIN}` })
    const made = [[sent], []].map((commands) => {
      const { header } = growCut(devnet, CHAIN, { commands })
      growCut(devnet, 0)
      return header
    })
    await until(() => blocks.length >= 2 && transactions.length >= 1 && events.length >= 2)
    expect(blocks.toSorted()).toEqual(made.map(idOf).toSorted())
    expect(transactions).toEqual([{ ...sent, cmd: JSON.parse(sent.cmd) }])
    const { height } = made[0]
    expect(events).toEqual([`TRANSFER ${height}`, `TRANSFER ${height}`])
  } finally {
    for (const stream of open) stream.close()
  }
})
