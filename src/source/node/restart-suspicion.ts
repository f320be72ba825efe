/**
 * Signs that a node may have started anew, and forgotten the work that it gave: a connection ended, or it was away. Slow
 * nodes, and proxies that end idle connections, give such signs all the time: those count less and less.
 */
import type { Transition } from './transition.ts'

/** From one sign that counts to the next: doubled each time, up to the greatest. */
const LEAST_MS = 1_000
const MOST_MS = 60_000
/** After so long without a sign it begins anew. */
const QUIET_MS = 120_000

/** There is a sign. Returns whether it counts now; otherwise it counts as soon as the time for it has come. */
export function suspectRestart(t: Transition): boolean {
  const { everyMs, seenAtMs, notBeforeMs, isWaiting } = t.state.suspicion
  const isQuiet = t.atMs - seenAtMs >= QUIET_MS
  const isNow = !isWaiting && t.atMs >= notBeforeMs
  if (!isWaiting && !isNow) t.effects.push({ type: 'suspicionLater', delayMs: notBeforeMs - t.atMs })
  const next = { everyMs: isQuiet ? LEAST_MS : everyMs, seenAtMs: t.atMs, notBeforeMs, isWaiting: !isNow }
  t.set({ suspicion: next })
  if (isNow) countSuspicion(t)
  return isNow
}

/** A sign counts: the next one counts only later. */
export function countSuspicion(t: Transition): void {
  const { suspicion } = t.state
  const { everyMs } = suspicion
  const notBeforeMs = t.atMs + everyMs
  t.set({ suspicion: { ...suspicion, everyMs: Math.min(MOST_MS, 2 * everyMs), notBeforeMs, isWaiting: false } })
}
