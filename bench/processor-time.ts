/** CPU time of processes from Linux's proc(5), in nanosecond resolution. */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU time of all live threads of a process since its start, in milliseconds.
 * @returns null if the system does not report it, or the process has ended
 */
export function processorMs(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, Number(thread)), 0)
  } catch {
    return null
  }
}

/** CPU time of the main thread. */
export function mainThreadMs(pid: number): number | null {
  try {
    return threadMs(pid, pid)
  } catch {
    return null
  }
}

/** The first field of `schedstat` is the CPU time. */
function threadMs(pid: number, thread: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6
}
