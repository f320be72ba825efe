/**
 * Adds the assertions of `newcut/devnet/matchers` to the `expect` of vitest, with their types.
 *
 * @example Import it in a test, or name it in the configuration.
 * ```ts
 * import 'newcut/devnet/matchers/vitest'
 * ```
 * @module newcut/devnet/matchers/vitest
 */
// The declarations need the module, whose import for `expect` is left out of them.
import 'vitest'
import { expect } from 'vitest'
import { type CommandMatchers, matchers } from './public.ts'

declare module 'vitest' {
  interface Matchers<T> extends CommandMatchers<void> {}
}

expect.extend(matchers)
