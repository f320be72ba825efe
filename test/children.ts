/** The part of this process's environment that every child process with its own environment needs. */
export const childEnv: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  // Set under `npm run test:coverage`.
  ...(process.env.NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }),
  /** Set by test/pace.ts when tests run. */
  get NEWCUT_TEST_PACE_MS() {
    return process.env.NEWCUT_TEST_PACE_MS ?? '0'
  },
}
