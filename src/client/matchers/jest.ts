/**
 * Adds the assertions of `newcut/devnet/matchers` to the `expect` of jest, with their types: that of `@jest/globals`,
 * and the global one of `@types/jest`. Jest needs its support of ES modules.
 *
 * @example Import it in a test, or name it in the configuration.
 * ```ts
 * import 'newcut/devnet/matchers/jest'
 * ```
 * @module newcut/devnet/matchers/jest
 */
import { expect } from '@jest/globals'
import { type CommandMatchers, matchers } from './public.ts'

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>> extends CommandMatchers<R> {}
}

declare global {
  namespace jest {
    interface Matchers<R> extends CommandMatchers<R> {}
  }
}

expect.extend(matchers)
