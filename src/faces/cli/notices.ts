/** Everything that the console shows: events of the miner, and notices. */
import { describeError, type ErrorCode, type NewcutError } from '#ground/base/errors.ts'
import { withoutSecrets } from '#ground/base/host.ts'
import type { BlockMadeBy, PrintEvent, TransactionEvent } from '#ground/schema/devnet-events.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import type { FlagWriter } from './flags.ts'

/** Messages besides the events of the miner. */
export type Notice =
  | { readonly type: 'banner'; readonly lines: readonly string[] }
  | { readonly type: 'summary'; readonly snapshot: Snapshot }
  /**
   * An option of a running miner changed. `before` and `now` are values as a file has them, or null if not set or secret.
   * If the change has no effect, `before` is the value in use, and `reason` says why.
   */
  | {
      readonly type: 'configuration'
      readonly option: string
      readonly before: unknown
      readonly now: unknown
      readonly effect: 'now' | 'next start' | 'none'
      readonly reason?: string
    }
  | BlockNotice
  | TransactionNotice
  /** A text that a contract printed. */
  | ({ readonly type: 'print' } & PrintEvent)
  | {
      readonly type: 'refused'
      readonly chain: number
      readonly height: number
      readonly reason: string
      /** Its chain had a newer block, which is normal. Otherwise the block breaks a rule. */
      readonly isStale: boolean
    }
  /** The accounts that a development network funds. */
  | {
      readonly type: 'accounts'
      readonly warning: string
      readonly accounts: readonly FundedAccount[]
      /** How to sign as one of them. */
      readonly hint: string
    }
  /** An HTTP request. `status` is null if there was no answer. */
  | {
      readonly type: 'request'
      readonly method: string
      readonly path: string
      readonly status: number | null
      readonly ms: number
      readonly bytes: number
    }
  /** The error that ends the program. */
  | {
      readonly type: 'error'
      readonly code: ErrorCode
      readonly message: string
      readonly hint: string | undefined
      /** Facts for programs, such as the request key of a transaction that failed. */
      readonly [fact: string]: unknown
    }

export interface FundedAccount {
  readonly account: string
  readonly publicKey: string
  readonly secretKey: string
  readonly coinsAtGenesis: number
}

/** A block of a development network. */
export interface BlockNotice {
  readonly type: 'block'
  readonly chain: number
  readonly height: number
  readonly difficulty: number
  readonly by: BlockMadeBy
  /** The number of its transactions. */
  readonly transactions: number
}

/** A step of a transaction on a development network. */
export type TransactionNotice = { readonly type: 'transaction' } & TransactionEvent

export type ConsoleEvent = MinerEvent | Notice

/** The event for the error that ends the program. @param write names the flags of the command in its texts */
export function errorEvent(
  error: NewcutError,
  write: FlagWriter = (text) => text,
): Extract<Notice, { readonly type: 'error' }> {
  const { code } = error
  // These errors repeat typed text, such as the address of a node with a password.
  const writeSafely = (text: string) => (code === 'BAD_OPTION' ? withoutSecrets(write(text)) : write(text))
  const hint = error.hint === undefined ? undefined : writeSafely(error.hint)
  return { ...error.facts, type: 'error', code, message: writeSafely(describeError(error)), hint }
}

/** The event with the flags of the command in its message. */
export function withFlags(event: ConsoleEvent, write: FlagWriter): ConsoleEvent {
  return 'message' in event && typeof event.message === 'string' ? { ...event, message: write(event.message) } : event
}

/** `no answer (is a node running there?) [NODE_UNREACHABLE]` */
export function errorText({ code, message, hint }: Extract<Notice, { readonly type: 'error' }>): string {
  return `${message}${hint === undefined ? '' : ` (${hint})`} [${code}]`
}
