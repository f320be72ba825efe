import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { decodeWork, encodeWork } from '../../src/ground/chain/header.ts'
import { roundsOf } from '../rotation.ts'
import { until } from '../wait.ts'
import { checkChains, checkNode } from './checker.ts'
import { fetchChains } from './checker-fetch.ts'
import { exec, send } from './commands-common.ts'
import { jsonOf, PREFIX, type Started, sharedNode, start as startNode } from './common.ts'
import { order, post, refusal, rewound, sum } from './control-common.ts'
import { makeBlock } from './forks.ts'
import { getWork, mineBlock, solve, submit } from './miner.ts'
import { OpenResponse, Peer } from './request.ts'
import type { Devnet, DevnetOptions } from './whole-node.ts'

const start = async (options: DevnetOptions) => controlled(await startNode(options))

/** A network as new, which the tests of refusals share. */
const shared = rewound(sharedNode({ pow: false }))
const twenty = async () => controlled(await shared())

function controlled({ devnet, additions }: Started) {
  const peer = new Peer(devnet.url)
  onTestFinished(() => peer.close())
  return { devnet, peer, additions }
}

const heightsOf = ({ chains }: Devnet) =>
  Object.fromEntries([...chains.cut].map(([chain, { height }]) => [chain, Number(height)]))
const all = (chains: number, count: number) => Object.fromEntries(Array.from({ length: chains }, (_, i) => [i, count]))

