/**
 * Events of an embedded node, for logs: who made a block, and each step of a transaction. Texts come from outside, so each
 * is one printable line of limited length.
 */

/** Who made a block: a miner who handed it in, an order such as POST /make-blocks, or automatic mining. */
export type BlockMadeBy = 'miner' | 'order' | 'auto-mine'

/** The work that a command asks for. */
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

/** Number `index` of the `count` transactions of one block or request, which are told one after the other. */
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
  /** Where an error arose, as in `info` of the result: a function, and a line that counts from 0; null: not known. */
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

/** `send` did not take it. Fields that cannot be read are null; a request that cannot be read is one event. */
export interface RefusedTransaction extends Placed {
  readonly step: 'refused'
  /** The chain of the request. */
  readonly chain: number | null
  readonly requestKey: string | null
  readonly sender: string | null
  readonly action: CommandAction | null
  readonly httpStatus: number
  readonly reason: string
}

/** Steps outside of blocks that were not told, because too many came at once. */
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
