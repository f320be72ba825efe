import { describe, expect, it, onTestFinished } from 'vitest'
import { randomFrom } from '../random.ts'
import { roundsOf } from '../rotation.ts'
import { merkleBlockHash } from './checker.ts'
import { BINARY, brief, type CheckedPeer, JSON_TYPE, jsonOf, PREFIX, sharedNode, start, TEXT } from './common.ts'
import { order, rewound } from './control-common.ts'
import {
  type Account,
  alice,
  askForWork,
  at,
  bob,
  chainOf,
  getWork,
  heightOf,
  isSolved,
  mineBlock,
  payloadOf,
  solve,
  submit,
  targetOf,
} from './miner.ts'
import { Peer } from './request.ts'

const twenty = rewound(sharedNode())
const pair = rewound(sharedNode({ graph: 'pair' }))

const now = () => BigInt(Date.now()) * 1000n

async function cutHeights(peer: CheckedPeer): Promise<number[]> {
  const { hashes } = jsonOf(await peer.get(`${PREFIX}/cut`))
  return Object.values(hashes as Record<string, { height: number }>).map(({ height }) => height)
}

/** Whether the chain has the block with these work bytes. */
async function isInChain(peer: CheckedPeer, work: Buffer): Promise<boolean> {
  const { status } = await peer.get(`${PREFIX}/chain/${chainOf(work)}/header/${merkleBlockHash(work)}`)
  expect([200, 404]).toContain(status)
  return status === 200
}

