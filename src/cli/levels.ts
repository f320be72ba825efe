/** The levels of the log: the one table of which event belongs to which. docs/CONSOLE.md shows it to users. */
import type { ConsoleEvent } from './notices.ts'

/** From the most important events to the least. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

export type LogFormat = 'text' | 'json'

type EventOf<Type> = Extract<ConsoleEvent, { readonly type: Type }>
type Rule<Type> = LogLevel | ((event: EventOf<Type>, format: LogFormat) => LogLevel)

/** Text has details at `debug`. JSON has had them always, and programs that read its records rely on them. */
const detail = (_event: unknown, format: LogFormat): LogLevel => (format === 'json' ? 'info' : 'debug')

const rules: { readonly [Type in ConsoleEvent['type']]: Rule<Type> } = {
  error: 'error',
  hardwareError: 'error',
  warning: 'warn',
  trouble: 'warn',
  // Without it nobody who reads warnings alone would know that an outage is over.
  recovered: 'warn',
  solution: (event, format) => {
    switch (event.verdict) {
      case null:
        return detail(event, format)
      case 'rejected':
        return 'error'
      case 'lost':
      case 'unconfirmed':
        return 'warn'
      default:
        return 'info'
    }
  },
  refused: ({ isStale }) => (isStale ? 'info' : 'warn'),
  configuration: ({ effect }) => (effect === 'none' ? 'warn' : 'info'),
  banner: 'info',
  accounts: 'info',
  ready: 'info',
  work: 'info',
  idle: 'info',
  notice: 'info',
  paused: 'info',
  resumed: 'info',
  fleet: 'info',
  forkVote: 'info',
  speed: 'info',
  block: 'info',
  transaction: ({ step }) => (step === 'skipped' ? 'warn' : 'info'),
  request: 'info',
  summary: 'info',
  reward: detail,
  detail,
}

/** The level of an event. */
export function levelOf(event: ConsoleEvent, format: LogFormat): LogLevel {
  const rule = rules[event.type] as Rule<ConsoleEvent['type']>
  return typeof rule === 'string' ? rule : rule(event as never, format)
}

/** Whether a log of `level` shows what is of `other`. */
export const includes = (level: LogLevel, other: LogLevel) => logLevels.indexOf(other) <= logLevels.indexOf(level)

/** Whether a log shows the event. A log that falls silent says why: it shows a change of its level at any level. */
export function isShown(event: ConsoleEvent, { format, level }: LogStyle): boolean {
  return includes(level, levelOf(event, format)) || (event.type === 'configuration' && event.option === 'log-level')
}

/** How a log is written, and how much of it. */
export interface LogStyle {
  readonly format: LogFormat
  readonly level: LogLevel
}
