import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signed } from './command.ts'
import { transfer } from './commands-common.ts'
import { BINARY, brief, CheckedPeer, JSON_TYPE, jsonOf, OBJECTS, PREFIX, TEXT } from './common.ts'
import { growCut, idOf, makeBlock } from './forks.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const UNKNOWN = 'A'.repeat(43)
const commands = [signed(), transfer('sender01', 2)]
const transactions = [
  { transaction: Buffer.from('{"cmd":"{}","sigs":[]}'), output: Buffer.from('{"gas":1}') },
  { transaction: Buffer.from([0, 255, 128]), output: Buffer.alloc(0) },
]
let devnet: Devnet
let peer: CheckedPeer
/** Payload hashes of chain 0: genesis, three blocks (the second with commands), and a block of arbitrary bytes. */
let keys: string[]

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 1n })
  peer = new CheckedPeer(devnet.url)
  for (let i = 0; i < 3; i++) {
    growCut(devnet, 0, i === 1 ? { commands } : {})
    growCut(devnet, 1)
  }
  // Inserted past all checks: no node would execute these transactions.
  const { header, payload } = makeBlock(devnet, devnet.chains.cut, 0, { transactions })
  devnet.chains.store.insert(header, payload)
  const page = jsonOf(await peer.get(`${PREFIX}/chain/0/header`, { headers: { accept: OBJECTS } }))
  keys = page.items.map(({ payloadHash }: { payloadHash: string }) => payloadHash)
})

afterAll(async () => {
  peer.close()
  await devnet.close()
})

const get = (path: string, accept?: string, chain = 0) =>
  peer.get(`${PREFIX}/chain/${chain}/payload/${path}`, accept === undefined ? {} : { headers: { accept } })
