/** Graceful shutdown on signals. */
import { constants } from 'node:os'

/** SIGHUP: the terminal was closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `task` with a signal that aborts on SIGINT, SIGTERM or SIGHUP. A second SIGINT or SIGTERM ends the process at
 * once, with exit code 128 plus the signal's number. After the task, the signals have their default effect again.
 */
export async function untilStopped<T>(task: (stopped: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    // Shell and kernel both send SIGHUP when a terminal closes, so a second one must not end the process.
    if (controller.signal.aborted && signal !== 'SIGHUP') process.exit(128 + constants.signals[signal])
    controller.abort()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    return await task(controller.signal)
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}
