/** Payloads as the node builds them, for blocks that tests make. */
import type { Header } from '../../src/core/header.ts'
import type { MinerAccount } from '../../src/core/payload.ts'
import type { NonceSearch } from '../../src/devnet/orders/nonce-search.ts'
import type { Payload } from '../../src/devnet/store/payload.ts'
import { BlockBuilder } from '../../src/devnet/work/block-builder.ts'
import { noContracts } from '../../src/devnet/work/executor.ts'

export const builder = new BlockBuilder(noContracts, () => 0n)

/** For networks without proof of work. */
export const noSearch: NonceSearch = {
  search: () => Promise.reject(new Error('nothing is to be searched')),
  close: () => Promise.resolve(),
}

/** The payload of an empty block on top of `parent`. */
export function blockPayload(miner: MinerAccount, parent: Header): Payload {
  return builder.build({ chain: parent.chainId, parent, miner, transactions: [] })
}
