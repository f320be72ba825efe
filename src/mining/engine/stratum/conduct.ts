/** Recent good and bad conduct of a client, and when it leads to a ban. */
import type { RigLimits } from './limits.ts'

/** Length of the counting window. */
const WINDOW_MS = 5 * 60_000
const BAD_FOR_EACH_GOOD = 4

export interface RigBehaviour {
  good: number
  bad: number
  windowMs: number
  bannedUntilMs: number
}

export function newConduct(): RigBehaviour {
  return { good: 0, bad: 0, windowMs: 0, bannedUntilMs: 0 }
}

/**
 * Counts good and bad conduct.
 * @returns true if the client is banned from now
 */
export function countConduct(conduct: RigBehaviour, { good = 0, bad = 0 }, limits: RigLimits, nowMs: number): boolean {
  if (nowMs - conduct.windowMs > WINDOW_MS) Object.assign(conduct, { windowMs: nowMs, good: 0, bad: 0 })
  conduct.good += good
  conduct.bad += bad
  const isBad = conduct.bad >= limits.badUntilBan && conduct.bad > BAD_FOR_EACH_GOOD * conduct.good
  if (bad === 0 || !isBad || conduct.bannedUntilMs > nowMs) return false
  conduct.bannedUntilMs = nowMs + limits.banMs
  return true
}
