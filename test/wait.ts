/** Waiting in tests: for the thing itself, until the runner's own time-out ends the test. */

/** From one look to the next: soon at first, then less often, since what is looked for needs the processor too. */
const FIRST_PAUSE_MS = 5
const LAST_PAUSE_MS = 25

/** Resolves once the condition is true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !(await condition()); pauseMs = Math.min(LAST_PAUSE_MS, 1.1 * pauseMs)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
