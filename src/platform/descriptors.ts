/** How many files and connections this process may have open at once. */
import { readFileSync } from 'node:fs'

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
