/** The levels of the log, with the level of each event. docs/CONSOLE.md shows this table to users. */
import type { ConsoleEvent } from './notices.ts'

/** From the most important events to the least. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

export type LogFormat = 'text' | 'json'

type EventOf<Type> = Extract<ConsoleEvent, { readonly type: Type }>
type Rule<Type> = LogLevel | ((event: EventOf<Type>, format: LogFormat) => LogLevel)

/** Text has details at `debug` only. JSON always has them, and programs rely on that. */
const detail = (_event: unknown, format: LogFormat): LogLevel => (format === 'json' ? 'info' : 'debug')

const levelOfRefusal = ({ isStale }: EventOf<'refused'>): LogLevel => (isStale ? 'info' : 'warn')

const rules: { readonly [Type in ConsoleEvent['type']]: Rule<Type> } = {
  error: 'error',
  hardwareError: 'error',
  warning: 'warn',
  trouble: 'warn',
  // Readers of warnings alone must see the end of an outage.
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
  refused: levelOfRefusal,
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
  print: 'info',
  request: 'info',
  summary: 'info',
  // A loss is for the readers of warnings: its owner asked for it by stating prices.
  profit: ({ profit }) => ((profit.profitPerDay ?? 0) < 0 ? 'warn' : 'info'),
  reward: detail,
  detail,
}

/** The level of an event. */
export function logLevelOf(event: ConsoleEvent, format: LogFormat): LogLevel {
  const rule = rules[event.type] as Rule<ConsoleEvent['type']>
  return typeof rule === 'string' ? rule : rule(event as never, format)
}

/** Whether a log of `level` shows events of level `other`. */
export const includes = (level: LogLevel, other: LogLevel) => logLevels.indexOf(other) <= logLevels.indexOf(level)

/** Whether a log shows the event. A change of its level is shown at any level, which explains why a log falls silent. */
export function isShown(event: ConsoleEvent, { format, level }: LogStyle): boolean {
  return includes(level, logLevelOf(event, format)) || (event.type === 'configuration' && event.option === 'log-level')
}

/** The format and the level of a log. */
export interface LogStyle {
  readonly format: LogFormat
  readonly level: LogLevel
}
