/** Of the environment of this process, what each child gets that is given an environment of its own. */
export const childEnv: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  // Under `npm run test:coverage`.
  ...(process.env.NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }),
}