const post = (path: string, body: unknown, chain = 0) =>
  peer.request('POST', `${PREFIX}/chain/${chain}/payload/${path}`, {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const sha = (...parts: Uint8Array[]) => createHash('sha512-256').update(Buffer.concat(parts)).digest()
const leaf = (tag: number, bytes: Uint8Array) => sha(Buffer.from([0, 0, tag]), bytes)
const node = (left: Uint8Array, right: Uint8Array) => sha(Buffer.from([1]), left, right)
function root([first, ...rest]: Uint8Array[]): Uint8Array {
  if (rest.length === 0) return first
  let left = 1
  while (2 * left < rest.length + 1) left *= 2
  const all = [first, ...rest]
  return node(root(all.slice(0, left)), root(all.slice(left)))
}
const decode = (text: string) => Buffer.from(text, 'base64url')

describe('one payload', () => {
  it('one payload has the transactions of the block and the right hashes', async () => {
    for (const key of keys) {
      const answer = await get(key)
      expect(answer.status).toBe(200)
      expect(answer.headers['content-type']).toBe(JSON_TYPE)
      const plain = jsonOf(answer)
      const full = jsonOf(await get(`${key}/outputs`))
      const names = ['minerData', 'outputsHash', 'payloadHash', 'transactions', 'transactionsHash']
      expect(Object.keys(plain).sort()).toEqual(names)
      expect(Object.keys(full).sort()).toEqual(['coinbase', ...names])
      expect(plain).toEqual({
        transactions: full.transactions.map(([transaction]: [string]) => transaction),
        ...Object.fromEntries(names.filter((name) => name !== 'transactions').map((name) => [name, full[name]])),
      })
      const pairs: [string, string][] = full.transactions
      const inputs = root([leaf(0x17, decode(full.minerData)), ...pairs.map(([tx]) => leaf(0x13, decode(tx)))])
      const outputs = root([leaf(0x18, decode(full.coinbase)), ...pairs.map(([, out]) => leaf(0x14, decode(out)))])
      expect([full.transactionsHash, full.outputsHash].map(decode)).toEqual([inputs, outputs])
      expect(full.payloadHash).toEqual(key)
      expect(decode(full.payloadHash)).toEqual(node(inputs, outputs))
    }
    const { transactions: executed } = jsonOf(await get(`${keys[2]}/outputs`))
    const texts = commands.map(({ hash, sigs, cmd }) => JSON.stringify({ hash, sigs, cmd }))
    expect(executed.map(([transaction]: [string]) => `${decode(transaction)}`)).toEqual(texts)
    expect(executed.map(([, output]: string[]) => JSON.parse(`${decode(output)}`).reqKey)).toEqual(
      commands.map(({ hash }) => hash),
    )
    const { transactions: found } = jsonOf(await get(`${keys[4]}/outputs`))
    expect(found).toEqual(
      transactions.map(({ transaction, output }) => [transaction, output].map((bytes) => bytes.toString('base64url'))),
    )
  })

  it('one payload comes as bytes: counts and lengths are u64 BE, hashes stand at the end', async () => {
    const u64 = (value: number) => Buffer.from(value.toString(16).padStart(16, '0'), 'hex')
    const withLength = (bytes: Uint8Array) => Buffer.concat([u64(bytes.length), bytes])
    for (const key of [keys[0], keys[1], keys[2], keys[4]]) {
      const full = jsonOf(await get(`${key}/outputs`))
      const pairs = (full.transactions as [string, string][]).map((pair) => pair.map(decode))
      const hashes = [full.payloadHash, full.transactionsHash, full.outputsHash].map(decode)
      const plain = await get(key, BINARY)
      expect(plain.status).toBe(200)
      expect(plain.headers['content-type']).toBe(BINARY)
      expect(plain.body).toEqual(
        Buffer.concat([
          u64(pairs.length),
          ...pairs.map(([transaction]) => withLength(transaction)),
          withLength(decode(full.minerData)),
          ...hashes,
        ]),
      )
      const outputs = await get(`${key}/outputs`, BINARY)
      expect(outputs.status).toBe(200)
      expect(outputs.headers['content-type']).toBe(BINARY)
      expect(outputs.body).toEqual(
        Buffer.concat([
          u64(pairs.length),
          ...pairs.flatMap((pair) => pair.map(withLength)),
          withLength(decode(full.minerData)),
          withLength(decode(full.coinbase)),
          ...hashes,
        ]),
      )
    }
  })

  it('one payload is found on the chain of its block only; the payload of genesis on every chain', async () => {
    for (const path of ['', '/outputs']) {
      expect((await get(`${keys[0]}${path}`, undefined, 1)).status).toBe(200)
      for (const [key, chain] of [
        [keys[1], 1],
        [UNKNOWN, 0],
        [`${UNKNOWN.slice(1)}_`, 0],
        [idOf([...devnet.chains.cut.values()][0]), 0],
      ] as const) {
        for (const accept of [undefined, BINARY]) {
          const body = `{"reason":"key not found","key":"${key}"}`
          expect(brief(await get(`${key}${path}`, accept, chain))).toEqual([404, JSON_TYPE, body])
        }
      }
      expect((await get(`${keys[1]}${path}?height=1`)).status).toBe(200)
      expect(brief(await get(`${keys[1]}${path}?height=x`)).slice(0, 2)).toEqual([400, TEXT])
      expect(brief(await get(`${keys[1].slice(1)}${path}`)).slice(0, 2)).toEqual([400, TEXT])
      expect(brief(await get(`${keys[1]}${path}`, 'text/html'))).toEqual([406, undefined, ''])
      const elsewhere = brief(await get(`${keys[1]}${path}`, undefined, 2))
      expect(elsewhere).toEqual([404, TEXT, 'there is no chain 2: chains are 0 to 1'])
    }
  })
})

describe('batches', () => {
  it('a batch returns each existing payload once, for both forms of the body', async () => {
    for (const [path, suffix] of [
      ['batch', ''],
      ['outputs/batch', '/outputs'],
    ]) {
      const singles = await Promise.all(keys.map(async (key) => jsonOf(await get(`${key}${suffix}`))))
      const bodies: unknown[] = [keys, { hashes: keys }, { heights: [0, 1, 2, 3], hashes: keys }]
      for (const body of [...bodies, [UNKNOWN, ...keys, keys[1]]]) {
        const answer = await post(path, body)
        expect(answer.status).toBe(200)
        expect(answer.headers['content-type']).toBe(JSON_TYPE)
        expect(jsonOf(answer)).toEqual(singles)
      }
      expect(brief(await post(path, []))).toEqual([200, JSON_TYPE, '[]'])
      // On the other chain only the payload of genesis exists.
      expect(jsonOf(await post(path, keys, 1))).toEqual([singles[0]])
    }
  })

  it('a batch reads 1000 hashes and ignores the rest', async () => {
    const unknown = Array.from({ length: 999 }, () => UNKNOWN)
    expect(jsonOf(await post('batch', [...unknown, keys[1]]))).toHaveLength(1)
    expect(jsonOf(await post('batch', [UNKNOWN, ...unknown, keys[1]]))).toHaveLength(0)
    expect(jsonOf(await post('outputs/batch', { hashes: [UNKNOWN, ...unknown, keys[1]] }))).toHaveLength(0)
  })

  it('a batch refuses malformed bodies', async () => {
    for (const path of ['batch', 'outputs/batch']) {
      for (const body of [
        '',
        '{',
        '{}',
        '"x"',
        '[1]',
        `["${UNKNOWN}A"]`,
        '{"hashes":1}',
        '{"hashes":[],"heights":["x"]}',
      ]) {
        expect(brief(await post(path, body)).slice(0, 2), body).toEqual([400, TEXT])
      }
      const noType = await peer.request('POST', `${PREFIX}/chain/0/payload/${path}`, { body: '[]' })
      expect(brief(noType).slice(0, 2)).toEqual([415, TEXT])
      expect((await peer.get(`${PREFIX}/chain/0/payload/${path}`)).status).toBe(405)
    }
  })
})
