/** Exit codes of the program by cause: a closed table. Node.js uses the numbers from 3 to 19. */
import type { ErrorCode } from './errors.ts'

export const exitCodes = {
  0: 'success: the task is done, or a signal, a key or `stop` over HTTP stopped it in order',
  1: 'failure: a check, test or comparison found a problem, a transaction, input or output failed, or it was stopped early',
  2: 'wrong options or configuration: a restart would fail in the same way',
  20: 'the node does not answer',
  21: 'the node refuses, sends invalid answers, or belongs to another network',
  22: 'the miner ended because all devices had failed',
  23: 'nothing can search: kernels and devices failed their self-tests, or there are none',
  24: 'the address to listen on is taken',
  25: 'the data folder cannot be used',
  70: 'an internal error: a bug in newcut',
  130: 'a second signal, SIGINT (Ctrl-C), ended it at once',
  143: 'a second signal, SIGTERM, ended it at once',
} as const

export type ExitCode = keyof typeof exitCodes

const codeOfErrors: Readonly<Record<ErrorCode, ExitCode>> = {
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

/** @returns the exit code of a program that ends with this error. */
export function exitCodeOf(code: ErrorCode): ExitCode {
  return codeOfErrors[code]
}
