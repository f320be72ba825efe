/** Formats durations. */

/** Minutes and seconds: `4:07`. */
export function durationText(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
