/** The part of this process's environment that every child process with its own environment needs. */
export const childEnv: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  // Set under `npm run test:coverage`.
  ...(process.env.NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }),
  /** Tests set it later (test/pace.ts). newcut refuses unknown variables that begin with its own name. */
  get TEST_SEARCH_PACE_MS() {
    return process.env.TEST_SEARCH_PACE_MS ?? '0'
  },
}
