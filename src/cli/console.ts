/** The console: what it shows, and as JSON records. Lines for people are in text-face.ts. */
import { type Logger, pino } from 'pino'
import { describeError, type NewcutError } from '../core/errors.ts'
import { withoutSecrets } from '../core/host.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Snapshot } from '../mine/stats.ts'
import type { BlockMadeBy, TransactionEvent } from '../schema/devnet-events.ts'
import type { Keyboard } from './hotkeys.ts'
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
  | { readonly type: 'refused'; readonly chain: number; readonly height: number; readonly reason: string }

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
export function jsonFace(terminal: Terminal): Face {
  const logger = jsonLogger(terminal)
  return {
    show: (event) => {
      const { type, ...rest } = event
      const level = type === 'trouble' || type === 'warning' ? 'warn' : type === 'hardwareError' ? 'error' : 'info'
      logger[level]({ event: type, ...rest })
    },
    attend: () => () => undefined,
  }
}

function jsonLogger({ out, nowMs }: Terminal): Logger {
  const timestamp = () => `,"time":"${new Date(nowMs()).toISOString()}"`
  return pino(
    { base: null, messageKey: 'message', timestamp, formatters: { level: levelName } },
    { write: (text: string) => void out.write(text) },
  )
}

/**
 * Reports the error that ends the program: a line on `err`, or an object on `out`, where the other JSON records are.
 */
export function reportError(error: NewcutError, format: LogFormat, terminal: Terminal): void {
  const { code } = error
  // These repeat what was typed, such as the address of a node with a password in it.
  const shown = code === 'BAD_OPTION' ? withoutSecrets : (text: string) => text
  const message = shown(describeError(error))
  const hint = error.hint === undefined ? undefined : shown(error.hint)
  if (format === 'json') jsonLogger(terminal).error({ event: 'error', code, message, hint })
  else terminal.err.write(`newcut: ${message}${hint === undefined ? '' : ` (${hint})`} [${code}]\n`)
}

const levelName = (label: string) => ({ level: label })
