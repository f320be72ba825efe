/**
 * Runs `task` with a signal that aborts on SIGINT or SIGTERM. A second one ends the process at once, and once the task
 * is over they do what they do by default.
 */
export async function untilStopped<T>(task: (stopped: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) process.exit(130)
    controller.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  try {
    return await task(controller.signal)
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}
