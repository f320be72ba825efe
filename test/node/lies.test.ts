/**
 * Wrong answers of a node, or of another server in its place: each gives a typed error, and the client continues to
 * work.
 */
import { expect, it } from 'vitest'
import {
  type NodeClient,
  NodeMisbehaved,
  NodeRefusal,
  type NotFound,
  UnreachableError,
} from '../../src/client/node/public.ts'
import { rotating } from '../rotation.ts'
import { type Answer, BINARY, failureOf, JSON_TYPE, json, PREFIX, startFakeNode } from './fake-node.ts'
import { blocksOf, devnet, headerText, mine } from './mined.ts'

const key = 'A'.repeat(43)
const weird =
  (type: string, body: string): Answer =>
  () => ({ headers: { 'content-type': type }, body })

/** Answers that are wrong for every endpoint. */
const garbage: readonly (readonly [string, Answer])[] = [
  ['nothing', () => ({ headers: { 'content-type': JSON_TYPE } })],
  ['truncated JSON', () => json('{"limit":1,"items":["AAAA')],
  ['another type', () => json('[[1,2],{"a":null}]')],
  ['null', () => json('null')],
  ['a number', () => json('17')],
  ['deep nesting', () => json('['.repeat(200_000).concat(']'.repeat(200_000)))],
  ['deep nesting with large integers', () => json(`${'[12345678901234567890,'.repeat(20_000)}1${']'.repeat(20_000)}`)],
  ['deep objects', () => json('{"items":'.repeat(100_000).concat('1', '}'.repeat(100_000)))],
  ['a web page', weird('text/html', '<html>Login</html>')],
  ['JSON by another name', weird('text/html', '{"limit":0,"items":[],"next":null}')],
  ['no UTF-8', () => ({ headers: { 'content-type': JSON_TYPE }, body: Uint8Array.of(0x22, 0xff, 0xfe, 0x22) })],
  ['text that commands a terminal', weird(JSON_TYPE, '\x1b[31mred\u202e\n\nsecret')],
  ['a type of kilobytes', weird('y'.repeat(8_000), '{}')],
  ['prototypes', () => json('{"__proto__":{"limit":0,"items":[],"next":null},"hashes":{"__proto__":1}}')],
  ['megabytes of wrong items', () => json(`{"limit":1,"items":[${'1,'.repeat(1_000_000)}1],"next":null}`)],
]

const calls: readonly (readonly [string, string, string, (client: NodeClient) => Promise<unknown>])[] = [
  ['cut', 'GET', '/cut', (client) => client.cut()],
  ['cutPeers', 'GET', '/cut/peer', (client) => client.cutPeers().all()],
  ['hashes', 'GET', '/chain/0/hash', (client) => client.hashes(0).all()],
  ['headers', 'GET', '/chain/0/header', (client) => client.headers(0).all()],
  ['headers', 'GET', '/chain/0/header', (client) => client.headers(0, { encoding: 'object' }).all()],
  ['header', 'GET', `/chain/0/header/${key}`, (client) => client.header(0, key, { encoding: 'object' })],
  ['headerBranch', 'POST', '/chain/0/header/branch', (client) => client.headerBranch(0, { upper: [key] }).all()],
  ['blocks', 'GET', '/chain/0/block', (client) => client.blocks(0).all()],
  ['payload', 'GET', `/chain/0/payload/${key}`, (client) => client.payload(0, key)],
  ['payloads', 'POST', '/chain/0/payload/batch', (client) => client.payloads(0, [key])],
  ['mempoolPending', 'POST', '/chain/0/mempool/getPending', (client) => client.mempoolPending(0)],
  ['mempoolMember', 'POST', '/chain/0/mempool/member', (client) => client.mempoolMember(0, [key])],
]

/** Each kind of garbage meets other calls first, so that a run has every call. */
it.each(garbage.map(([name, answer], i) => [name, answer, i] as const))(
  'every call refuses %s as an answer with NODE_MISBEHAVED',
  async (_name, answer, i) => {
    const { node, client } = await startFakeNode()
    const from = i % calls.length
    const all = [...calls.slice(from), ...calls.slice(0, from)]
    for (const [operation, method, path, call] of rotating(all, 4)) {
      node.onNetwork(method, path, answer)
      const error = await failureOf(call(client))
      expect(error, operation).toBeInstanceOf(NodeMisbehaved)
      expect(error).toMatchObject({ code: 'NODE_MISBEHAVED', operation, status: 200, retryable: false })
      expect((error as NodeMisbehaved).url).toBe(node.url + PREFIX + path)
      expect((error as NodeMisbehaved).excerpt.length).toBeLessThanOrEqual(200)
      expect(error.message.length).toBeLessThan(1_000)
      expect(error.message).not.toMatch(/\p{C}/u)
    }
  },
)

it('the client drops an endless body at the limit of its endpoint', async () => {
  const { node, client } = await startFakeNode()
  let sent = 0
  const flood: Answer = (_seen, response) => {
    sent = 0
    response.writeHead(200, { 'content-type': JSON_TYPE })
    const piece = ' '.repeat(256 * 1024)
    const more = () => {
      while (!response.destroyed) {
        sent += piece.length
        if (!response.write(piece)) break
      }
    }
    response.on('drain', more)
    more()
    return undefined
  }
  node.on('GET', '/health-check', flood)
  expect(await failureOf(client.healthCheck())).toMatchObject({ name: 'NodeMisbehaved', operation: 'healthCheck' })
  node.onNetwork('GET', '/chain/0/hash', flood)
  expect(await failureOf(client.hashes(0).all())).toMatchObject({ message: expect.stringContaining('4194304 bytes') })
  expect(sent).toBeLessThan(16 * 1024 * 1024)
  node.onNetwork('GET', '/chain/0/block', flood)
  expect(await failureOf(client.blocks(0).all())).toMatchObject({ message: expect.stringContaining('67108864 bytes') })
})

