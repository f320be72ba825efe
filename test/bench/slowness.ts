/** How slow the machine is just now. Other programs, and other machines on the same processor, share its cores. */

/** A machine that needs no more than this for the work is fast. The least of 120 runs on an EPYC (Zen 4) was 38 ms. */
const FAST_MS = 30

/** Large integers, texts and a map: what the evaluator does most. None of it is code of newcut. */
function work(): number {
  let state = 1n
  const rows = new Map<string, readonly [bigint, string]>()
  for (let i = 0; i < 200_000; i++) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffffffffffn
    rows.set(`row-${i % 5000}`, [state, `${i}`])
  }
  return rows.size
}

/** Processor time of a piece of work, as a multiple of that on a fast machine; at least 1. */
export function slowness(): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return Math.max(1, (user + system) / 1000 / FAST_MS)
}