describe('mining/work', () => {
  it('mining/work is given even for an account that cannot be paid, with one warning for the operator', async () => {
    const notices: string[] = []
    const { peer } = await start({ onNotice: (message) => void notices.push(message) })
    const account = { ...alice, account: 'sender00' }
    const chains = [await getWork(peer, 1, { account }), await getWork(peer, 2, { account })].map(chainOf)
    await getWork(peer, 3)
    expect(chains).toEqual([1, 2])
    const why = 'account guards do not match'
    expect(notices).toEqual([`the reward of sender00 on chain 1 cannot be paid: ${why}`])
  })

  it('mining/work returns chain, target and 286 bytes of work with an open nonce', async () => {
    const { devnet, peer } = await twenty()
    const before = now()
    const answer = await askForWork(peer)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe(BINARY)
    expect(answer.body.length).toBe(322)
    const work = answer.body.subarray(36)
    expect(answer.body.readUInt32LE(0)).toBe(chainOf(work))
    expect(answer.body.subarray(4, 36)).toEqual(work.subarray(158, 190))
    expect(targetOf(work)).toBe((2n ** 256n - 1n) / 20n)
    expect(heightOf(work)).toBe(1)
    expect(work.readUInt16LE(48)).toBe(3)
    expect(work.readUInt32LE(266)).toBe(2)
    // One vote (1000 thousandths) for the first fork, and nonce 0.
    expect(work.readBigUInt64LE(0)).toEqual(1000n << 32n)
    expect(work.readBigUInt64LE(278)).toBe(0n)
    const time = work.readBigInt64LE(8)
    expect(time >= before && time <= now() + 1000n).toBe(true)
    const genesis = devnet.chains.cut.get(chainOf(work))
    expect(work.subarray(16, 48)).toEqual(Buffer.from(genesis?.hash ?? []))
  })

  it('mining/work honours the suggested chain, and falls back when it is blocked or does not exist', async () => {
    const { peer } = await twenty()
    for (let chain = 0; chain < 20; chain++) expect(chainOf(await getWork(peer, chain))).toBe(chain)
    const mined = await mineBlock(peer, 0)
    expect(chainOf(mined)).toBe(0)
    expect(heightOf(mined)).toBe(1)
    // Chain 0 waits for chains 5, 10 and 15.
    const seen = new Set<number>()
    for (let i = 0; i < 100; i++) seen.add(chainOf(await getWork(peer, 0)))
    expect(seen.has(0)).toBe(false)
    expect(seen.size).toBeGreaterThan(10)
    for (const chain of [5, 10, 15]) expect(chainOf(await mineBlock(peer, chain))).toBe(chain)
    expect(heightOf(await getWork(peer, 0))).toBe(2)
    expect((await askForWork(peer, 20)).status).toBe(200)
  })

  it('mining/work picks a random chain without a suggestion', async () => {
    const { peer } = await pair()
    const chains = new Set<number>()
    for (let i = 0; i < 60; i++) chains.add(chainOf(await getWork(peer)))
    expect([...chains].sort()).toEqual([0, 1])
  })

  it('mining/work names the block of each adjacent chain at the height of the parent', async () => {
    const { devnet, peer } = await pair()
    const genesis = Buffer.from(devnet.chains.cut.get(0)?.hash ?? [])
    await mineBlock(peer, 0)
    const work = await getWork(peer, 1)
    expect(work).toHaveLength(214)
    expect(work.readUInt16LE(48)).toBe(1)
    expect(work.readUInt32LE(50)).toBe(0)
    expect(work.subarray(54, 86)).toEqual(genesis)
  })

  it('mining/work refuses malformed requests', async () => {
    const { peer } = await pair()
    const url = `${PREFIX}/mining/work`
    const body = JSON.stringify(alice)
    const json = { 'content-type': 'application/json' }
    const ask = (headers: Record<string, string>, text: string, path = url) => peer.get(path, { headers, body: text })
    for (const headers of [{}, { 'content-type': BINARY }, { 'content-type': 'text/plain' }, { 'content-type': 'x' }]) {
      expect(brief(await ask(headers, body)).slice(0, 2)).toEqual([415, TEXT])
    }
    for (const type of ['application/json;charset=utf-8', 'Application/JSON ; charset=UTF-8']) {
      expect((await ask({ 'content-type': type }, body)).status).toBe(200)
    }
    const { predicate: _, ...incomplete } = alice
    const wrong = [{}, [], null, 'alice', incomplete, { ...alice, account: 7 }, { ...alice, 'public-keys': 'a11ce' }]
    for (const text of ['', '{', 'account', '\0', ...wrong.map((value) => JSON.stringify(value))]) {
      const [status, type, message] = brief(await ask(json, text))
      expect(status).toBe(400)
      expect(type).toBe(TEXT)
      expect(message).toMatch(/^Error in the request body: ./)
    }
    for (const chain of ['', 'x', '-1', '1.5', '1&chain=0', '1e1', '0x1']) {
      expect((await ask(json, body, `${url}?chain=${chain}`)).status).toBe(400)
    }
    expect(brief(await ask({ ...json, accept: 'application/json' }, body))).toEqual([406, undefined, ''])
    for (const accept of [BINARY, '*/*', 'application/*', `text/plain, ${BINARY};q=0.5`]) {
      expect((await ask({ ...json, accept }, body)).status).toBe(200)
    }
  })

  it('mining/work compares account, predicate and keys with the accounts that may mine', async () => {
    const account = { account: 'k:a11ce', predicate: 'keys-any', publicKeys: ['aa', 'bb'] }
    const { peer } = await start({ graph: 'pair', accounts: [{ ...account, account: 'other' }, account] })
    const known: Account = { account: 'k:a11ce', predicate: 'keys-any', 'public-keys': ['aa', 'bb'] }
    expect((await askForWork(peer, 0, { account: known })).status).toBe(200)
    // The order of the keys does not matter.
    expect((await askForWork(peer, 0, { account: { ...known, 'public-keys': ['bb', 'aa'] } })).status).toBe(200)
    const unknown: Account[] = [
      { ...known, account: 'a11ce' },
      { ...known, predicate: 'keys-all' },
      { ...known, 'public-keys': ['aa'] },
      { ...known, 'public-keys': [] },
      { ...known, 'public-keys': ['aa', 'bb', 'cc'] },
      { ...known, 'public-keys': ['aa,bb'] },
    ]
    for (const stranger of unknown) {
      const expected = [403, TEXT, `Unauthorized Miner: ${stranger.account}`]
      expect(brief(await askForWork(peer, 0, { account: stranger }))).toEqual(expected)
    }
  })

  it('mining/work keeps a limited number of payloads, and drops old ones when the chain moves on', async () => {
    const { peer } = await start({ graph: 'singleton', workLimit: 3 })
    const miner = (i: number) => ({ account: { ...alice, account: `miner ${i}` } })
    const works: Buffer[] = []
    for (let i = 0; i < 3; i++) works.push(await getWork(peer, 0, miner(i)))
    expect(brief(await askForWork(peer, 0, miner(3)))).toEqual([503, TEXT, 'Too many work requests'])
    // A repeated request renews the same work and takes no additional room.
    for (let i = 0; i < 3; i++) expect(payloadOf(await getWork(peer, 0, miner(i)))).toBe(payloadOf(works[i]))
    expect((await askForWork(peer, 0, miner(3))).status).toBe(503)
    expect((await submit(peer, solve(works[0]))).status).toBe(200)
    for (let i = 3; i < 6; i++) expect(heightOf(await getWork(peer, 0, miner(i)))).toBe(2)
    expect((await askForWork(peer, 0, miner(6))).status).toBe(503)
  })

  it('mining/work has one payload for each parent and miner', async () => {
    const { peer } = await pair()
    const first = payloadOf(await getWork(peer, 0))
    expect(payloadOf(await getWork(peer, 0))).toBe(first)
    const seen = new Set([first, payloadOf(await getWork(peer, 1))])
    for (const account of [bob, { ...alice, predicate: 'keys-any' }, { ...alice, 'public-keys': ['a11ce', 'b0b'] }]) {
      seen.add(payloadOf(await getWork(peer, 0, { account })))
    }
    for (const chain of [0, 1, 0]) seen.add(payloadOf(await mineBlock(peer, chain)))
    seen.add(payloadOf(await getWork(peer, 1)))
    // The blocks at height 1 have the payloads that the node handed out.
    expect(seen.size).toBe(7)
  })
})

