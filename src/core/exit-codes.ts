/** Exit codes by cause: a closed table. Node.js reserves the numbers from 3 to 19. */
import type { ErrorCode } from './errors.ts'

export const exitCodes = {
  0: 'done: everything asked for, or stopped in order by a signal, a key or `stop` over HTTP',
  1: 'no: a check, test or comparison found something, a command failed, input cannot be read or output written, or it was stopped before it was done',
  2: 'options or configuration are wrong: without a change, the same will happen again',
  20: 'the node does not answer',
  21: 'the node refuses, answers what no node answers, or is of another network',
  22: 'the miner ended while nothing could search: all devices had failed',
  23: 'nothing here can search: kernels and devices failed their self-tests, or there are none',
  24: 'the address to listen on is taken',
  25: 'the data directory cannot be used',
  70: 'an internal error: a fault of newcut',
  130: 'ended at once by a second signal, SIGINT (Ctrl-C)',
  143: 'ended at once by a second signal, SIGTERM',
} as const

export type ExitCode = keyof typeof exitCodes

const ofErrors: Readonly<Record<ErrorCode, ExitCode>> = {
  BAD_FORMAT: 1,
  BAD_OPTION: 2,
  BAD_CONFIG: 2,
  BAD_INPUT: 1,
  BAD_OUTPUT: 1,
  DATA_UNUSABLE: 25,
  PORT_BUSY: 24,
  NODE_UNREACHABLE: 20,
  NODE_NOT_RECOGNISED: 21,
  NODE_REFUSED: 21,
  NODE_MISBEHAVED: 21,
  COMMAND_FAILED: 1,
  NO_RESULT: 1,
  KERNEL_REFUSED: 23,
  INTERNAL: 70,
}

/** The exit code for an error code. */
export function exitCodeOf(code: ErrorCode): ExitCode {
  return ofErrors[code]
}
