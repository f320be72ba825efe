/**
 * Scheduling priority of search threads. A low priority keeps the machine responsive, including newcut's main thread.
 */
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

export const priorities = ['low', 'normal'] as const
export type Priority = (typeof priorities)[number]

/**
 * Lowers the priority of the calling thread only. Linux has a priority for each thread, set with the thread id in place
 * of a process id. Other systems would slow down the whole process.
 * @returns false if the priority is unchanged
 */
export function lowerThreadPriority(): boolean {
  if (process.platform !== 'linux') return false
  try {
    // <process>/task/<thread>
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Containers may hide /proc or forbid the call. The thread then searches at normal priority.
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ERR_SYSTEM_ERROR') return false
    throw error
  }
}
