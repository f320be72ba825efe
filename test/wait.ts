/** Waiting in tests: for the thing itself, until the runner's own time-out ends the test. */

const LOOK_MS = 5

/** Resolves once the condition is true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
