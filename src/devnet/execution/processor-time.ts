/**
 * Processor time of a thread. Linux reports it for each thread. Elsewhere the time of the whole process counts, which is
 * never less. Not all supported versions of Node report the time of a thread.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** Clock ticks in /proc: 100 a second on all Linux systems. */
const MS_OF_TICK = 10
/** Indexes of user and system time in /proc/PID/stat, counted from the state, which follows the name in parentheses. */
const [USER, SYSTEM] = [11, 12]

/** The Linux id of the current thread, or null on other systems. */
export function linuxThreadId(): number | null {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    return Number.isInteger(threadId) ? threadId : null
  } catch {
    // Not Linux, or a container without /proc.
    return null
  }
}

/**
 * Starts to measure.
 * @param threadId Linux id of a thread of this process, or null for the whole process
 * @returns a function that gives the milliseconds since its start. If the thread has ended, they are those of the process
 */
export function measureThread(threadId: number | null): () => number {
  const processStartMs = processMs()
  const threadStartMs = threadId === null ? null : threadMs(threadId)
  return () => {
    const now = threadId === null ? null : threadMs(threadId)
    return now === null || threadStartMs === null ? processMs() - processStartMs : now - threadStartMs
  }
}

function processMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function threadMs(threadId: number): number | null {
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[USER]) + Number(fields[SYSTEM])) * MS_OF_TICK
  } catch {
    // It has ended.
    return null
  }
}
