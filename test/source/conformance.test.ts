import { afterAll } from 'vitest'
import { startDelayProxy } from '../../bench/delay-proxy.ts'
import { NodeClient } from '../../src/client/node/client.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import type { MinerAccount } from '../../src/ground/chain/payload.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { miningNodeOf } from '../../src/mining/source/node/mining-node.ts'
import { NodeSource } from '../../src/mining/source/node/node-source.ts'
import { NodesSource } from '../../src/mining/source/nodes/nodes-source.ts'
import { reachedNodeOf } from '../../src/mining/source/nodes/reached-node.ts'
import type { Job } from '../../src/mining/source/source.ts'
import { type SourceTestBed, sourceConformance } from '../conformance/source.ts'
import { solve } from '../solve.ts'

const account: MinerAccount = { account: 'k:test', predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }

/** Nodes by their options. Each serves all tests with these options, one after the other. */
const nodes = new Map<string, Promise<Devnet>>()
afterAll(() => Promise.all([...nodes.values()].map(async (node) => (await node).close())))

function nodeWith(options: DevnetOptions): Promise<Devnet> {
  const key = JSON.stringify(options)
  const node = nodes.get(key) ?? startDevnet({ port: 0, difficulty: 20n, blockDelayMs: 1000, ...options })
  nodes.set(key, node)
  return node
}

async function startBed(
  options: DevnetOptions,
  latencyMs: number,
): Promise<SourceTestBed & { readonly devnet: Devnet }> {
  const devnet = await nodeWith(options)
  const way = await startDelayProxy(Number(new URL(devnet.url).port), latencyMs)
  const [near, far] = [await NodeClient.connect({ url: devnet.url }), await NodeClient.connect({ url: way.url })]
  const node = miningNodeOf({ client: far, account, clock: systemClock, stallMs: 0 })
  const solveElsewhere = async ({ work: { fields } }: Job) => {
    const { work } = await near.work({ ...account, account: 'k:other' }, fields.chainId)
    await near.solved(solve(work.bytes))
  }
  return {
    devnet,
    source: new NodeSource({ node, clock: systemClock, random: Math.random }),
    solveElsewhere,
    hang: way.hold,
    close: async () => {
      await Promise.all([near.close(), far.close()])
      await way.close()
    },
  }
}

/** A source with two addresses of one node. */
async function startTwo(): Promise<SourceTestBed> {
  const bed = await startBed({}, 0)
  const port = Number(new URL(bed.devnet.url).port)
  const ways = [await startDelayProxy(port, 0), await startDelayProxy(port, 0)]
  const clients = await Promise.all(ways.map(({ url }) => NodeClient.connect({ url })))
  const reached = clients.map((client) => {
    return reachedNodeOf(client, miningNodeOf({ client, account, clock: systemClock, stallMs: 0 }))
  })
  const network = await reached[0].network(new AbortController().signal)
  const nodes = reached.map((each) => ({ url: each.node.url, reached: each, connect: async () => each }))
  const options = { clock: systemClock, random: Math.random, failbackMs: 60_000 }
  const source = new NodesSource({ nodes, network, ...options })
  return {
    ...bed,
    source,
    hang: () => {
      const releases = ways.map((way) => way.hold())
      return () => {
        for (const release of releases) release()
      }
    },
    close: async () => {
      await source.close()
      await Promise.all(ways.map((way) => way.close()))
      await bed.close()
    },
  }
}

sourceConformance('work from the embedded node', () => startBed({}, 0))
sourceConformance('work from a network of one chain', () => startBed({ graph: 'singleton' }, 0))
sourceConformance('work from a node 30 ms away, which says ledger', () => startBed({ product: 'ledger' }, 30))
sourceConformance('work from two nodes', startTwo)
