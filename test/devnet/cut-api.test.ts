import net, { type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { encodeHeader, encodeWork, type Header } from '../../src/ground/chain/header.ts'
import { payloadHashes } from '../../src/ground/chain/payload.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { transfer } from './commands-common.ts'
import { brief, JSON_TYPE, jsonOf, OBJECTS, PREFIX, type Started, start, TEXT } from './common.ts'
import { Fork, growCut, idOf, makeBlock } from './forks.ts'
import { listenAt } from './listeners.ts'
import { localValue } from './local.ts'

const fast = { graph: 'pair', pow: false, difficulty: 1n } as const

/**
 * Wall clocks have whole milliseconds, so the clocks of two nodes differ by up to one. A node refuses a block from its
 * future. This clock has so few binary digits that its wall time is the monotonic time plus a constant.
 */
const monotonicMs = () => Math.floor(systemClock.monotonicMs() * 1024) / 1024
const startMs = Math.floor(systemClock.wallMs() - monotonicMs())
const exactClock = { ...systemClock, monotonicMs, wallMs: () => startMs + monotonicMs() }

/** A node that exchanges blocks with others; all of them read the same clock. */
const startFast = () => start(fast, { clock: exactClock })
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const text = (bytes: Uint8Array = new Uint8Array()) => Buffer.from(bytes).toString()

const put = ({ peer }: Started, path: string, body: unknown) =>
  peer.request('PUT', `${PREFIX}/${path}`, {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const peerAt = (url: string, hostname = '127.0.0.1') => ({
  id: null,
  address: { hostname, port: Number(new URL(url).port) },
})

/** A node that has itself as a peer, and the origin entry with which it accepts cuts. */
async function startWithPeer() {
  const started = await startFast()
  const origin = peerAt(started.devnet.url)
  expect(brief(await put(started, 'cut/peer', origin))).toEqual([204, undefined, ''])
  return { ...started, origin }
}

const payloadJson = (payload: StoredPayload) => ({
  transactions: payload.transactions.map(({ transaction, output }) => [base64(transaction), base64(output)]),
  minerData: base64(payload.minerData),
  coinbase: base64(payload.coinbase),
  transactionsHash: base64(payload.transactionsHash),
  outputsHash: base64(payload.outputsHash),
  payloadHash: base64(payload.payloadHash),
})

/** A payload whose hashes match its parts. */
const sealedPayload = (payload: StoredPayload): StoredPayload => ({ ...payload, ...payloadHashes(payload) })

/** Blocks in the format of a cut. */
const blocksJson = (blocks: readonly { readonly header: Header; readonly payload: StoredPayload }[]) => ({
  headers: Object.fromEntries(blocks.map(({ header }) => [idOf(header), base64(encodeHeader(header))])),
  payloads: Object.fromEntries(blocks.map(({ payload }) => [base64(payload.payloadHash), payloadJson(payload)])),
})

/** The body of a cut with these heads. The node computes weight and height itself. */
function cutOf(heads: Iterable<Header>, more: object) {
  const hashes = [...heads].map((head) => [head.chainId, { height: Number(head.height), hash: idOf(head) }])
  return { hashes: Object.fromEntries(hashes), weight: 'A'.repeat(43), height: 0, ...more }
}

const headsOf = async ({ peer }: Started) => {
  const { hashes } = jsonOf(await peer.get(`${PREFIX}/cut`))
  return Object.values(hashes as Record<string, { hash: string }>).map(({ hash }) => hash)
}

describe('PUT cut', () => {
  it('PUT cut needs an origin that is a known peer', async () => {
    const started = await start(fast)
    const heads = [...started.devnet.chains.cut.values()]
    for (const origin of [{}, { origin: null }]) {
      expect(brief(await put(started, 'cut', cutOf(heads, origin)))).toEqual([
        400,
        TEXT,
        'Cut is missing an origin entry',
      ])
    }
    const origin = peerAt(started.devnet.url)
    const body = cutOf(heads, { origin })
    expect(brief(await put(started, 'cut', body))).toEqual([401, TEXT, 'Unknown peer'])
    expect((await put(started, 'cut/peer', origin)).status).toBe(204)
    expect(brief(await put(started, 'cut', body))).toEqual([204, undefined, ''])
  })

  it('PUT cut refuses malformed bodies with 400 and other media types with 415', async () => {
    const started = await start(fast)
    const body = cutOf(started.devnet.chains.cut.values(), { origin: peerAt(started.devnet.url) })
    for (const wrong of ['', '{}', '[]', 'x', { ...body, hashes: { a: 1 } }, { ...body, origin: { id: 1 } }]) {
      const [status, type, message] = brief(await put(started, 'cut', wrong))
      expect(status).toBe(400)
      expect(type).toBe(TEXT)
      expect(message).toMatch(/^Error in the request body: ./)
    }
    const other = await started.peer.request('PUT', `${PREFIX}/cut`, { body: '{}' })
    expect(brief(other).slice(0, 2)).toEqual([415, TEXT])
  })

  it('PUT cut moves the node to a heavier cut of known blocks, but not to a lighter one', async () => {
    const started = await startWithPeer()
    const { devnet, origin } = started
    const fork = new Fork(devnet, 'fork')
    const before = growCut(devnet, 0)
    expect((await put(started, 'cut', cutOf(fork.cut.values(), { origin }))).status).toBe(204)
    expect(await headsOf(started)).toContain(idOf(before.header))
    for (const chain of [1, 0, 1]) fork.grow(chain)
    expect((await put(started, 'cut', cutOf(fork.cut.values(), { origin }))).status).toBe(204)
    expect(await headsOf(started)).toEqual([...fork.cut.values()].map(idOf))
  })

  it('PUT cut accepts the blocks in a cut, with headers as text or object, in any order', async () => {
    const source = await startFast()
    const started = await startWithPeer()
    const { origin } = started
    const made = [0, 1, 0, 1].map((chain) => growCut(source.devnet, chain))
    const object = jsonOf(
      await source.peer.get(`${PREFIX}/chain/0/header/${idOf(made[0].header)}`, { headers: { accept: OBJECTS } }),
    )
    const all = made.toReversed()
    const body = cutOf(source.devnet.chains.cut.values(), {
      origin,
      headers: Object.fromEntries(
        all.map(({ header }) => [idOf(header), header === made[0].header ? object : base64(encodeHeader(header))]),
      ),
      payloads: Object.fromEntries(all.map(({ payload }) => [base64(payload.payloadHash), payloadJson(payload)])),
    })
    expect(brief(await put(started, 'cut', body))).toEqual([204, undefined, ''])
    expect(await headsOf(started)).toEqual([...source.devnet.chains.cut.values()].map(idOf))
    const both = [source, started].map(async ({ peer }) => jsonOf(await peer.get(`${PREFIX}/chain/0/block`)))
    const [theirs, ours] = await Promise.all(both)
    expect(ours).toEqual(theirs)
    // Again: the node has all of these blocks already.
    expect((await put(started, 'cut', body)).status).toBe(204)
    expect(started.devnet.chains.store.size).toBe(2 + made.length)
  })

  it('PUT cut executes the blocks of another node, with the same results and balances', async () => {
    const source = await startFast()
    const started = await startWithPeer()
    const commands = [transfer('sender01', 1.5), transfer('sender02', 1e9)]
    const made = [[], [], commands].map((each, i) => growCut(source.devnet, i % 2, { commands: each }))
    const body = cutOf(source.devnet.chains.cut.values(), { origin: started.origin, ...blocksJson(made) })
    expect(brief(await put(started, 'cut', body))).toEqual([204, undefined, ''])
    const known = ({ devnet: { ledger } }: Started) => ({
      balances: ['sender00', 'sender01', 'sender02', 'miner'].map((account) =>
        localValue(ledger, 0, `(coin.get-balance "${account}")`),
      ),
      results: commands.map(({ hash }) => text(ledger.result(0, hash)?.output)),
    })
    expect(known(started)).toEqual(known(source))
    expect(known(started).balances[1]).toBe(110_000_001.5)
    expect(known(started).results[1]).toContain('Insufficient funds')
    // The other node accepts a block that this node makes on top of them.
    const next = growCut(started.devnet, 1, { commands: [transfer('sender01', 2, { chainId: '1' })] })
    expect(source.devnet.chains.add(next.header, { ...next.payload })).toMatchObject({ status: 'added' })
  })

  it('PUT cut refuses a block whose outputs do not match its transactions, and names it', async () => {
    const source = await startFast()
    const started = await startWithPeer()
    const { payload } = makeBlock(source.devnet, source.devnet.chains.cut, 0, { commands: [transfer('sender01', 1)] })
    const [{ transaction, output }] = payload.transactions
    const change = (bytes: Uint8Array, from: string, to: string) => {
      expect(text(bytes)).toContain(from)
      return Buffer.from(text(bytes).replace(from, to))
    }
    const unsigned = change(transaction, '"sig":"', '"sig":"00')
    for (const [parts, why] of [
      [
        { transactions: [{ transaction, output: change(output, 'Write succeeded', 'Write succeeds') }] },
        'the output of its transaction 0 is another one',
      ],
      [
        { coinbase: change(payload.coinbase, '"status":"success"', '"status":"failure"') },
        'the output of its reward is another one',
      ],
      [{ transactions: [{ transaction: unsigned, output }] }, /transaction 0: .*signature/],
      [
        { transactions: [{ transaction: Buffer.from('{}'), output }] },
        /transaction 0: the command must have required properties cmd, hash, sigs$/,
      ],
    ] as const) {
      const forged = sealedPayload({ ...payload, ...parts })
      const work = source.devnet.chains.newWork(0, forged.payloadHash)
      if ('blockedBy' in work) throw new Error('blocked')
      const header = { ...work, hash: blockHash(encodeWork(work)) }
      const heads = [header, ...[...started.devnet.chains.cut.values()].slice(1)]
      const body = cutOf(heads, { origin: started.origin, ...blocksJson([{ header, payload: forged }]) })
      const [status, type, message] = brief(await put(started, 'cut', body))
      expect(status, message).toBe(400)
      expect(type, message).toBe(TEXT)
      const start = `Invalid cut: block ${idOf(header)} breaks the rule of execution: `
      expect(message.slice(0, start.length)).toBe(start)
      expect(message.slice(start.length)).toMatch(why)
      expect(started.devnet.chains.store.size).toBe(2)
    }
  })

  it('PUT cut changes nothing if a block is missing, since this node fetches none', async () => {
    const source = await startFast()
    const started = await startWithPeer()
    const { origin } = started
    const [first, second] = [0, 1].map((chain) => growCut(source.devnet, chain))
    const before = await headsOf(started)
    const heads = source.devnet.chains.cut.values()
    const headers = { [idOf(first.header)]: base64(encodeHeader(first.header)) }
    const { coinbase: _, ...withoutOutputs } = payloadJson(first.payload)
    const payloads = {
      [withoutOutputs.payloadHash]: { ...withoutOutputs, transactions: [] },
    }
    for (const more of [{}, { headers }, { headers, payloads }]) {
      expect((await put(started, 'cut', cutOf(heads, { origin, ...more }))).status).toBe(204)
      expect(await headsOf(started)).toEqual(before)
      expect(started.devnet.chains.store.size).toBe(2)
    }
    const whole = { [withoutOutputs.payloadHash]: payloadJson(first.payload) }
    expect((await put(started, 'cut', cutOf(heads, { origin, headers, payloads: whole }))).status).toBe(204)
    // The second block is still missing.
    expect(await headsOf(started)).toEqual(before)
    expect(started.devnet.chains.store.size).toBe(3)
    expect(started.devnet.chains.store.byId(idOf(second.header))).toBeUndefined()
  })

  it('PUT cut says what is wrong with blocks and heads', async () => {
    const started = await startWithPeer()
    const { devnet, origin } = started
    const { header, payload } = makeBlock(devnet, devnet.chains.cut, 0)
    const heads = devnet.chains.cut.values()
    const ask = async (more: object, of: Iterable<Header> = heads) =>
      brief(await put(started, 'cut', cutOf(of, { origin, ...more })))
    const payloads = { x: payloadJson(payload) }
    const bad = { ...header, weight: header.weight + 1n }
    const [status, type, message] = await ask({ headers: { x: base64(encodeHeader(bad)) }, payloads })
    expect(status).toBe(400)
    expect(type).toBe(TEXT)
    expect(message).toBe(`Invalid cut: block ${idOf(bad)} breaks the rule of hash, weight`)
    expect((await ask({ headers: { x: 'AAAA' } }))[2]).toMatch(/^Invalid cut: header at offset 3: /)
    const garbled = { ...payloadJson(payload), coinbase: 'A' }
    expect((await ask({ payloads: { x: garbled } }))[2]).toMatch(/^Invalid cut: coinbase at offset 1: /)
    // A coinbase may hold any bytes.
    const other = { ...payloadJson(payload), coinbase: base64(Buffer.from('{"reqKey":7')) }
    expect((await ask({ headers: { x: base64(encodeHeader(header)) }, payloads: { x: other } }))[0]).toBe(204)
    const fork = new Fork(devnet, 'fork')
    const child = fork.grow(0)
    fork.grow(1)
    const grandchild = fork.grow(0)
    const [, one] = devnet.chains.cut.values()
    expect((await ask({}, [grandchild, one]))[2]).toBe('Invalid cut: the heads of chains 0 and 1 do not fit together')
    expect((await ask({}, [child, one]))[0]).toBe(204)
    expect(await headsOf(started)).toEqual([idOf(child), idOf(one)])
  })
})

describe('cut/peer', () => {
  const peersOf = async ({ peer }: Started, query = '') => jsonOf(await peer.get(`${PREFIX}/cut/peer${query}`))

  it('cut/peer lists peers that registered, each address once', async () => {
    const started = await start(fast)
    expect(await peersOf(started)).toEqual({ limit: 0, items: [], next: null })
    const first = peerAt(started.devnet.url)
    const second = peerAt(started.devnet.url, 'localhost')
    const id = 'B'.repeat(43)
    for (const body of [first, second, { ...first, id }]) {
      expect(brief(await put(started, 'cut/peer', body))).toEqual([204, undefined, ''])
    }
    const items = [{ ...first, id }, second]
    const answer = await started.peer.get(`${PREFIX}/cut/peer`)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe(JSON_TYPE)
    expect(jsonOf(answer)).toEqual({ limit: 2, items, next: null })
  })

  it('cut/peer refuses peers that it cannot reach, or that are not on this machine', async () => {
    const started = await start(fast)
    const free = net.createServer()
    const port = await new Promise<number>((resolve) => {
      free.listen(0, '127.0.0.1', () => resolve((free.address() as AddressInfo).port))
    })
    await new Promise((resolve) => free.close(resolve))
    const refused: [string, number, RegExp][] = [
      ['127.0.0.1', port, /^Invalid hostaddress: 127\.0\.0\.1:\d+ is not reachable: .*ECONNREFUSED/],
      ['10.0.0.1', 1848, /^Invalid hostaddress: 10\.0\.0\.1 is not this machine/],
      ['127.example.org', 1848, /^Invalid hostaddress: 127\.example\.org is not this machine/],
      ['0.0.0.0', 1848, /is not this machine/],
    ]
    for (const [hostname, port, why] of refused) {
      const [status, type, message] = brief(await put(started, 'cut/peer', { id: null, address: { hostname, port } }))
      expect(status, hostname).toBe(400)
      expect(type, hostname).toBe(TEXT)
      expect(message).toMatch(why)
    }
    expect((await peersOf(started)).items).toEqual([])
  })

  it('cut/peer refuses malformed peers with 400', async () => {
    const started = await start(fast)
    for (const body of [
      '',
      '{}',
      { id: 'x', address: { hostname: 'localhost', port: 1 } },
      { id: null, address: { hostname: 'localhost', port: 0 } },
    ]) {
      expect(brief(await put(started, 'cut/peer', body)).slice(0, 2)).toEqual([400, TEXT])
    }
    expect((await peersOf(started)).items).toEqual([])
  })

  it('cut/peer returns pages of 64, or of up to 512, with positions as cursors', async () => {
    const started = await start(fast)
    const count = 520
    const all = await listenAt(count)
    for (const peer of all) expect((await put(started, 'cut/peer', peer)).status).toBe(204)
    const page = await peersOf(started)
    expect(page.limit).toBe(64)
    expect(page.items).toEqual(all.slice(0, 64))
    expect(page.next).toBe('inclusive:64')
    const large = await peersOf(started, '?limit=100000')
    expect(large.limit).toBe(512)
    expect(large.items).toEqual(all.slice(0, 512))
    expect(large.next).toBe('inclusive:512')
    const rest = await peersOf(started, `?next=${large.next}`)
    expect(rest).toEqual({ limit: count - 512, items: all.slice(512), next: null })
    expect((await peersOf(started, '?next=exclusive:9&limit=2')).items).toEqual(all.slice(10, 12))
    expect(await peersOf(started, '?limit=0')).toEqual({ limit: 0, items: [], next: 'inclusive:0' })
    expect(await peersOf(started, '?next=inclusive:99999')).toEqual({ limit: 0, items: [], next: null })
    for (const query of ['?limit=x', '?next=5', '?next=inclusive:-1', `?next=inclusive:${'A'.repeat(43)}`]) {
      expect(brief(await started.peer.get(`${PREFIX}/cut/peer${query}`)).slice(0, 2)).toEqual([400, TEXT])
    }
  })
})
