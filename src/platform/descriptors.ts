/** How many files and connections this process may have open at once. */
import { readFileSync } from 'node:fs'

/** Descriptors kept for everything but clients: databases, nodes, threads, files of the runtime. At most half of all. */
const MAX_OTHER_DESCRIPTORS = 256

/** How many of so many descriptors may be clients of a server. */
export function descriptorsForClients(descriptors: number): number {
  return descriptors - Math.min(MAX_OTHER_DESCRIPTORS, Math.ceil(descriptors / 2))
}

/** The soft limit of file descriptors; null where the system does not tell it (other than Linux), or has none. */
export function descriptorLimit(): number | null {
  let limits: string
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Only Linux has this file, and some containers hide it.
    return null
  }
  const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
  return soft === undefined || soft === 'unlimited' ? null : Number(soft)
}
