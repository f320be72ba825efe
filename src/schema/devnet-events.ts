/**
 * What happens on an embedded node, for logs: who makes blocks, and what becomes of transactions. Texts come from outside,
 * so each is one printable line of limited length.
 */

/** Who made a block: a miner who handed it in, an order such as POST /make-blocks, or automatic mining. */
export type BlockMadeBy = 'miner' | 'order' | 'auto-mine'

/** What a command is to do. */
export type CommandAction =
  /** A call of `transfer`, `transfer-create` or `transfer-crosschain` of a token, and nothing else. */
  | {
      readonly kind: 'transfer'
      readonly sender: string
      readonly receiver: string
      /** As the code has it: `10.5`. */
      readonly amount: string
      /** The module: `coin`. */
      readonly token: string
      /** Where the receiver is; null: on the same chain. */
      readonly toChain: string | null
    }
  | { readonly kind: 'code'; readonly code: string }
  | {
      readonly kind: 'continuation'
      readonly pactId: string
      readonly step: number
      readonly isRollback: boolean
    }

/** A command, as far as it is told. */
export interface ToldCommand {
  readonly requestKey: string
  /** The account that pays for gas. */
  readonly sender: string
  readonly action: CommandAction
}

/** Those of one block, or of one request, are told one after the other: this one is number `index` of `count`. */
export interface Placed {
  readonly index: number
  readonly count: number
}

/** A transaction in a block. */
export interface InBlock extends Placed {
  readonly chain: number
  readonly height: number
  /** Hash of the block. */
  readonly block: string
}

/** It is in the memory pool. Not told of those that return to it. */
export interface PendingTransaction extends ToldCommand {
  readonly step: 'pending'
  readonly chain: number
}

/** It is in a block of the chain. */
export interface IncludedTransaction extends ToldCommand, InBlock {
  readonly step: 'included'
  readonly status: 'success' | 'failure'
  readonly gas: number
  /** The value as the language writes it, or the message of the error. */
  readonly result: string
  /** Of an error: `info` of the result, a function and a line that counts from 0; null: neither is known. */
  readonly place: string | null
  /** Events as `module.NAME`, that of the fee among them; at most 20. */
  readonly events: readonly string[]
  /** Whether it was told before that its block has left the chain. */
  readonly isAgain: boolean
}

/** Its block has left the chain. */
export interface UndoneTransaction extends ToldCommand, InBlock {
  readonly step: 'undone'
  /** `revert`: to a snapshot. */
  readonly by: 'reorganisation' | 'revert'
  /** The memory pool, another block of the chain, or nowhere. */
  readonly wentTo: 'pool' | 'chain' | 'nowhere'
  /** Why it is nowhere; else null. */
  readonly reason: string | null
}

/** It has left the memory pool, and no block has it. */
export interface DroppedTransaction extends ToldCommand {
  readonly step: 'dropped'
  readonly chain: number
  readonly reason: string
}

/** It was handed in, and not taken. What cannot be read is null; a request that cannot be read is told as one. */
export interface RefusedTransaction extends Placed {
  readonly step: 'refused'
  /** Of the request. */
  readonly chain: number | null
  readonly requestKey: string | null
  readonly sender: string | null
  readonly action: CommandAction | null
  readonly httpStatus: number
  readonly reason: string
}

/** So many steps were not told: more came at once than are kept. Blocks are told all the same. */
export interface SkippedSteps {
  readonly step: 'skipped'
  readonly steps: number
}

/** A step of a transaction. */
export type TransactionEvent =
  | PendingTransaction
  | IncludedTransaction
  | UndoneTransaction
  | DroppedTransaction
  | RefusedTransaction
  | SkippedSteps
