/** Options of the log: of the commands that go on until they are stopped. */
import { logLevels } from '../levels.ts'
import { oneOf, someText } from '../values.ts'
import { changeable, option, unset } from './row.ts'

export const logOptions = {
  log: option(oneOf(['text', 'json'] as const), 'text', 'FORMAT', 'the log as text or as JSON', {
    group: 'log',
    ...changeable,
  }),
  'log-level': option(
    oneOf(logLevels),
    'info',
    'LEVEL',
    'least important events in the log: error, warn, info or debug',
    { group: 'log', ...changeable },
  ),
  'log-file': unset(
    someText,
    'FILE',
    'append the log to this file too, with date and time; the signal SIGUSR2 opens it anew after a rotation',
    { group: 'log' },
  ),
}
