/**
 * Events of an embedded node for logs: producers of blocks and steps of transactions. External texts are sanitized to
 * one printable line of limited length.
 */

/** Producer of a block: a miner, a request such as POST /make-blocks, or automatic mining. */
export type BlockMadeBy = 'miner' | 'order' | 'auto-mine'

/** Action of a command. */
export type CommandAction =
  /** A single call of `transfer`, `transfer-create` or `transfer-crosschain` of a token. */
  | {
      readonly kind: 'transfer'
      readonly sender: string
      readonly receiver: string
      /** As written in the code: `10.5`. */
      readonly amount: string
      /** The module: `coin`. */
      readonly token: string
      /** Chain of the receiver, or null for the same chain. */
      readonly toChain: string | null
    }
  | { readonly kind: 'code'; readonly code: string }
  | {
      readonly kind: 'continuation'
      readonly pactId: string
      readonly step: number
      readonly isRollback: boolean
    }

/** Loggable part of a command. */
export interface LoggedCommand {
  readonly requestKey: string
  /** Account that pays for gas. */
  readonly sender: string
  readonly action: CommandAction
}

/** Position among the `count` transactions of one block or request, whose events follow each other. */
export interface BatchPosition {
  readonly index: number
  readonly count: number
}

/** A transaction in a block. */
export interface TransactionPosition extends BatchPosition {
  readonly chain: number
  readonly height: number
  /** Hash of the block. */
  readonly block: string
}

/** Entered the mempool. Not emitted for transactions that return to it. */
export interface PendingTransaction extends LoggedCommand {
  readonly step: 'pending'
  readonly chain: number
}

/** Included in a block of the chain. */
export interface IncludedTransaction extends LoggedCommand, TransactionPosition {
  readonly step: 'included'
  readonly status: 'success' | 'failure'
  readonly gas: number
  /** Result value in the language's own syntax, or the error message. */
  readonly result: string
  /** Place of an error as in `info` of the result: a function, and a line counted from 0. Null if unknown. */
  readonly place: string | null
  /** Events as `module.NAME`, including the fee transfer; at most 20. */
  readonly events: readonly string[]
  /** True if an earlier event reported that its block left the chain. */
  readonly isAgain: boolean
}

/** Its block has left the chain. */
export interface UndoneTransaction extends LoggedCommand, TransactionPosition {
  readonly step: 'undone'
  /** `revert` is a revert to a snapshot. */
  readonly by: 'reorganisation' | 'revert'
  /** New location: the mempool, another block of the chain, or nowhere. */
  readonly wentTo: 'pool' | 'chain' | 'nowhere'
  /** Reason for `nowhere`, otherwise null. */
  readonly reason: string | null
}

/** Left the mempool without being in a block. */
export interface DroppedTransaction extends LoggedCommand {
  readonly step: 'dropped'
  readonly chain: number
  readonly reason: string
}

/** Refused by `send`. Unreadable fields are null; an unreadable request is one event. */
export interface RefusedTransaction extends BatchPosition {
  readonly step: 'refused'
  /** Chain of the request. */
  readonly chain: number | null
  readonly requestKey: string | null
  readonly sender: string | null
  readonly action: CommandAction | null
  readonly httpStatus: number
  readonly reason: string
}

/** Steps outside of blocks that the log omits, because too many came at once. */
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

/** A text that code printed with `print`, as it is: it may have several lines. */
export interface PrintEvent {
  /** `block`: a transaction of a new block. `local` and `preflight`: a call that leaves nothing behind. */
  readonly by: 'block' | 'local' | 'preflight'
  readonly chain: number
  /** Height of the block; null for a call. */
  readonly height: number | null
  readonly requestKey: string
  /** Module whose code prints; null for the code of the command. */
  readonly module: string | null
  /** Line of the call in the text of the command, or of the one that deployed the module; it counts from 1. */
  readonly line: number
  readonly text: string
}
