/** Blocks of an embedded node, for tests that need valid headers. */
import { onTestFinished } from 'vitest'
import { encodeBase64Url } from '../../src/core/bytes.ts'
import { headerToJson } from '../../src/core/header-json.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { NodeClient } from '../../src/node/public.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../devnet/whole-node.ts'
import { solve } from '../solve.ts'

const account = { account: `k:${'ab'.repeat(32)}`, predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }

/** An embedded node with low difficulty and a client of it, for one test. */
export async function devnet(options: DevnetOptions = {}): Promise<{ node: Devnet; client: NodeClient }> {
  const node = await startDevnet({ port: 0, graph: 'triangle', difficulty: 20n, blockDelayMs: 1000, ...options })
  const client = await NodeClient.connect({ url: node.url })
  onTestFinished(async () => {
    await client.close()
    await node.close()
  })
  return { node, client }
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
