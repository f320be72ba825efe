/** Scheduling priority of search threads: low leaves the machine usable, and lets the main thread run when it must. */
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

export const priorities = ['low', 'normal'] as const
export type Priority = (typeof priorities)[number]

/**
 * Lowers the priority of the calling thread alone. On Linux each thread has its own, which is set by passing its thread
 * id as a process id. Elsewhere this would slow the whole process, so nothing is done and the result is false.
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
