import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../random.ts'
import {
  checkChains,
  checkNode,
  type Fetched,
  type HeaderObject,
  merkleBlockHash,
  numberOf,
  plainOf,
  workOf,
} from './checker.ts'
import { fetchChains } from './checker-fetch.ts'
import { makeBlocks } from './commands-common.ts'
import { start } from './common.ts'
import { alice, bob, chainOf, getWork, mineBlock, solve, submit } from './miner.ts'
import { Peer } from './request.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

/** The node itself makes so many blocks on each chain. */
const make = ({ url, chains }: Devnet, count: number) =>
  makeBlocks({ url }, Object.fromEntries(chains.chainIds.map((chain) => [chain, count])))

/** Several miners mine on random chains until there are this many blocks above genesis. */
async function mine(devnet: Devnet, blocks: number, miners = 1, prefix?: string): Promise<void> {
  const random = randomFrom(blocks)
  const chains = devnet.chains.cut.size
  const loop = async (_: unknown, i: number) => {
    const peer = new Peer(devnet.url)
    const account = { ...alice, account: `miner ${i}` }
    const options = prefix === undefined ? { account } : { account, prefix }
    try {
      while (cutHeight(devnet) < blocks) await mineBlock(peer, Math.floor(random() * chains), options)
    } finally {
      peer.close()
    }
  }
  await Promise.all(Array.from({ length: miners }, loop))
}

const heights = (devnet: Devnet) => [...devnet.chains.cut.values()].map(({ height }) => Number(height))
const cutHeight = (devnet: Devnet) => heights(devnet).reduce((sum, height) => sum + height, 0)

describe('a mined network keeps every rule, by an independent checker', () => {
  it('a mined network of a single chain keeps every rule beyond the end of the short window', async () => {
    const { devnet } = await start({ graph: 'singleton', blockDelayMs: 1 })
    await make(devnet, 250)
    const report = await checkNode({ url: devnet.url, pageSizes: [360, 1000] })
    expect(report.violations).toEqual([])
    expect(report.headers).toBe(251)
    const blocks = devnet.chains.store.slice(0, 0, 251).map(({ header }) => header)
    const starts = blocks.filter(({ epochStart }, i) => i > 0 && epochStart !== blocks[i - 1].epochStart)
    expect(starts.map(({ height }) => Number(height))).toEqual([2, 12, 24, 36, 48, 60, 72, 84, 96, 108, 120, 240])
  })

  it('a mined network of two chains and two miners keeps every rule', async () => {
    const { devnet } = await start({ graph: 'pair', blockDelayMs: 4 })
    await mine(devnet, 64, 2)
    expect((await checkNode({ url: devnet.url, pageSizes: [5, 3] })).violations).toEqual([])
    expect(Math.min(...heights(devnet))).toBeGreaterThan(24)
  })

  it('a mined network with the petersen graph keeps every rule', async () => {
    const { devnet } = await start({ graph: 'petersen', blockDelayMs: 15 })
    await make(devnet, 26)
    const report = await checkNode({ url: devnet.url })
    expect(report.violations).toEqual([])
    expect(report.headers).toBe(270)
  })

  it('a mined network of twenty chains keeps every rule with four miners, one of whom is too late', async () => {
    const { devnet, peer, additions } = await start({ blockDelayMs: 30 })
    await make(devnet, 10)
    const late = await getWork(peer, undefined, { account: bob })
    await mineBlock(peer, chainOf(late))
    expect((await submit(peer, solve(late))).status).toBe(200)
    expect(additions.at(-1)?.status).toBe('stale')
    // Beyond height 12, where targets change: adjacent chains differ by at most one block.
    await mine(devnet, 320, 4)
    const report = await checkNode({ url: devnet.url, pageSizes: [1, 4] })
    expect(report.violations).toEqual([])
    const count = (status: string) => additions.filter((addition) => addition.status === status).length
    expect(count('invalid')).toBe(0)
    expect(count('added')).toBe(cutHeight(devnet))
    expect(report.headers).toBe(20 + count('added'))
    expect(Math.min(...heights(devnet))).toBeGreaterThan(12)
  })

  it('a mined network keeps every rule if blocks are far too slow: targets stop at the easiest one', async () => {
    const { devnet } = await start({ graph: 'triangle', blockDelayMs: 0.001 })
    await make(devnet, 30)
    expect((await checkNode({ url: devnet.url })).violations).toEqual([])
    expect([...devnet.chains.cut.values()].map(({ target }) => target)).toEqual(Array(3).fill(2n ** 256n - 1n))
  })

  it('a mined network without proof of work keeps every rule under another product word', async () => {
    const { devnet } = await start({ graph: 'petersen', pow: false, product: 'ledger', difficulty: 2n })
    await make(devnet, 12)
    await mine(devnet, 140, 1, '/ledger/0.0/development')
    const rules = { url: devnet.url, product: 'ledger', pow: false, adjusts: false }
    expect((await checkNode(rules)).violations).toEqual([])
    // The checker reports this chain if targets must follow block times.
    expect((await checkNode({ ...rules, adjusts: true })).violations.map(({ rule }) => rule)).toContain('target')
  })
})

