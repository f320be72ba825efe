/** Answers have a maximum size, however large the blocks are. */
import { beforeAll, expect, it } from 'vitest'
import { MAX_PAGE_BYTES } from '../../src/devnet/http/routes/chain.ts'
import { MAX_BATCH_LENGTH } from '../../src/devnet/http/routes/payload.ts'
import { signed } from './command.ts'
import { brief, CheckedPeer, jsonOf, PREFIX, TEXT } from './common.ts'
import { growCut } from './forks.ts'
import type { Answer } from './request.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const BLOCKS = 17
const BLOCK_BYTES = 1_500_000

let devnet: Devnet
let peer: CheckedPeer

/** Blocks with one large transaction each, as peers could send them. */
beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', pow: false, nodeRelease: '2.32' })
  peer = new CheckedPeer(devnet.url)
  for (let i = 0; i < BLOCKS; i++) {
    // A meaningless proof, which costs no gas in release 2.32.
    const cont = { pactId: 'p', step: 1, rollback: false, proof: `${i % 10}`.repeat(BLOCK_BYTES), data: {} }
    growCut(devnet, 0, { commands: [signed({}, { payload: { cont } })] })
  }
  return async () => {
    peer.close()
    await devnet.close()
  }
})

const hashesOf = (items: { header: { hash: string } }[]) => items.map(({ header }) => header.hash)

/** Reads all pages. All but the last must exceed the limit, by one block at most. */
async function allPages(ask: (query: string) => Promise<Answer>): Promise<string[]> {
  const hashes: string[] = []
  for (let query = ''; ; ) {
    const answer = await ask(query)
    const { limit, items, next } = jsonOf(answer)
    expect(limit).toBe(items.length)
    expect(answer.body.length).toBeLessThan(MAX_PAGE_BYTES + 1.5 * BLOCK_BYTES)
    hashes.push(...hashesOf(items))
    if (next === null || !next.startsWith('inclusive:')) return hashes
    expect(answer.body.length).toBeGreaterThan(MAX_PAGE_BYTES)
    query = `?next=${next}`
  }
}

it('a page of large blocks ends early, and the next one continues there', async () => {
  const { items } = jsonOf(await peer.get(`${PREFIX}/chain/0/hash`))
  expect(items).toHaveLength(BLOCKS + 1)
  const path = `${PREFIX}/chain/0/block`
  expect(await allPages((query) => peer.get(path + query))).toEqual(items)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ upper: [items[BLOCKS]] })
  const branch = await allPages((query) => peer.request('POST', `${path}/branch${query}`, { headers, body }))
  expect(branch).toEqual(items.toReversed())
})

it('a batch that exceeds the answer limit is refused', async () => {
  const accept = 'application/json;blockheader-encoding=object'
  const { items } = jsonOf(await peer.get(`${PREFIX}/chain/0/header`, { headers: { accept } }))
  const keys = items.map(({ payloadHash }: { payloadHash: string }) => payloadHash)
  const batch = (body: readonly string[], path: string) =>
    peer.request('POST', `${PREFIX}/chain/0/payload/${path}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  for (const path of ['batch', 'outputs/batch']) {
    expect(brief(await batch(keys, path))).toEqual([
      400,
      TEXT,
      `the answer would exceed ${MAX_BATCH_LENGTH} bytes; ask for fewer payloads at once`,
    ])
    expect(jsonOf(await batch(keys.slice(0, 10), path))).toHaveLength(10)
  }
})
