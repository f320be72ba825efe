/** `newcut devnet --exec`: a command that runs beside the node, such as a test. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { operatingError } from '#ground/base/errors.ts'
import { commandErrors } from './input/errors.ts'

/** The variable with the address of the node, which commands of newcut read too. */
const NODE_VARIABLE = 'NEWCUT_NODE'

/**
 * Runs a command line in a shell with the input and outputs of this process. Resolves with its exit code, or with 128
 * plus the number of the signal that ended it. `stopped` ends it early with SIGTERM.
 * @throws NewcutError BAD_INPUT if no shell starts
 */
export function runWithNode(command: string, url: string, stopped: AbortSignal): Promise<number> {
  // A terminal sends Ctrl-C to its process group. Elsewhere the command gets its own group, so that all of it can be ended.
  const hasGroup = process.platform !== 'win32' && !process.stdin.isTTY
  const child = spawn(command, {
    shell: true,
    stdio: 'inherit',
    detached: hasGroup,
    env: { ...process.env, [NODE_VARIABLE]: url },
  })
  const end = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(hasGroup ? -child.pid : child.pid, signal)
    }
  }
  const stop = () => end('SIGTERM')
  const killAtExit = () => end('SIGKILL')
  stopped.addEventListener('abort', stop)
  process.on('exit', killAtExit)
  return new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(operatingError(commandErrors.noShell, { why: error.message }, error)))
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  }).finally(() => {
    stopped.removeEventListener('abort', stop)
    process.off('exit', killAtExit)
  })
}