describe('the checker finds', () => {
  let valid: Fetched

  beforeAll(async () => {
    // Even on a slow machine the targets stay hard enough for wrong nonces to exist.
    const devnet = await startDevnet({ port: 0, difficulty: 8n, graph: 'petersen', blockDelayMs: 1000 })
    const peer = new Peer(devnet.url)
    try {
      await make(devnet, 7)
      valid = await fetchChains(peer, 'chainweb', [50, 50])
    } finally {
      peer.close()
      await devnet.close()
    }
  })

  const all = (fetched: Fetched) => [...fetched.chains.values()].flat().map(({ object }) => object)

  /** A head that no other block references and that does not start an epoch: changing it breaks a single rule. */
  function leaf(): HeaderObject {
    const named = new Set(all(valid).flatMap(({ parent, adjacents }) => [parent, ...Object.values(adjacents)]))
    const found = all(valid).find(({ hash, height }) => !named.has(hash) && height > 2 && height % 12 !== 0)
    if (found === undefined) throw new Error('every block is named by another one')
    return found
  }

  const find = (hash: string) => all(valid).find((object) => object.hash === hash) as HeaderObject

  /** The fetched chains and cut with one header replaced. */
  function replaced(old: HeaderObject, object: HeaderObject, plain = plainOf(object)): Fetched {
    const chains = new Map(valid.chains)
    const list = (chains.get(old.chainId) ?? []).map((block) => (block.object === old ? { object, plain } : block))
    chains.set(old.chainId, list)
    const hashes = { ...valid.cut.hashes }
    if (hashes[old.chainId].hash === old.hash) hashes[old.chainId] = { height: object.height, hash: object.hash }
    const weight = numberOf(valid.cut.weight) - numberOf(old.weight) + numberOf(object.weight)
    const height = valid.cut.height - old.height + object.height
    return { ...valid, chains, cut: { hashes, height, weight: u256(weight) } }
  }

  const u256 = (value: bigint) =>
    Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse().toString('base64url')

  /** A header with changed fields, solved again and with the matching hash. */
  function resealed(change: Partial<HeaderObject>, wrongNonce = false): HeaderObject {
    const object = { ...leaf(), ...change } as HeaderObject
    const work = solve(workOf(object), wrongNonce)
    return { ...object, nonce: work.readBigUInt64LE(work.length - 8).toString(), hash: merkleBlockHash(work) }
  }

  const rulesOf = (fetched: Fetched) => [...new Set(checkChains(fetched).map(({ rule }) => rule))].sort()
  const parentOf = ({ parent }: HeaderObject) => find(parent)

  it('the checker finds nothing wrong in the fetched chains, nor in a block that is only solved again', () => {
    expect(checkChains(valid)).toEqual([])
    expect(all(valid)).toHaveLength(80)
    expect(rulesOf(replaced(leaf(), resealed({})))).toEqual([])
  })

  const changes: [string, () => Partial<HeaderObject>][] = [
    ['forkNumber', () => ({ featureFlags: leaf().featureFlags + 1 })],
    ['forkVotes', () => ({ featureFlags: leaf().featureFlags + 500 * 2 ** 32 })],
    ['version', () => ({ chainwebVersion: 'mainnet01' })],
    ['parent', () => ({ parent: 'A'.repeat(43) })],
    ['creationTime', () => ({ creationTime: parentOf(leaf()).creationTime })],
    [
      'creationTime',
      () => ({ creationTime: Math.max(...Object.values(leaf().adjacents).map((h) => find(h).creationTime)) }),
    ],
    ['target', () => ({ target: u256(numberOf(leaf().target) - 1n) })],
    ['epochStart', () => ({ epochStart: leaf().epochStart + 1 })],
    ['weight', () => ({ weight: u256(numberOf(leaf().weight) + 1n) })],
  ]
  it.each(changes)('the checker finds a wrong %s', (rule, change) => {
    expect(rulesOf(replaced(leaf(), resealed(change())))).toEqual([rule])
  })

  it('the checker finds a wrong proof of work', () => {
    expect(rulesOf(replaced(leaf(), resealed({}, true)))).toEqual(['proofOfWork'])
    expect(checkChains(replaced(leaf(), resealed({}, true)), { pow: false })).toEqual([])
  })

  it('the checker finds adjacents of another height or another chain, or one missing', () => {
    const { adjacents } = leaf()
    const [chain] = Object.keys(adjacents)
    const [, second] = Object.values(adjacents)
    const older = { ...adjacents, [chain]: parentOf(find(adjacents[chain])).hash }
    const swapped = { ...adjacents, [chain]: second }
    const { [chain]: _, ...missing } = adjacents
    for (const wrong of [older, swapped, missing]) {
      expect(rulesOf(replaced(leaf(), resealed({ adjacents: wrong })))).toEqual(['adjacents'])
    }
  })

  it('the checker finds a hash or an encoding of another header', () => {
    const old = leaf()
    const otherHash = `${old.hash.startsWith('A') ? 'B' : 'A'}${old.hash.slice(1)}`
    expect(rulesOf(replaced(old, { ...old, hash: otherHash }))).toEqual(['hash'])
    expect(rulesOf(replaced(old, old, plainOf(parentOf(old))))).toEqual(['encoding'])
    expect(rulesOf(replaced(old, { ...old, payloadHash: old.hash }))).toContain('hash')
  })

  it('the checker finds a height or parent that skips a block, and a missing block', () => {
    const old = leaf()
    expect(rulesOf(replaced(old, resealed({ parent: parentOf(old).parent })))).toContain('height')
    expect(rulesOf(replaced(old, resealed({ height: old.height + 12 })))).toContain('height')
    const chains = new Map(valid.chains)
    chains.set(
      0,
      (chains.get(0) ?? []).filter(({ object }) => object.height !== 3),
    )
    expect(rulesOf({ ...valid, chains })).toEqual(['adjacents', 'parent'])
  })

  it('the checker finds a genesis block of another network', () => {
    const old = find((valid.chains.get(4) ?? [])[0].object.hash)
    for (const [rule, change] of [
      ['parent', { parent: old.hash }],
      ['adjacents', { adjacents: { ...old.adjacents, 1: old.hash } }],
      ['weight', { weight: u256(1n) }],
      ['epochStart', { epochStart: old.epochStart + 1 }],
      ['nonce', { nonce: '1' }],
    ] as const) {
      const found = checkChains(replaced(old, { ...old, ...change })).filter(({ height }) => height === 0)
      expect(found.map((violation) => violation.rule)).toContain(rule)
    }
  })

  it('the checker finds a cut other than the heads of the chains', () => {
    const { cut } = valid
    const head = find(cut.hashes[5].hash)
    const behind = { height: head.height - 1, hash: head.parent }
    const wrong = [
      { ...cut, height: cut.height + 1 },
      { ...cut, weight: u256(numberOf(cut.weight) + 1n) },
      { ...cut, hashes: { ...cut.hashes, 5: behind } },
      { ...cut, hashes: { ...cut.hashes, 5: cut.hashes[4] } },
    ]
    for (const changed of wrong) expect(rulesOf({ ...valid, cut: changed })).toEqual(['cut'])
  })
})
