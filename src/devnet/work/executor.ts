/** Port: executes the transactions and the reward of a block, on any branch. */
import { encodeBase64Url } from '../../core/bytes.ts'
import type { Header } from '../../core/header.ts'
import type { MinerAccount } from '../../core/payload.ts'
import type { SignedTransaction } from '../store/payload.ts'

/** The next block of a chain, before there is a payload for it. */
export interface NextBlock {
  readonly chain: number
  /** The block it is built on; it may be on any branch, and must be in the store. */
  readonly parent: Header
  /** When the payload is built, microseconds. A block gets its own creation time later, when its work is handed out. */
  readonly creationTime: bigint
  /** Who gets the reward. */
  readonly miner: MinerAccount
  readonly transactions: readonly SignedTransaction[]
}

/** JSON texts of command results (PROTOCOL.md E.1). */
export interface Outputs {
  /** One for each transaction, in their order. */
  readonly transactions: readonly Uint8Array[]
  /** Output of the reward. Its `reqKey` must name the parent, so that payload hashes differ from block to block. */
  readonly coinbase: Uint8Array
}

export interface Executor {
  execute(block: NextBlock): Outputs
}

const encoder = new TextEncoder()
const jsonBytes = (value: unknown) => encoder.encode(JSON.stringify(value))

/** For a network without contracts: every transaction fails, rewards change nothing. JSON keys in live nodes' order. */
export const noContracts: Executor = {
  execute({ parent, transactions }) {
    return {
      transactions: transactions.map(({ key }) => jsonBytes(notExecuted(key))),
      coinbase: jsonBytes({
        gas: 0,
        result: { status: 'success', data: 'Write succeeded' },
        reqKey: encodeBase64Url(jsonBytes(encodeBase64Url(parent.hash))),
        logs: null,
        metaData: null,
        continuation: null,
        txId: null,
      }),
    }
  },
}

function notExecuted(requestKey: string) {
  const error = { callStack: [], type: 'TxFailure', message: 'this network executes no contracts', info: '' }
  return {
    gas: 0,
    result: { status: 'failure', error },
    reqKey: requestKey,
    logs: null,
    metaData: null,
    continuation: null,
    txId: null,
  }
}
