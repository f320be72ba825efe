/** Peak memory of this process since a moment. */
import { readFileSync, writeFileSync } from 'node:fs'

const isLinux = process.platform === 'linux'
/** Order to Linux to forget the peak, in /proc/self/clear_refs. */
const FORGET_PEAK = '5'

/**
 * Makes the system forget the peak so far. Only Linux can; elsewhere `peakMiB` stays that of the whole process, an upper
 * bound.
 */
export function forgetPeak(): void {
  if (isLinux) writeFileSync('/proc/self/clear_refs', FORGET_PEAK)
}

export function peakMiB(): number {
  const kiB = isLinux ? /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] : undefined
  return Number(kiB ?? process.resourceUsage().maxRSS) / 1024
}