it('the client refuses to follow a redirection, and names its target', async () => {
  const { node, client } = await startFakeNode()
  node.onNetwork('GET', '/cut', () => ({ status: 307, headers: { location: 'http://127.0.0.1:9/cut' } }))
  const error = await failureOf(client.cut())
  expect(error).toBeInstanceOf(NodeRefusal)
  expect(error).toMatchObject({
    status: 307,
    message: expect.stringContaining('answered 307, a redirection to http://127.0.0.1:9/cut'),
    hint: expect.stringContaining('are not followed'),
  })
})

it('refusals with 408, 429, 502, 503 and 504 are retryable, others are not', async () => {
  const { node, client } = await startFakeNode()
  for (const status of [400, 401, 403, 404, 405, 408, 413, 415, 429, 500, 501, 502, 503, 504]) {
    node.onNetwork('GET', '/cut', () => ({ status, body: 'why' }))
    const retryable = [408, 429, 502, 503, 504].includes(status)
    expect(await failureOf(client.cut())).toMatchObject({ status, retryable, excerpt: 'why', operation: 'cut' })
  }
})

it('a timeout and a lost connection are retryable, and name the operation', async () => {
  const { node, client } = await startFakeNode()
  node.onNetwork('GET', '/cut', () => undefined)
  const error = await failureOf(client.cut({ timeoutMs: 50 }))
  expect(error).toBeInstanceOf(UnreachableError)
  expect(error).toMatchObject({ reason: 'timeout', retryable: true, operation: 'cut' })
  node.onNetwork('GET', '/cut', (_seen, response) => void response.destroy())
  expect(await failureOf(client.cut())).toMatchObject({ reason: 'disconnected', retryable: true })
})

it('the client refuses the header of another block or chain than it asked for', async () => {
  const mined = await devnet()
  await mine(mined.client, 2)
  const [, first, second] = blocksOf(mined.node, 0)
  const [, elsewhere] = blocksOf(mined.node, 1)
  const { node, client } = await startFakeNode()
  const path = `/chain/0/header/${second.id}`
  for (const wrong of [first, elsewhere]) {
    node.onNetwork('GET', path, () => ({ headers: { 'content-type': BINARY }, body: wrong.bytes }))
    expect(await failureOf(client.header(0, second.id))).toMatchObject({
      name: 'NodeMisbehaved',
      message: expect.stringContaining(`another header: ${wrong.id}`),
    })
  }
  for (const encoding of ['decoded', 'text', 'binary'] as const) {
    const items = [headerText(first), headerText(elsewhere)]
    node.onNetwork('GET', '/chain/0/header', () => json({ limit: 2, items, next: null }))
    expect(await failureOf(client.headers(0, { encoding }).all())).toMatchObject({
      name: 'NodeMisbehaved',
      message: expect.stringContaining('chain 1, not 0'),
    })
    node.onNetwork('GET', '/chain/0/header', () => json({ limit: 1, items: [items[0].slice(0, -4)], next: null }))
    expect(await failureOf(client.headers(0, { encoding }).all())).toMatchObject({ name: 'NodeMisbehaved' })
  }
  for (const body of [first.bytes.subarray(1), new Uint8Array(0), new Uint8Array(318)]) {
    node.onNetwork('GET', path, () => ({ headers: { 'content-type': BINARY }, body }))
    expect(await failureOf(client.header(0, second.id))).toBeInstanceOf(NodeMisbehaved)
  }
})

it('the client refuses work responses of wrong lengths', async () => {
  const { node, client } = await startFakeNode()
  const account = { account: 'a', predicate: 'b', publicKeys: [] }
  for (const length of [0, 4, 35, 36, 322]) {
    node.onNetwork('GET', '/mining/work', () => ({ headers: { 'content-type': BINARY }, body: new Uint8Array(length) }))
    expect(await failureOf(client.work(account))).toMatchObject({ name: 'NodeMisbehaved', operation: 'work' })
  }
})

it('messages, hints, keys and reasons stay short, whatever a node sends', async () => {
  const { node, client } = await startFakeNode()
  const weight = 'A'.repeat(43)
  for (const name of ['0'.repeat(1_000_000), 'x'.repeat(1_000_000)]) {
    node.onNetwork('GET', '/cut', () => json({ hashes: { [name]: 5 }, weight, height: 1 }))
    expect((await failureOf(client.cut())).message.length).toBeLessThan(1_000)
  }
  node.onNetwork('GET', '/cut', () => ({ status: 302, headers: { location: `http://x/${'y'.repeat(8_000)}` } }))
  expect(((await failureOf(client.cut())) as NodeRefusal).hint?.length).toBeLessThan(1_000)
  node.onNetwork('GET', '/cut', () => json({ key: 'k'.repeat(1_000_000), reason: '\x1b[2J'.repeat(1_000) }, 404))
  const { key: named, reason } = (await failureOf(client.cut())) as NotFound
  expect(named?.length).toBe(200)
  expect(reason.length).toBeLessThanOrEqual(200)
  expect(reason).not.toMatch(/\p{C}/u)
})
