/** What processes used of the processors, from Linux (proc(5)), to the nanosecond. */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Milliseconds that all threads of a process have run since its start, of those that still are; null: the system does not
 * tell it, or the process has ended.
 */
export function processorMs(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, Number(thread)), 0)
  } catch {
    return null
  }
}

/** The same of its main thread. */
export function mainThreadMs(pid: number): number | null {
  try {
    return threadMs(pid, pid)
  } catch {
    return null
  }
}

/** The first figure of `schedstat` is the time on a processor. */
function threadMs(pid: number, thread: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6
}
