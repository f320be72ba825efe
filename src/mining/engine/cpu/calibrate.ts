/** Picks the fastest kernel for this processor in a short race before mining starts. */
import type { Kernel } from './kernel.ts'

/** Usual duration of the whole race. */
const RACE_MS = 50
/** Nonces per heat: a fraction of a millisecond for a vector kernel. */
const HEAT_NONCES = 8192
/** The usual margin, because heats are short and other programs may run. */
const MARGIN = 1.1

/**
 * Compares each kernel's best heat, because a disturbance only makes heats slower. The kernels take turns, so that V8
 * can optimise each of them during the whole race.
 * @param kernels at least one
 * @param nowMs a clock
 * @param options how long the race is; a later kernel wins only if it is faster by the factor `margin`
 */
export function fastestOf(
  kernels: readonly Kernel[],
  nowMs: () => number,
  { raceMs = RACE_MS, margin = MARGIN }: { readonly raceMs?: number; readonly margin?: number } = {},
): Kernel {
  const best = new Map<Kernel, number>(kernels.map((kernel) => [kernel, Number.POSITIVE_INFINITY]))
  for (const kernel of kernels) kernel.setWork(new Uint32Array(8), new Uint32Array(16), 0)
  const endMs = nowMs() + raceMs
  for (let middle = 0; kernels.length > 1 && nowMs() < endMs; middle++) {
    for (const [kernel, shortestMs] of best) {
      const startMs = nowMs()
      kernel.sweep(0, middle, 0, HEAT_NONCES)
      best.set(kernel, Math.min(shortestMs, nowMs() - startMs))
    }
  }
  return kernels.reduce((a, b) => {
    const [before, now] = [best.get(a) ?? 0, best.get(b) ?? 0]
    return now * margin < before ? b : a
  })
}
