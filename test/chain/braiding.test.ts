import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { encodeHex } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { cutHeight, cutId, cutWeight, extendsCut, extensionOf } from '../../src/ground/chain/cut.ts'
import { effectiveWindow, expectedFieldsOf, startsEpoch } from '../../src/ground/chain/difficulty.ts'
import { genesisHeader, genesisParentHash } from '../../src/ground/chain/genesis.ts'
import { type GraphName, graphNames, graphs } from '../../src/ground/chain/graph.ts'
import { encodeWork, type Header } from '../../src/ground/chain/header.ts'
import { genesisHeight, graphAt, type Network } from '../../src/ground/chain/network.ts'
import { development, mainnet01, recapDevelopment, testnet04 } from '../../src/ground/chain/network-data.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { brokenRules } from '../../src/ground/chain/validate.ts'
import { randomFrom } from '../random.ts'

const PAYLOAD_HASH = new Uint8Array(32).fill(7)
const graphNetwork = (name: GraphName): Network => ({
  ...development,
  graphHistory: [{ from: 0, graph: graphs[name] }],
})

/** A cut that grows by blocks without proof of work. It keeps every block. */
class World {
  readonly network: Network
  readonly cut = new Map<number, Header>()
  readonly blocks = new Map<string, Header>()
  readonly #random: () => number

  constructor(network: Network, chains: readonly number[], random: () => number) {
    this.network = network
    this.#random = random
    for (const chain of chains) this.addGenesis(chain)
  }

  addGenesis(chain: number): void {
    this.#put(genesisHeader(this.network, chain, PAYLOAD_HASH))
  }

  get chains(): number[] {
    return [...this.cut.keys()]
  }

  head(chain: number): Header {
    return this.cut.get(chain) as Header
  }

  block(hash: Uint8Array): Header {
    return this.blocks.get(encodeHex(hash)) as Header
  }

