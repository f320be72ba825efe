/** The console: what it shows, and as JSON records. Lines for people are in text-face.ts. */
import { pino } from 'pino'
import { describeError, type ErrorCode, type NewcutError } from '../core/errors.ts'
import { withoutSecrets } from '../core/host.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Snapshot } from '../mine/stats.ts'
import type { BlockMadeBy, TransactionEvent } from '../schema/devnet-events.ts'
import type { Keyboard } from './hotkeys.ts'
import { levelOf } from './levels.ts'
import type { Environment, Output } from './line.ts'

/** Things to show besides the miner's own events. */
export type Notice =
  | { readonly type: 'banner'; readonly lines: readonly string[] }
  | { readonly type: 'summary'; readonly snapshot: Snapshot }
  /**
   * An option of a running miner is another now. `before` and `now`: as a file has them; null: not set, or not to be
   * shown. Where it has no effect, `before` is what is used, and `reason` says why.
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
  | {
      readonly type: 'refused'
      readonly chain: number
      readonly height: number
      readonly reason: string
      /** Its chain had moved on, which is normal. Otherwise the block breaks a rule. */
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
  /** An HTTP request that was answered; `status` is null where there was no answer. */
  | {
      readonly type: 'request'
      readonly method: string
      readonly path: string
      readonly status: number | null
      readonly ms: number
      readonly bytes: number
    }
  /** The error that ends the program. */
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message: string; readonly hint: string | undefined }

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
  /** How many it has. */
  readonly transactions: number
}

/** A step of a transaction on a development network. */
export type TransactionNotice = { readonly type: 'transaction' } & TransactionEvent

export type ConsoleEvent = MinerEvent | Notice

/** What the keys of a terminal do with a miner. */
export interface Control {
  readonly snapshot: () => Snapshot
  readonly pause: () => void
  readonly resume: () => void
}

export interface Face {
  readonly show: (event: ConsoleEvent) => void
  /** On a terminal: shows what the miner does now, and obeys keys, until the function returned is called. */
  readonly attend: (miner: Control) => () => void
}

/** Outputs, environment and time of the terminal. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly environment: Environment
  /** Where keys come from. */
  readonly keyboard?: Keyboard | undefined
  /** Unix time in milliseconds. */
  readonly nowMs: () => number
}

export type LogFormat = 'text' | 'json'

/** One JSON object a line, through pino. */
export function jsonFace({ out, nowMs }: { readonly out: Pick<Output, 'write'>; readonly nowMs: () => number }): Face {
  const timestamp = () => `,"time":"${new Date(nowMs()).toISOString()}"`
  const logger = pino(
    // Which levels are shown is decided before an event comes here.
    { base: null, level: 'debug', messageKey: 'message', timestamp, formatters: { level: levelName } },
    { write: (text: string) => void out.write(text) },
  )
  return {
    show: (event) => {
      const { type, ...rest } = event
      logger[levelOf(event, 'json')]({ event: type, ...rest })
    },
    attend: () => () => undefined,
  }
}

/** The event for the error that ends the program. */
export function errorEvent(error: NewcutError): Extract<Notice, { readonly type: 'error' }> {
  const { code } = error
  // These repeat what was typed, such as the address of a node with a password in it.
  const shown = code === 'BAD_OPTION' ? withoutSecrets : (text: string) => text
  const hint = error.hint === undefined ? undefined : shown(error.hint)
  return { type: 'error', code, message: shown(describeError(error)), hint }
}

/**
 * Reports the error that ends the program: a line on `err`, or an object on `out`, where the other JSON records are.
 */
export function reportError(error: NewcutError, format: LogFormat, terminal: Terminal): void {
  const event = errorEvent(error)
  if (format === 'json') jsonFace(terminal).show(event)
  else terminal.err.write(`newcut: ${errorText(event)}\n`)
}

/** `no answer (is a node running there?) [NODE_UNREACHABLE]` */
export function errorText({ code, message, hint }: Extract<Notice, { readonly type: 'error' }>): string {
  return `${message}${hint === undefined ? '' : ` (${hint})`} [${code}]`
}

const levelName = (label: string) => ({ level: label })
