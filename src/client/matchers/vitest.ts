/**
 * Adds the assertions of `newcut/devnet/matchers` to the `expect` of vitest, with their types.
 *
 * @example Import it in a test, or name it in the configuration.
 * ```ts
 * import 'newcut/devnet/matchers/vitest'
 * ```
 * @module newcut/devnet/matchers/vitest
 */
import { expect } from 'vitest'
import { type CommandMatchers, matchers } from './public.ts'

declare module 'vitest' {
  interface Assertion<T = any> extends CommandMatchers<void> {}
}

expect.extend(matchers)
