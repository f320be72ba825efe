/**
 * Processor time of a thread. Linux tells that of each thread; elsewhere the time of the whole process counts, which is
 * at least that of the thread. Not all supported versions of Node tell the time of a thread themselves.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** Clock ticks in /proc: 100 a second on all Linux systems. */
const MS_OF_TICK = 10
/** Indexes of user and system time in /proc/PID/stat, counted from the state, which follows the name in parentheses. */
const [USER, SYSTEM] = [11, 12]

/** The number of the present thread in Linux, or null elsewhere. */
export function linuxThread(): number | null {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    return Number.isInteger(thread) ? thread : null
  } catch {
    // Not Linux, or a container without /proc.
    return null
  }
}

/**
 * Starts to measure.
 * @param thread the number of a thread of this process, or null for the whole process
 * @returns a function that gives the milliseconds since its start. If the thread has ended, they are those of the process
 */
export function measureThread(thread: number | null): () => number {
  const processStartMs = processMs()
  const threadStartMs = thread === null ? null : threadMs(thread)
  return () => {
    const now = thread === null ? null : threadMs(thread)
    return now === null || threadStartMs === null ? processMs() - processStartMs : now - threadStartMs
  }
}

function processMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function threadMs(thread: number): number | null {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[USER]) + Number(fields[SYSTEM])) * MS_OF_TICK
  } catch {
    // It has ended.
    return null
  }
}
