/** Which of several kernels is the fastest on this processor: a short race before mining starts. */
import type { Kernel } from './kernel.ts'

/** Time for all kernels together. */
const RACE_MS = 50
/** Nonces of one heat: a fraction of a millisecond for a kernel that uses vector instructions. */
const HEAT_NONCES = 8192
/** A later kernel of the list wins only if it is faster by this factor: heats are short, and other programs may run. */
const MARGIN = 1.1

/**
 * The fastest of `kernels` (at least one), by the best heat of each: a disturbance makes a heat slower, never faster.
 * They take turns, so that V8 has the whole race to optimise each of them. `nowMs` is a clock.
 */
export function fastestOf(kernels: readonly Kernel[], nowMs: () => number): Kernel {
  const best = new Map<Kernel, number>(kernels.map((kernel) => [kernel, Number.POSITIVE_INFINITY]))
  for (const kernel of kernels) kernel.setWork(new Uint32Array(8), new Uint32Array(16), 0)
  const endMs = nowMs() + RACE_MS
  for (let middle = 0; kernels.length > 1 && nowMs() < endMs; middle++) {
    for (const [kernel, shortestMs] of best) {
      const startMs = nowMs()
      kernel.sweep(0, middle, 0, HEAT_NONCES)
      best.set(kernel, Math.min(shortestMs, nowMs() - startMs))
    }
  }
  return kernels.reduce((a, b) => {
    const [before, now] = [best.get(a) ?? 0, best.get(b) ?? 0]
    return now * MARGIN < before ? b : a
  })
}
