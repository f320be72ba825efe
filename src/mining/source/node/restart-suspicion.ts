/**
 * Signs that a node may have restarted and forgotten its work: a connection ended, or it was away. Slow nodes and
 * proxies that end idle connections cause such signs all the time, so frequent signs count less.
 */
import type { Transition } from './transition.ts'

/** Minimum interval between signs that count: doubles each time, up to the maximum. */
const MIN_INTERVAL_MS = 1_000
const MAX_INTERVAL_MS = 60_000
/** The interval resets after this time without a sign. */
const QUIET_MS = 120_000

/**
 * Records a sign.
 * @returns true if it counts now; otherwise it counts when its interval is over
 */
export function suspectRestart(t: Transition): boolean {
  const { everyMs, seenAtMs, notBeforeMs, isWaiting } = t.state.suspicion
  const isQuiet = t.atMs - seenAtMs >= QUIET_MS
  const isNow = !isWaiting && t.atMs >= notBeforeMs
  if (!isWaiting && !isNow) t.effects.push({ type: 'suspicionLater', delayMs: notBeforeMs - t.atMs })
  const next = { everyMs: isQuiet ? MIN_INTERVAL_MS : everyMs, seenAtMs: t.atMs, notBeforeMs, isWaiting: !isNow }
  t.set({ suspicion: next })
  if (isNow) countSuspicion(t)
  return isNow
}

/** Counts a sign and extends the interval. */
export function countSuspicion(t: Transition): void {
  const { suspicion } = t.state
  const { everyMs } = suspicion
  const notBeforeMs = t.atMs + everyMs
  t.set({ suspicion: { ...suspicion, everyMs: Math.min(MAX_INTERVAL_MS, 2 * everyMs), notBeforeMs, isWaiting: false } })
}
