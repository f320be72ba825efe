/** Limit of open files and connections of this process. */
import { readFileSync } from 'node:fs'

/** File descriptors reserved for everything but clients: databases, nodes, threads, runtime. At most half of all. */
const MAX_OTHER_DESCRIPTORS = 256

/** Number of descriptors available for clients of a server. */
export function descriptorsForClients(descriptors: number): number {
  return descriptors - Math.min(MAX_OTHER_DESCRIPTORS, Math.ceil(descriptors / 2))
}

/**
 * Soft limit of file descriptors.
 * @returns null if the limit is unknown (systems other than Linux) or unlimited
 */
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
