/** Waits in tests: for the condition itself, until the timeout of the test. */

/** Pauses between checks grow, because checks take processor time from the thing they wait for. */
const FIRST_PAUSE_MS = 5
const LAST_PAUSE_MS = 25

/** Resolves once the condition is true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !(await condition()); pauseMs = Math.min(LAST_PAUSE_MS, 1.1 * pauseMs)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
