/** Builds the payload of the next block of a chain, on the cut or on any other branch. */
import { minerDataJson, payloadHashes } from '../../core/payload.ts'
import type { Payload } from '../store/payload.ts'
import type { Executor, NextBlock } from './executor.ts'

const encoder = new TextEncoder()

export class BlockBuilder {
  readonly #executor: Executor
  readonly #now: () => bigint

  /** `now`: microseconds. */
  constructor(executor: Executor, now: () => bigint) {
    this.#executor = executor
    this.#now = now
  }

  /** The payload of the block of `chain` on top of `parent` that pays `miner` and holds these transactions. */
  build(block: Omit<NextBlock, 'creationTime'>): Payload {
    const outputs = this.#executor.execute({ ...block, creationTime: this.#now() })
    const parts = {
      minerData: encoder.encode(minerDataJson(block.miner)),
      transactions: block.transactions.map(({ bytes }, i) => ({ transaction: bytes, output: outputs.transactions[i] })),
      coinbase: outputs.coinbase,
    }
    return { ...parts, ...payloadHashes(parts) }
  }
}
