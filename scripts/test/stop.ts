/** Ends a run early: on a signal, or when the npm that started it is gone. */
import { constants } from 'node:os'
import { processes } from './processes.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const LOOK_MS = 500

/**
 * Runs the task with a signal that aborts on an early end. Resolves with its exit code, or with 128 plus the signal
 * number.
 */
export async function untilStopped(task: (stopped: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController()
  let by: NodeJS.Signals = 'SIGTERM'
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      by = signal
      controller.abort()
    })
  }
  const timer = setInterval(
    orphanCheck(() => controller.abort()),
    LOOK_MS,
  ).unref()
  const code = await task(controller.signal)
  clearInterval(timer)
  return controller.signal.aborted ? 128 + constants.signals[by] : code
}

/**
 * Detects the end of npm. npm runs this process through a shell, and a signal may end either without reaching this
 * process.
 */
function orphanCheck(onOrphaned: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => undefined
  const starters = () => {
    const all = processes()
    return [process.ppid, all.find(({ pid }) => pid === process.ppid)?.parent].join(' ')
  }
  const first = starters()
  return () => {
    if (starters() !== first) onOrphaned()
  }
}