describe('make-blocks', () => {
  it.each(['/devnet/make-blocks', '/make-blocks'])(
    '/devnet/make-blocks with %s grows a chain, and others if necessary',
    async (path) => {
      const { devnet, peer, additions } = await start({ graph: 'petersen', pow: false })
      // Chains at distance 1 (2, 3, 5) must reach 4, all others (distance 2) 3.
      const made = { 0: 5, 1: 3, 2: 4, 3: 4, 4: 3, 5: 4, 6: 3, 7: 3, 8: 3, 9: 3 }
      expect(await order(peer, path, { 0: 5 })).toEqual({ made, blocks: expect.any(Object), heights: made })
      expect(heightsOf(devnet)).toEqual(made)
      expect(additions.map(({ status }) => status)).toEqual(Array(sum(made)).fill('added'))
      // Chain 4 reaches height 4, for which no other chain has to grow. Chain 0 grows by 0 blocks.
      const again = await order(peer, path, { 4: 1, 0: 0 })
      expect(again).toEqual({ made: { 4: 1 }, blocks: { 4: [expect.any(Object)] }, heights: { ...made, 4: 4 } })
      const report = await checkNode({ url: devnet.url, pow: false, adjusts: false })
      expect(report).toEqual({ headers: 10 + sum(made) + 1, violations: [] })
    },
  )

  it('make-blocks reaches its goal beside automatic mining, while a command takes its time', async () => {
    const autoMine = { kind: 'on-arrival', confirmations: 2 } as const
    const { devnet, peer } = await start({ graph: 'petersen', pow: false, autoMine })
    for (let round = 1; round <= roundsOf(3, 1); round++) {
      const slow = exec(`(length (map (+ ${round}) (enumerate 0 20000)))`, { gasLimit: 150_000 })
      expect((await send(peer, [slow])).status).toBe(200)
      // Both begin with chain 0. The second finds it grown, and waiting for its neighbours.
      const before = devnet.cut.get(0)?.height ?? 0n
      await order(peer, '/make-blocks', all(10, 1))
      expect(devnet.cut.get(0)?.height).toBeGreaterThan(before)
    }
  })

  it('make-blocks makes blocks that keep every rule of proof of work, and miners continue from there', async () => {
    const { devnet, peer } = await start({ graph: 'pair', difficulty: 50n, blockDelayMs: 5 })
    expect((await order(peer, '/make-blocks', { 0: 30, 1: 26 })).heights).toEqual({ 0: 30, 1: 29 })
    await mineBlock(peer, 1)
    expect(heightsOf(devnet)).toEqual({ 0: 30, 1: 30 })
    expect((await checkNode({ url: devnet.url })).violations).toEqual([])
  })

  it('make-blocks refuses a difficulty beyond what one request searches, and says what to do instead', async () => {
    const { devnet, peer } = await start({ graph: 'pair', difficulty: 30_000_000_000n })
    const [status, text] = await refusal(peer, '/make-blocks', { 1: 2 })
    expect(status).toBe(409)
    expect(text).toMatch(
      /^0 blocks were made; chain 1 at height 1 has difficulty 30\.0G, and one request searches 20\.0G/,
    )
    expect(text).toContain('POST /devnet/difficulty')
    expect(heightsOf(devnet)).toEqual({ 0: 0, 1: 0 })
    await order(peer, '/devnet/difficulty', { difficulty: 30 })
    expect((await order(peer, '/make-blocks', { 1: 2 })).heights).toEqual({ 0: 1, 1: 2 })
  })

  it('make-blocks runs one call after the other, while the node serves other requests', async () => {
    const { devnet, peer } = await start({ graph: 'petersen', pow: false })
    const other = new Peer(devnet.url)
    onTestFinished(() => other.close())
    let isDone = false
    const both = Promise.all([
      order(peer, '/make-blocks', all(10, 20)),
      order(other, '/devnet/make-blocks', all(10, 20)),
    ]).finally(() => {
      isDone = true
    })
    const third = new Peer(devnet.url)
    onTestFinished(() => third.close())
    const seen = new Set<number>()
    while (!isDone) seen.add(jsonOf(await third.get(`${PREFIX}/cut`)).height)
    const [first, second] = await both
    expect(sum(first.made)).toBe(200)
    expect(sum(second.made)).toBe(200)
    expect(sum(first.heights)).toBe(200)
    expect(sum(second.heights)).toBe(400)
    expect(Math.min(...seen)).toBeLessThan(400)
    expect([...seen].some((height) => height > 0 && height < 400)).toBe(true)
    expect(
      (await checkNode({ url: devnet.url, pow: false, adjusts: false, pageSizes: [200, 200] })).violations,
    ).toEqual([])
  })

  it.each([
    [{}, 400, /body: .*properties/],
    [{ 20: 1 }, 400, /^there is no chain "20": chains are 0 to 19$/],
    [{ '03': 1 }, 400, /^there is no chain "03"/],
    [{ x: 1 }, 400, /^there is no chain "x"/],
    [{ 0: -1 }, 400, /body: \/0 must be >= 0/],
    [{ 0: 1.5 }, 400, /body: \/0 must be integer/],
    [{ 0: '1' }, 400, /body: \/0 must be integer/],
    [{ 0: 100_001 }, 400, /body: \/0 must be <= 100000/],
    [{ 0: 6000 }, 400, /^119\d{3} blocks with those on adjacent chains: at most 100000 in one call$/],
    [[1], 400, /body: the value must be object/],
  ])('make-blocks answers %j with %i', async (body, status, text) => {
    const { devnet, peer } = await twenty()
    expect(await refusal(peer, '/make-blocks', body)).toEqual([status, expect.stringMatching(text)])
    expect(sum(heightsOf(devnet))).toBe(0)
  })

  it('make-blocks pays the account that may mine', async () => {
    const account = { account: 'k:only', predicate: 'keys-any', publicKeys: ['ab', 'cd'] }
    const { devnet, peer } = await start({ graph: 'pair', pow: false, accounts: [account] })
    await order(peer, '/make-blocks', { 0: 1 })
    const [block] = devnet.chains.store.slice(0, 1, 2)
    expect(JSON.parse(Buffer.from(block.payload.minerData).toString())).toEqual({
      account: 'k:only',
      predicate: 'keys-any',
      'public-keys': ['ab', 'cd'],
    })
  })

  it('make-blocks stops when the node is closed', async () => {
    const { devnet, peer } = await start({ pow: false })
    const pending = post(peer, '/make-blocks', all(20, 5000)).catch((error: Error) => error)
    await until(() => sum(heightsOf(devnet)) > 0)
    await devnet.close()
    expect(await pending).toBeInstanceOf(Error)
    const after = sum(heightsOf(devnet))
    // A running order makes blocks in each turn of the event loop.
    for (let i = 0; i < 10; i++) await turn()
    expect(sum(heightsOf(devnet))).toBe(after)
    expect(after).toBeLessThan(100_000)
  })
})