describe('mining/solved', () => {
  it('mining/solved accepts a solution with an empty 200, and adds the block', async () => {
    const { peer, additions } = await twenty()
    const work = solve(await getWork(peer, 7))
    expect(brief(await submit(peer, work))).toEqual([200, JSON_TYPE, ''])
    expect(await isInChain(peer, work)).toBe(true)
    expect((await cutHeights(peer))[7]).toBe(1)
    expect(additions.map(({ status }) => status)).toEqual(['added'])
  })

  it('mining/solved refuses bytes that are not work, and says why', async () => {
    const { peer } = await twenty()
    const work = solve(await getWork(peer, 0))
    const count = Buffer.from(work)
    count.writeUInt16LE(2, 48)
    for (const wrong of [Buffer.alloc(0), work.subarray(1), Buffer.concat([work, Buffer.alloc(32)]), count]) {
      const [status, type, message] = brief(await submit(peer, wrong))
      expect(status).toBe(400)
      expect(type).toBe(TEXT)
      expect(message).toMatch(/^Decoding error: \w+ at offset \d+: ./)
    }
    // None of these requests has consumed the work.
    expect((await submit(peer, work)).status).toBe(200)
    const typed = { headers: { 'content-type': 'application/json' }, body: work }
    expect((await peer.request('POST', `${PREFIX}/mining/solved`, typed)).status).toBe(415)
  })

  it('mining/solved refuses a wrong hash, and forgets the work until it is requested again', async () => {
    const { peer } = await twenty()
    const work = await getWork(peer, 3)
    expect(brief(await submit(peer, solve(work, true)))).toEqual([400, TEXT, 'Invalid solved work: Invalid POW hash'])
    const solved = solve(work)
    const gone = [404, TEXT, 'No associated Payload']
    expect(brief(await submit(peer, solved))).toEqual(gone)
    expect(await isInChain(peer, solved)).toBe(false)
    await getWork(peer, 3)
    expect((await submit(peer, solved)).status).toBe(200)
    expect(await isInChain(peer, solved)).toBe(true)
    expect(brief(await submit(peer, solved))).toEqual(gone)
    const other = Buffer.from(await getWork(peer, 5))
    other.fill(1, at.payloadHash(other), at.payloadHash(other) + 32)
    expect(brief(await submit(peer, solve(other)))).toEqual(gone)
  })

  it('mining/solved forgets a payload after its lifetime', async () => {
    const { devnet } = await start({ workLifetimeMs: 100_000 })
    // The node's clock is ahead, and its answers show that time, so the peer checks no timestamps.
    const peer = new Peer(devnet.url)
    onTestFinished(() => peer.close())
    const old = solve(await getWork(peer, 0))
    const renewed = solve(await getWork(peer, 1))
    await order(peer, '/devnet/clock', { advanceMs: 60_000 })
    await getWork(peer, 1)
    await order(peer, '/devnet/clock', { advanceMs: 50_000 })
    expect(brief(await submit(peer, old))).toEqual([404, TEXT, 'No associated Payload'])
    expect((await submit(peer, renewed)).status).toBe(200)
  })

  it('mining/solved answers 200 to a solution that is too late', async () => {
    const { peer, additions } = await twenty()
    const first = solve(await getWork(peer, 4))
    const second = solve(await getWork(peer, 4, { account: bob }))
    expect((await submit(peer, first)).status).toBe(200)
    expect(brief(await submit(peer, second))).toEqual([200, JSON_TYPE, ''])
    expect(await isInChain(peer, first)).toBe(true)
    expect(await isInChain(peer, second)).toBe(false)
    expect(additions.map(({ status }) => status)).toEqual(['added', 'stale'])
  })

  it('mining/solved accepts work whose adjacent chains have moved on by one block', async () => {
    const { peer, additions } = await twenty()
    const work = solve(await getWork(peer, 0))
    for (const chain of [5, 10, 15, 1]) await mineBlock(peer, chain)
    expect((await submit(peer, work)).status).toBe(200)
    expect(await isInChain(peer, work)).toBe(true)
    expect(additions.map(({ status }) => status)).toEqual(Array(5).fill('added'))
  })

  it('mining/solved answers 200 to a block that breaks a rule, and keeps it out of the chain', async () => {
    const { devnet, peer, additions } = await pair()
    // Chain 0 has the later head.
    await mineBlock(peer, 1)
    await mineBlock(peer, 0)
    const timeOf = (chain: number) => devnet.chains.cut.get(chain)?.creationTime ?? 0n
    const time = (value: bigint) => (work: Buffer) => work.writeBigInt64LE(value, at.creationTime())
    const flip = (index: (work: Buffer) => number) => (work: Buffer) => {
      work[index(work)] ^= 1
    }
    const target = (work: Buffer, high: number) => work.fill(high, at.target(work), at.target(work) + 32)
    const cases: [string, (work: Buffer) => unknown, chain?: number][] = [
      ['future', time(now() + 60_000_000n)],
      ['creationTime', time(timeOf(0))],
      ['creationTime', time(timeOf(0)), 1],
      ['creationTime', time(timeOf(1))],
      ['target', (work) => target(work, 0xff)],
      ['target', flip(at.target)],
      ['forkNumber', flip(() => 0)],
      ['forkVotes', flip(() => 4)],
      ['weight', flip((work) => at.chain(work) + 4)],
      ['height', flip(at.height)],
      ['version', flip((work) => at.nonce(work) - 12)],
      ['epochStart', flip((work) => at.nonce(work) - 8)],
      ['stale', flip(at.parent)],
      ['stale', flip(() => 54)],
    ]
    for (const [rule, tamper, chain = 0] of cases) {
      const work = Buffer.from(await getWork(peer, chain))
      tamper(work)
      const solved = solve(work)
      expect(brief(await submit(peer, solved)), rule).toEqual([200, JSON_TYPE, ''])
      const addition = additions.pop()
      expect(addition).toMatchObject(rule === 'stale' ? { status: rule } : { status: 'invalid' })
      if (addition?.status === 'invalid') expect(addition.rules).toContain(rule)
      expect(await isInChain(peer, solved)).toBe(false)
      expect(await cutHeights(peer)).toEqual([1, 1])
    }
    // One microsecond later than both parents is enough.
    const work = Buffer.from(await getWork(peer, 0))
    time(timeOf(0) + 1n)(work)
    const solved = solve(work)
    expect((await submit(peer, solved)).status).toBe(200)
    expect(await isInChain(peer, solved)).toBe(true)
  })

  it("mining/solved keeps out a block with another block's payload", async () => {
    const { peer, additions } = await pair()
    const work = Buffer.from(await getWork(peer, 0))
    const other = await getWork(peer, 1)
    other.copy(work, at.payloadHash(work), at.payloadHash(other), at.payloadHash(other) + 32)
    const solved = solve(work)
    expect((await submit(peer, solved)).status).toBe(200)
    expect(additions).toEqual([{ status: 'invalid', rules: ['payload'] }])
    expect(await isInChain(peer, solved)).toBe(false)
  })

  it('mining/solved answers any bytes with 200 or a known error', async () => {
    const { peer } = await pair()
    const random = randomFrom(6)
    const work = await getWork(peer, 0)
    for (let i = 0; i < roundsOf(300, 60); i++) {
      const bytes = Buffer.from(i % 3 === 0 ? work : Buffer.alloc(Math.floor(random() * 600)))
      for (let k = 0; k < 4 && bytes.length > 0; k++) bytes[Math.floor(random() * bytes.length)] = random() * 256
      const { status, body } = await submit(peer, bytes)
      const isKnown = status === 200 || (status === 404 && `${body}` === 'No associated Payload')
      expect(isKnown || (status === 400 && /^(Decoding error|Invalid solved work): ./.test(`${body}`))).toBe(true)
      if (status !== 404) await getWork(peer, 0)
    }
    expect(await cutHeights(peer)).toEqual([0, 0])
    await mineBlock(peer, 0)
    expect(await cutHeights(peer)).toEqual([1, 0])
  })
})

describe('without proof of work', () => {
  it('any nonce solves work of a network without proof of work, and targets never change', async () => {
    const target = (2n ** 256n - 1n) / 2n ** 200n
    const { devnet, peer, additions } = await start({ graph: 'singleton', pow: false, difficulty: 2n ** 200n })
    const targets = new Set<bigint>()
    for (let height = 1; height <= 30; height++) {
      const work = await getWork(peer, 0)
      work.writeBigUInt64LE(BigInt(height), at.nonce(work))
      expect(isSolved(work)).toBe(false)
      expect((await submit(peer, work)).status).toBe(200)
      targets.add(targetOf(work))
    }
    expect(additions.map(({ status }) => status)).toEqual(Array(30).fill('added'))
    expect(await cutHeights(peer)).toEqual([30])
    expect([...targets]).toEqual([target])
    expect(devnet.chains.cut.get(0)?.weight).toBe(30n * ((2n ** 256n - 1n) / target))
    // All other rules still apply.
    const work = await getWork(peer, 0)
    work.writeBigInt64LE(now() + 60_000_000n, at.creationTime())
    expect((await submit(peer, work)).status).toBe(200)
    expect(additions.pop()).toEqual({ status: 'invalid', rules: ['future'] })
  })
})