  pick(chains: readonly number[]): number {
    return chains[Math.floor(this.#random() * chains.length)]
  }

  /**
   * The next block of a chain, at most two block delays after its latest parent, or the number of the chain that blocks
   * it.
   */
  next(chain: number): Header | number {
    const extension = extensionOf(this.network, this.cut, chain)
    if (typeof extension === 'number') return extension
    const { parent, adjacents } = extension
    const adjacentParents = new Map([...adjacents].map(([adjacent, hash]) => [adjacent, this.block(hash)]))
    const parents = [parent, ...adjacentParents.values()]
    const [latest] = parents.map((header) => header.creationTime).sort((a, b) => Number(b - a))
    const wait = BigInt(1 + Math.floor(this.#random() * 2 * Number(this.network.blockDelay)))
    const creationTime = latest + wait
    const fields = {
      featureFlags: 0n,
      creationTime,
      parent: parent.hash,
      adjacents,
      payloadHash: PAYLOAD_HASH,
      chainId: chain,
      height: parent.height + 1n,
      version: this.network.code,
      nonce: BigInt(Math.floor(this.#random() * 2 ** 32)),
      ...expectedFieldsOf(this.network, parent, parents.slice(1), creationTime),
    }
    const header = { ...fields, hash: blockHash(encodeWork(fields)) }
    const options = { now: creationTime, checkPow: false }
    expect(brokenRules(this.network, header, { parent, adjacentParents }, options)).toEqual([])
    return header
  }

  add(header: Header): void {
    expect(extendsCut(this.cut, header)).toBe(true)
    this.#put(header)
  }

  #put(header: Header): void {
    this.cut.set(header.chainId, header)
    this.blocks.set(encodeHex(header.hash), header)
  }
}

/** Checks the invariants of every cut that grew by the rules. */
function checkInvariants(world: World): void {
  const { network, cut } = world
  const heights = new Map([...cut].map(([chain, { height }]) => [chain, Number(height)]))
  const least = Math.min(...heights.values())
  graphAt(network, least).adjacents.forEach((adjacents, chain) => {
    for (const adjacent of adjacents) {
      const apart = Math.abs((heights.get(chain) as number) - (heights.get(adjacent) as number))
      expect(apart).toBeLessThanOrEqual(1)
    }
  })
  for (const [chain, height] of heights) {
    const extension = extensionOf(network, cut, chain)
    if (height === least) expect(typeof extension).toBe('object')
    if (typeof extension !== 'number') continue
    expect(heights.get(extension)).toBeLessThan(height)
  }
  expect(cutHeight(cut)).toBe(BigInt([...heights.values()].reduce((sum, height) => sum + height, 0)))
}

/** The weight of a block, computed from its ancestors alone. */
function weightOf(world: World, header: Header): bigint {
  let weight = 0n
  for (let block = header; block.weight !== 0n; block = world.block(block.parent)) weight += MAX_TARGET / block.target
  return weight
}

describe.each(graphNames)('random growth of %s', (name) => {
  const network = graphNetwork(name)
  const chains = [...graphs[name].adjacents.keys()]

  it.each([1, 2, 3])(`random growth of ${name} keeps every invariant of a cut, seed %i`, (seed) => {
    const world = new World(network, chains, randomFrom(seed))
    const steps = 14 * chains.length + 20
    let blocked = 0
    /** A header that was created but not added. */
    let pending: Header | null = null
    for (let step = 0; step < steps; step++) {
      const header = world.next(world.pick(chains))
      if (typeof header === 'number') {
        blocked++
        continue
      }
      world.add(header)
      checkInvariants(world)
      // The parent now has a child, so the same block and its sibling are stale.
      expect(extendsCut(world.cut, header)).toBe(false)
      expect(extendsCut(world.cut, { ...header, nonce: header.nonce + 1n })).toBe(false)
      // A header stays valid until its own chain gets a block, even if all other chains move on.
      if (pending !== null) {
        const isStale = encodeHex(world.head(pending.chainId).hash) !== encodeHex(pending.parent)
        expect(extendsCut(world.cut, pending)).toBe(!isStale)
        if (isStale) pending = null
      }
      if (pending === null) {
        const candidate = world.next(world.pick(chains))
        if (typeof candidate !== 'number') pending = candidate
      }
    }
    expect(blocked > 0).toBe(chains.length > 1)
    const weights = chains.map((chain) => weightOf(world, world.head(chain)))
    expect(chains.map((chain) => world.head(chain).weight)).toEqual(weights)
    expect(cutWeight(world.cut)).toBe(weights.reduce((sum, weight) => sum + weight, 0n))
  })

  it('a block blocks its chain until the neighbours follow, and blocks no other chain', () => {
    const world = new World(network, chains, randomFrom(4))
    world.add(world.next(0) as Header)
    const neighbours = graphs[name].adjacents[0]
    for (const chain of chains) {
      const extension = extensionOf(network, world.cut, chain)
      if (chain === 0 && neighbours.length > 0) expect(extension).toBe(neighbours[0])
      else expect(extension).toMatchObject({ parent: world.head(chain) })
    }
    // Neighbours name the parent of the chain that is ahead.
    for (const chain of neighbours) {
      const { adjacents } = extensionOf(network, world.cut, chain) as { adjacents: ReadonlyMap<number, Uint8Array> }
      expect([...adjacents.keys()]).toEqual(graphs[name].adjacents[chain])
      expect(adjacents.get(0)).toEqual(world.head(0).parent)
    }
    for (const chain of neighbours) world.add(world.next(chain) as Header)
    expect(extensionOf(network, world.cut, 0)).toMatchObject({ parent: world.head(0) })
  })
})

describe('headers that do not fit a cut', () => {
  const network = graphNetwork('petersen')
  const chains = [...graphs.petersen.adjacents.keys()]
  const world = new World(network, chains, randomFrom(5))
  for (let step = 0; step < 200; step++) {
    const header = world.next(world.pick(chains))
    if (typeof header !== 'number') world.add(header)
  }
  const open = chains.find((chain) => typeof world.next(chain) !== 'number') as number
  const header = world.next(open) as Header
  const [adjacent] = header.adjacents.keys()
  const withAdjacent = (chain: number, hash: Uint8Array) => ({
    ...header,
    adjacents: new Map(header.adjacents).set(chain, hash),
  })

  it('a cut accepts an unchanged header', () => expect(extendsCut(world.cut, header)).toBe(true))

  it.each([
    ['an unknown chain', { ...header, chainId: 10 }],
    ['another chain', { ...header, chainId: adjacent }],
    ['the grandparent as parent', { ...header, parent: world.block(header.parent).parent }],
    ['no block as parent', { ...header, parent: new Uint8Array(32) }],
    ['an adjacent two behind', withAdjacent(adjacent, world.block(world.head(adjacent).parent).parent)],
    ['an adjacent of another chain', withAdjacent(adjacent, header.parent)],
    ['an adjacent chain that does not exist', withAdjacent(10, header.parent)],
  ])('a cut refuses %s', (_what, wrong) => expect(extendsCut(world.cut, wrong)).toBe(false))

  it('a query throws for a cut that breaks the rules and for a chain outside of it', () => {
    const torn = new Map(world.cut).set(adjacent, { ...world.head(adjacent), height: header.height + 5n })
    expect(() => extensionOf(network, torn, open)).toThrow(RangeError)
    const genesis = genesisHeader(network, adjacent, PAYLOAD_HASH)
    expect(() => extensionOf(network, new Map(world.cut).set(adjacent, genesis), open)).toThrow(RangeError)
    expect(() => extensionOf(network, world.cut, 10)).toThrow(RangeError)
    const partial = new Map(world.cut)
    partial.delete(adjacent)
    expect(() => extensionOf(network, partial, open)).toThrow(RangeError)
  })

  it('the id of a cut hashes the block hashes in chain order', () => {
    const sha = createHash('sha512-256')
    for (const chain of chains) sha.update(world.head(chain).hash)
    const shuffled = new Map([...world.cut].reverse())
    expect(encodeHex(cutId(shuffled))).toBe(sha.digest('hex'))
  })

  it('the weight of a cut wraps at 256 bits', () => {
    const heavy = { ...header, weight: MAX_TARGET }
    expect(cutWeight(new Map([0, 1].map((chain) => [chain, heavy])))).toBe(MAX_TARGET - 1n)
  })
})

describe('from petersen to twenty at height 60', () => {
  const network = recapDevelopment
  const old = [...graphs.petersen.adjacents.keys()]
  const added = [...graphs.twenty.adjacents.keys()].slice(old.length)

  it.each(['from the start', 'when the last old chain arrives'] as const)(
    'a cut continues through the change of graph with the new chains in the cut %s',
    (when) => {
      const world = new World(network, when === 'from the start' ? [...old, ...added] : old, randomFrom(60))
      let waiting = 0
      while (Math.min(...world.chains.map((chain) => Number(world.head(chain).height))) < 64) {
        const least = Math.min(...old.map((chain) => Number(world.head(chain).height)))
        const chain = world.pick(world.chains)
        const header = world.next(chain)
        if (least < 60 && world.head(chain).height >= 60n) {
          waiting++
          expect(world.head(header as number).height < 60n).toBe(true)
        }
        if (typeof header === 'number') continue
        const graph = header.height <= 60n ? graphs.petersen : graphs.twenty
        expect([...header.adjacents.keys()]).toEqual(graph.adjacents[chain])
        if (chain >= 10 && header.height === 62n) {
          expect(header.epochStart).toBe(world.block(header.parent).creationTime)
        }
        world.add(header)
        const arrived = old.every((other) => world.head(other).height >= 60n)
        if (arrived && !world.cut.has(10)) for (const other of added) world.addGenesis(other)
        if (header.height % 4n === 0n || (header.height > 58n && header.height < 63n)) checkInvariants(world)
      }
      expect(waiting).toBeGreaterThan(0)
      expect(world.chains).toHaveLength(20)
    },
  )

  it('new chains begin at the height of the new graph, adjacent to genesis blocks', () => {
    expect([0, 9, 10, 19].map((chain) => genesisHeight(network, chain))).toEqual([0, 0, 60, 60])
    expect(() => genesisHeight(network, 20)).toThrow(RangeError)
    for (const chain of added) {
      const genesis = genesisHeader(network, chain, PAYLOAD_HASH)
      expect(genesis).toMatchObject({ height: 60n, weight: 0n, target: network.genesisTarget(chain) })
      expect(genesis.parent).toEqual(genesisParentHash(network.code, chain))
      const hashes = graphs.twenty.adjacents[chain].map((adjacent) => genesisParentHash(network.code, adjacent))
      expect([...genesis.adjacents.values()]).toEqual(hashes)
    }
  })

  it('the graph of a height is the newest one that has begun there', () => {
    const names = [0, 59, 60, 61, 10_000].map((height) => graphAt(network, height).name)
    expect(names).toEqual(['petersen', 'petersen', 'twenty', 'twenty', 'twenty'])
    expect([852_053, 852_054].map((height) => graphAt(mainnet01, height).name)).toEqual(['petersen', 'twenty'])
    expect([332_603, 332_604].map((height) => graphAt(testnet04, height).name)).toEqual(['petersen', 'twenty'])
  })
})

describe('epochs', () => {
  const base = genesisHeader(development, 0, PAYLOAD_HASH)
  const header = (change: Partial<Header>): Header => ({ ...base, ...change })

  it('early epochs last a tenth of the window until the parent is higher than the window', () => {
    const windows = [0, 1, 119, 120, 121, 239, 240, 1_000_000].map((height) => effectiveWindow(development, height))
    expect(windows).toEqual([12, 12, 12, 12, 120, 120, 120, 120])
    expect(effectiveWindow({ ...development, window: 5 }, 5)).toBe(1)
    expect(effectiveWindow({ ...development, window: null }, 5)).toBeNull()
  })

  it('epochs start with blocks 12, 24 .. 120, then 240, 360 ..', () => {
    const first = [...Array(600).keys()].filter((height) => height > 0 && startsEpoch(development, height - 1))
    expect(first).toEqual([12, 24, 36, 48, 60, 72, 84, 96, 108, 120, 240, 360, 480])
    expect(startsEpoch({ ...development, window: null }, 119)).toBe(false)
  })

  it('an epoch starts at the time of the last block before it, and all its blocks carry that time', () => {
    const parentAt = (height: bigint) => header({ height, creationTime: 1000n + height, epochStart: 7n })
    const startOf = (network: Network, height: bigint) =>
      expectedFieldsOf(network, parentAt(height - 1n), [], 9999n).epochStart
    expect([11n, 12n, 13n, 120n, 121n, 132n, 240n].map((height) => startOf(development, height))).toEqual([
      7n,
      1011n,
      7n,
      1119n,
      7n,
      7n,
      1239n,
    ])
    // On a development network the first epoch starts at block 1; other networks use the genesis time.
    expect([1n, 2n, 3n].map((height) => startOf(development, height))).toEqual([7n, 1001n, 7n])
    expect([1n, 2n, 3n].map((height) => startOf(testnet04, height))).toEqual([7n, 7n, 7n])
    expect(startOf({ ...development, window: null }, 12n)).toBe(7n)
    // Before the parent-time rule an epoch starts with its own first block.
    expect(startOf(mainnet01, 240n)).toBe(9999n)
  })

  it('an epoch adjusts the target for each parent, rounded up, and takes the mean, rounded down', () => {
    const network = { ...development, blockDelay: 1000n }
    const parent = header({ height: 11n, target: 7n, epochStart: 0n, creationTime: 5000n, weight: 100n })
    const adjacent = header({ height: 11n, target: 5n, epochStart: 0n, creationTime: 12_001n })
    // 7 x 5,000 / 12,000 -> 3 and 5 x 12,001 / 12,000 -> 6; the mean is 4.5.
    expect(expectedFieldsOf(network, parent, [adjacent], 20_000n)).toEqual({
      target: 4n,
      epochStart: 5000n,
      weight: 100n + MAX_TARGET / 4n,
    })
    expect(expectedFieldsOf(network, { ...parent, height: 12n }, [adjacent], 20_000n).target).toBe(7n)
    // At the planned pace the target stays. From height 121 epochs are ten times as long.
    const planned = { ...parent, creationTime: 12_000n }
    expect(expectedFieldsOf(network, planned, [planned], 20_000n).target).toBe(7n)
    const late = { ...parent, height: 239n, creationTime: 120_000n }
    expect(expectedFieldsOf(network, late, [late], 200_000n).target).toBe(7n)
    expect(expectedFieldsOf({ ...network, window: null }, parent, [adjacent], 20_000n).target).toBe(7n)
  })

  it('the easiest target is 2^256 - 1, and no elapsed time gives a target of 0', () => {
    const network = { ...development, blockDelay: 1000n }
    const parent = header({ height: 23n, target: MAX_TARGET / 2n, epochStart: 0n, creationTime: 24_001n })
    expect(expectedFieldsOf(network, parent, [], 0n)).toMatchObject({ target: MAX_TARGET, weight: 1n })
    const slow = { ...parent, target: MAX_TARGET, creationTime: 10n ** 15n }
    expect(expectedFieldsOf(network, slow, [slow, slow, slow], 0n).target).toBe(MAX_TARGET)
    // One slow parent outweighs three that are exactly on time.
    const onTime = { ...parent, target: 1000n, creationTime: 12_000n }
    expect(expectedFieldsOf(network, slow, [onTime, onTime, onTime], 0n).target).toBe(MAX_TARGET)
    const still = { ...parent, creationTime: 0n }
    expect(expectedFieldsOf(network, still, [still], 0n)).toMatchObject({ target: 0n, weight: 0n })
  })

  it('the weight of a block wraps at 256 bits', () => {
    const parent = header({ height: 5n, weight: MAX_TARGET, target: MAX_TARGET })
    expect(expectedFieldsOf(development, parent, [], 0n).weight).toBe(0n)
  })
})
