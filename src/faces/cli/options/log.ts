/** Options of the log, for commands that run until they are stopped. */
import { logLevels } from '../levels.ts'
import { oneOf, someText } from '../values.ts'
import { changeable, option, optional } from './row.ts'

export const logOptions = {
  log: option(oneOf(['text', 'json'] as const), 'text', 'FORMAT', 'log format: text or json', {
    group: 'log',
    ...changeable,
  }),
  'log-level': option(oneOf(logLevels), 'info', 'LEVEL', 'error, warn, info or debug', {
    group: 'log',
    more: 'The log leaves out less important events.',
    ...changeable,
  }),
  'log-file': optional(someText, 'FILE', 'also append the log to this file', {
    group: 'log',
    more: 'Its lines have date and time. The signal SIGUSR2 reopens the file after a rotation.',
  }),
}