describe('fork', () => {
  const cases: [string, DevnetOptions][] = [
    ['without proof of work', { graph: 'petersen', pow: false }],
    ['with proof of work and adjustment', { graph: 'petersen', difficulty: 30n, blockDelayMs: 20 }],
  ]
  it.each(cases)('fork by %s makes a heavier branch from the common ancestor', async (_, options) => {
    const { devnet, peer } = await start(options)
    const before = (await order(peer, '/make-blocks', { ...all(10, 14), 7: 15 })).heights
    const old = jsonOf(await peer.get(`${PREFIX}/cut`))
    const forked = await order(peer, '/devnet/fork', { chain: 7, depth: 4 })
    // Chain 7 goes back to height 11, its neighbours (2, 6, 8) to 12, all others to 13.
    const shared = Object.entries(forked.ancestor as Record<string, { height: number }>)
    expect(Object.fromEntries(shared.map(([chain, { height }]) => [chain, height]))).toEqual({
      ...all(10, 13),
      2: 12,
      6: 12,
      7: 11,
      8: 12,
    })
    const cut = jsonOf(await peer.get(`${PREFIX}/cut`))
    for (const chain of Object.keys(before)) {
      const { height, hash } = cut.hashes[chain]
      const base = forked.ancestor[chain]
      expect(forked.orphaned[chain]).toHaveLength(before[chain] - base.height)
      expect(forked.orphaned[chain].at(-1)).toBe(old.hashes[chain].hash)
      expect(forked.heights[chain]).toBe(height)
      expect(forked.added[chain] ?? []).toHaveLength(height - base.height)
      expect((forked.added[chain] ?? []).at(-1) ?? base.hash).toBe(hash)
      expect(forked.added[chain] ?? []).not.toContain(forked.orphaned[chain].at(-1))
    }
    const weight = (text: string) => BigInt(`0x${Buffer.from(text, 'base64url').reverse().toString('hex')}`)
    expect(weight(cut.weight)).toBeGreaterThan(weight(old.weight))
    const rules = { pow: options.pow ?? true, adjusts: options.pow ?? true, forks: true }
    const report = await checkNode({ url: devnet.url, ...rules })
    expect(report.violations).toEqual([])
    expect(report.headers).toBe(10 + sum(before) + Object.values(forked.added).flat().length)
    await mineBlock(peer, 7)
    expect((await checkNode({ url: devnet.url, ...rules })).violations).toEqual([])
    // The checker tells branches apart: with a head of the old branch the cut does not braid.
    const fetched = await fetchChains(peer, 'chainweb', [100, 100])
    const mixed = { ...fetched, cut: { ...fetched.cut, hashes: { ...fetched.cut.hashes, 7: old.hashes[7] } } }
    expect(checkChains(mixed, rules).map(({ rule }) => rule)).toContain('braid')
  })

  it('fork lets the chain that has lost most grow first', async () => {
    const { peer } = await start({ graph: 'pair', pow: false })
    await order(peer, '/make-blocks', { 0: 3, 1: 3 })
    const { ancestor, added } = await order(peer, '/devnet/fork', { chain: 0, depth: 1 })
    expect(ancestor[0].height).toBe(2)
    expect(ancestor[1].height).toBe(3)
    // After one block both are at height 3 again, and only chain 0 has lost a block.
    expect(added).toEqual({ 0: [expect.any(String), expect.any(String)] })
  })

  it('fork goes down to the genesis block, pays another account, and is announced to streams and miners', async () => {
    const { devnet, peer, additions } = await start({ graph: 'triangle', pow: false })
    const { heights } = await order(peer, '/make-blocks', { 0: 2, 1: 2 })
    const stale = await getWork(peer, 1)
    const headers = await OpenResponse.open(`${devnet.url}${PREFIX}/header/updates`)
    const body = Buffer.alloc(4)
    const updates = await OpenResponse.open(`${devnet.url}${PREFIX}/mining/updates`, { body })
    onTestFinished(() => {
      headers.destroy()
      updates.destroy()
    })
    const forked = await order(peer, '/devnet/fork', { chain: 0, depth: heights[0] })
    expect(forked.ancestor[0]).toEqual({ height: 0, hash: devnet.chains.store.slice(0, 0, 1)[0].id })
    const added = Object.values(forked.added as Record<string, string[]>).flat()
    await updates.read('event:New Cut\n\n'.length)
    await headers.read(added.length * 100)
    for (const hash of added) {
      while (!headers.text.includes(`"hash":"${hash}"`)) await headers.read(headers.text.length + 1)
      const data = devnet.chains.store.byId(hash)?.payload.minerData ?? new Uint8Array()
      expect(JSON.parse(Buffer.from(data).toString()).account).toBe('fork')
    }
    // Work on the old branch is stale.
    expect((await submit(peer, solve(stale))).status).toBe(200)
    expect(additions.at(-1)?.status).toBe('stale')
  })

  it.each([
    [{ chain: 3, depth: 1 }, 409, /^chain 3 has height 0: depth 1 is below its first block$/],
    [{ chain: 30, depth: 1 }, 400, /^there is no chain 30: chains are 0 to 19$/],
    [{ chain: 3, depth: 0 }, 400, /body: \/depth must be >= 1/],
    [{ chain: 3, depth: 1001 }, 400, /body: \/depth must be <= 1000/],
    [{ chain: 3 }, 400, /body: .*depth/],
    [{ chain: 3, depth: 1, deep: true }, 400, /body: .*(additional|deep)/],
  ])('fork answers %j with %i', async (body, status, text) => {
    const { peer } = await twenty()
    expect(await refusal(peer, '/devnet/fork', body)).toEqual([status, expect.stringMatching(text)])
  })

  it('fork outweighs the old branch although a miner keeps making it heavier', async () => {
    const { devnet, peer } = await start({ graph: 'triangle', difficulty: 3000n, blockDelayMs: 50 })
    await order(peer, '/make-blocks', all(3, 5))
    const { chains } = devnet
    const rivals: string[] = []
    const extendOldBranch = () => {
      const [open] = chains.chainIds.filter((chain) => !chains.isBlocked(chain))
      const { header, payload } = makeBlock(devnet, chains.cut, open)
      const solved = decodeWork(solve(Buffer.from(encodeWork(header))))
      const addition = chains.add(solved, payload)
      expect(addition.status).toBe('added')
      if (addition.status === 'added') rivals.push(addition.block.id)
    }
    chains.onBlock(({ payload }) => {
      const isOfFork = JSON.parse(Buffer.from(payload.minerData).toString()).account === 'fork'
      // At the next microtask the fork has added its block but has not compared the weights.
      if (isOfFork && rivals.length < 5) queueMicrotask(extendOldBranch)
    })
    const { orphaned } = await order(peer, '/devnet/fork', { chain: 1, depth: 5 })
    expect(rivals.length).toBeGreaterThan(0)
    // Chain 1 loses 5 blocks, the others 4 each, and the rest are the rival's.
    const lost = Object.values(orphaned as Record<string, string[]>).flat()
    expect(lost).toHaveLength(13 + rivals.length)
    expect(lost).toEqual(expect.arrayContaining(rivals))
    await mineBlock(peer)
    expect((await checkNode({ url: devnet.url, forks: true })).violations).toEqual([])
  })

  it('fork refuses a branch that is too difficult, and leaves the chains as they are', async () => {
    const { devnet, peer } = await start({ graph: 'pair', difficulty: 20n })
    await order(peer, '/make-blocks', { 0: 3, 1: 3 })
    await order(peer, '/devnet/difficulty', { difficulty: 1e12 })
    const before = heightsOf(devnet)
    const [status, text] = await refusal(peer, '/devnet/fork', { chain: 0, depth: 1 })
    expect(status).toBe(409)
    expect(text).toMatch(/blocks were made; .* difficulty 1\.00T/)
    expect(heightsOf(devnet)).toEqual(before)
  })
})
