/** Blocks of an embedded node, for tests that need valid headers. */
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { NodeClient } from '../../src/client/node/public.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { headerToJson } from '../../src/ground/chain/header-json.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../devnet/whole-node.ts'
import { solve } from '../solve.ts'

const account = { account: `k:${'ab'.repeat(32)}`, predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }

interface Mined {
  readonly node: Devnet
  readonly client: NodeClient
}

/** An embedded node with low difficulty and a client of it, for one test. */
export async function devnet(options: DevnetOptions = {}): Promise<Mined> {
  const opened = await open(options)
  onTestFinished(() => close(opened))
  return opened
}

/** Such a node for all tests of a file, with blocks of `rounds` rounds, which none of them changes. */
export function devnetOfFile(rounds: number, options: DevnetOptions = {}): Mined {
  let opened: Mined
  beforeAll(async () => {
    opened = await open(options)
    await mine(opened.client, rounds)
  })
  afterAll(() => close(opened))
  return {
    get node() {
      return opened.node
    },
    get client() {
      return opened.client
    },
  }
}

async function open(options: DevnetOptions): Promise<Mined> {
  const node = await startDevnet({ port: 0, graph: 'triangle', difficulty: 20n, blockDelayMs: 1000, ...options })
  return { node, client: await NodeClient.connect({ url: node.url }) }
}

async function close({ node, client }: Mined): Promise<void> {
  await client.close()
  await node.close()
}

/** Mines `rounds` blocks on every chain. */
export async function mine(client: NodeClient, rounds: number): Promise<void> {
  const chains = client.info.nodeChains.length
  for (let round = 0; round < rounds; round++) {
    for (let chain = 0; chain < chains; chain++) {
      const { work } = await client.work(account, chain)
      await client.solved(solve(work.bytes))
    }
  }
}

/** All blocks of a chain in order. */
export function blocksOf({ chains }: Devnet, chain: number): Block[] {
  return chains.store.slice(chain, 0, chains.store.count(chain))
}

/** A payload as nodes write it. */
export function payloadJson({ transactions, minerData, coinbase, ...hashes }: StoredPayload) {
  return {
    transactions: transactions.map((each) => [encodeBase64Url(each.transaction), encodeBase64Url(each.output)]),
    minerData: encodeBase64Url(minerData),
    coinbase: encodeBase64Url(coinbase),
    transactionsHash: encodeBase64Url(hashes.transactionsHash),
    outputsHash: encodeBase64Url(hashes.outputsHash),
    payloadHash: encodeBase64Url(hashes.payloadHash),
  }
}

/** A header as nodes write it, with plain numbers: on a development network they are small enough. */
export function headerJson({ header }: Block) {
  const object = headerToJson(header)
  const numbers = Object.entries(object).map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value])
  return Object.fromEntries(numbers) as Record<string, unknown>
}

/** A header as base64url. */
export const headerText = ({ bytes }: Block) => encodeBase64Url(bytes)

/** A block as nodes write it. */
export const blockJson = (block: Block) => ({
  header: headerJson(block),
  payloadWithOutputs: payloadJson(block.payload),
})
