/** Waits in tests: for the condition itself, until the timeout of the test. */

/** Pauses between checks grow, because checks take processor time from the thing they wait for. */
const FIRST_PAUSE_MS = 5
const LAST_PAUSE_MS = 25

/** Checks before a wait with words fails: half a minute at least, and more on a busy machine. */
const MAX_CHECKS = 1500

/**
 * Resolves once the condition is true.
 * @param missing says what has not happened. With it, the wait fails with these words after very many checks. Without
 * it, the test hangs until its timeout.
 */
export async function until(condition: () => boolean | Promise<boolean>, missing?: () => string): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS
  for (let checks = 1; !(await condition()); checks++) {
    if (missing !== undefined && checks === MAX_CHECKS) throw new Error(missing())
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    pauseMs = Math.min(LAST_PAUSE_MS, 1.1 * pauseMs)
  }
}

/** Whether the condition stays true while the event loop of this process turns a few times. */
export async function staysSo(condition: () => boolean, turns = 20): Promise<boolean> {
  for (let turn = 0; turn < turns; turn++) {
    if (!condition()) return false
    await new Promise((resolve) => setImmediate(resolve))
  }
  return condition()
}
