/** The console as JSON records. Lines for people are in text-view.ts. */
import { createRequire } from 'node:module'
import type { NewcutError } from '#ground/base/errors.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import type { FlagWriter } from './flags.ts'
import { type LogFormat, logLevelOf } from './levels.ts'
import type { Output } from './line.ts'
import { type ConsoleEvent, errorEvent, errorText } from './notices.ts'
import { printerTo, type Terminal } from './terminal.ts'

/** The actions of the keys of a terminal on a miner. */
export interface KeyControl {
  readonly snapshot: () => Snapshot
  readonly pause: () => void
  readonly resume: () => void
}

export interface ConsoleView {
  readonly show: (event: ConsoleEvent) => void
  /** On a terminal: shows the state of the miner, and obeys keys. @returns a function that ends this. */
  readonly attend: (miner: KeyControl) => () => void
}

/** One JSON object a line, through pino. */
export function jsonView({
  out,
  nowMs,
}: {
  readonly out: Pick<Output, 'write'>
  readonly nowMs: () => number
}): ConsoleView {
  const timestamp = () => `,"time":"${new Date(nowMs()).toISOString()}"`
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino')
  const logger = pino(
    // The caller has filtered events by level.
    { base: null, level: 'debug', messageKey: 'message', timestamp, formatters: { level: levelName } },
    { write: (text: string) => void out.write(text) },
  )
  return {
    show: (event) => {
      const { type, ...rest } = event
      logger[logLevelOf(event, 'json')]({ event: type, ...rest })
    },
    attend: () => () => undefined,
  }
}

/**
 * Reports the error that ends the program: a line on `err`, or an object on `out`, where the other JSON records are.
 * `write` names the flags of the command.
 */
export function reportError(error: NewcutError, format: LogFormat, terminal: Terminal, write?: FlagWriter): void {
  const event = errorEvent(error, write)
  if (format === 'json') jsonView(terminal).show(event)
  else printerTo(terminal.err)(`newcut: ${errorText(event)}`)
}

const levelName = (label: string) => ({ level: label })
