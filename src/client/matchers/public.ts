/**
 * Assertions for tests of contracts, for vitest and jest: a command succeeds, fails, emits an event, or moves coins.
 *
 * | task | start with |
 * |---|---|
 * | add the assertions to vitest | `import 'newcut/devnet/matchers/vitest'`, in a test or as one of its `setupFiles` |
 * | add them to jest | `import 'newcut/devnet/matchers/jest'`, in a test or as one of `setupFilesAfterEnv` |
 * | add them to another `expect` | {@link matchers} |
 *
 * They take results of `poll`, `listen`, `local`, preflight, of `run()` and `simulate()` of a development network, and
 * errors `CommandFailed` of the wallet. A simulation must satisfy an assertion with all its commands, or with one of them
 * if the assertion names an event or a movement.
 *
 * @example Simulate a transfer.
 * ```ts
 * import { startDevnet } from 'newcut/devnet'
 * import 'newcut/devnet/matchers/vitest'
 * import { expect, it } from 'vitest'
 *
 * it('sender00 pays sender01', async () => {
 *   const devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-demand' } })
 *   const caps = [{ name: 'coin.TRANSFER', args: ['sender00', 'sender01', 1.5] }]
 *   const code = '(coin.transfer "sender00" "sender01" 1.5)'
 *   const { commands } = await devnet.simulate([{ chains: { 0: [{ code, caps, signers: ['sender00'] }] } }])
 *   expect(commands[0]).toSucceed()
 *   expect(commands[0]).toEmit('coin.TRANSFER', ['sender00', 'sender01', 1.5])
 *   expect(commands[0]).toMoveCoins({ sender00: -1.5, sender01: 1.5 })
 *   await devnet.close()
 * })
 * ```
 * @module newcut/devnet/matchers
 */

import { isAsymmetric, sumTransfers, unifyNumbers } from './comparing.ts'
import { describeResult } from './describing.ts'
import { type ReadResult, readDecimal, readResults } from './reading.ts'

/** A number of coins: positive for an account that gets them. A text has all its digits. */
export type CoinChange = number | bigint | string

/** Error of a failed command: a part of its message, a pattern for it, or its type such as `EvalError`. */
export type ExpectedError = string | RegExp | { readonly type?: string; readonly message?: string | RegExp }

/** The assertions. `R` is what an assertion returns: `void`, or a promise after `resolves`. */
export interface CommandMatchers<R = void> {
  /** The command succeeded. */
  toSucceed(): R
  /** The command failed. @param error - part of its message, pattern, or type such as `EvalError` */
  toFailWith(error: ExpectedError): R
  /**
   * The command emitted an event.
   * @param event - `module.NAME`, or `NAME` of any module
   * @param params - its values; numbers in any form. Asymmetric ones such as `expect.any(Number)` work
   */
  toEmit(event: string, params?: readonly unknown[]): R
  /**
   * The command moved these coins, and no others. Fees do not count.
   * @param changes - account to change
   */
  toMoveCoins(changes: Readonly<Record<string, CoinChange>>): R
  /**
   * Like `toMoveCoins`, for a token with events `TRANSFER`.
   * @param token - its module, such as `free.token`
   */
  toMoveTokens(token: string, changes: Readonly<Record<string, CoinChange>>): R
}

/** The part of `expect` that an assertion uses. */
interface MatcherContext {
  readonly isNot?: boolean
  readonly equals: (a: unknown, b: unknown) => boolean
  readonly utils: {
    readonly diff: (expected: unknown, received: unknown) => string | null | undefined
    readonly stringify: (value: unknown) => string
  }
}

/** Outcome of an assertion. */
interface AssertionOutcome {
  readonly pass: boolean
  readonly message: () => string
}

/** The assertions, for `expect.extend`. */
export const matchers = {
  /** As {@link CommandMatchers.toSucceed}. */
  toSucceed(this: MatcherContext, received: unknown): AssertionOutcome {
    const results = expectResults(this, received)
    return buildOutcome(this, results, {
      pass: results.every(({ error }) => error === null),
      expected: 'success',
    })
  },

  /** As {@link CommandMatchers.toFailWith}. */
  toFailWith(this: MatcherContext, received: unknown, error: ExpectedError): AssertionOutcome {
    const results = expectResults(this, received)
    return buildOutcome(this, results, {
      pass: results.some((result) => failsWith(result, error)),
      expected: `failure with ${describeError(this, error)}`,
    })
  },

  /** As {@link CommandMatchers.toEmit}. */
  toEmit(this: MatcherContext, received: unknown, event: string, params?: readonly unknown[]): AssertionOutcome {
    const results = expectResults(this, received)
    const named = results
      .flatMap(({ events }) => events)
      .filter(({ name }) => name === event || name.endsWith(`.${event}`))
    const emitted = named.map((each) => unifyNumbers(each.params) as readonly unknown[])
    const expected = params?.map(unifyNumbers)
    return buildOutcome(this, results, {
      pass: expected === undefined ? emitted.length > 0 : emitted.some((each) => this.equals(each, expected)),
      expected: `event ${event}${params === undefined ? '' : ` with ${this.utils.stringify(params)}`}`,
      difference:
        expected === undefined || emitted.length === 0 ? null : [expected, findNearest(this, emitted, expected)],
    })
  },

  /** As {@link CommandMatchers.toMoveCoins}. */
  toMoveCoins(
    this: MatcherContext,
    received: unknown,
    changes: Readonly<Record<string, CoinChange>>,
  ): AssertionOutcome {
    return judgeMoves(this, received, 'coin', changes)
  },

  /** As {@link CommandMatchers.toMoveTokens}. */
  toMoveTokens(
    this: MatcherContext,
    received: unknown,
    token: string,
    changes: Readonly<Record<string, CoinChange>>,
  ): AssertionOutcome {
    return judgeMoves(this, received, token, changes)
  },
}

function judgeMoves(
  context: MatcherContext,
  received: unknown,
  token: string,
  changes: Readonly<Record<string, CoinChange>>,
): AssertionOutcome {
  const results = expectResults(context, received)
  const expected = isAsymmetric(changes) ? changes : expectedChanges(changes)
  const moved = results.map((result) => movesOf(result, token, isAsymmetric(changes) || Object.hasOwn(changes, '')))
  const [first] = moved
  return buildOutcome(context, results, {
    pass: moved.some((each) => context.equals(each, expected)),
    expected: `movement of ${token === 'coin' ? 'coins' : token}: ${context.utils.stringify(expected)}`,
    difference: moved.length === 1 ? [expected, first] : null,
  })
}

/** Changes by account, in one form of numbers. An account without a change is left out. @throws TypeError */
function expectedChanges(changes: Readonly<Record<string, CoinChange>>): Record<string, unknown> {
  const read = Object.entries(changes).map(([account, change]) => {
    const number = readDecimal(typeof change === 'string' ? { decimal: change } : change)
    if (number === null) throw new TypeError(`the change of ${account} is not a number: ${String(change)}`)
    return [account, unifyNumbers(number)] as const
  })
  return Object.fromEntries(read.filter(([, change]) => change !== 0))
}

/** The list that has the most values of the wanted one at their places. */
function findNearest(
  { equals }: MatcherContext,
  lists: readonly (readonly unknown[])[],
  wanted: readonly unknown[],
): readonly unknown[] | undefined {
  const likeness = (list: readonly unknown[]) => wanted.filter((value, i) => equals(list[i], value)).length
  return lists.toSorted((a, b) => likeness(b) - likeness(a))[0]
}

/** @param withMints - whether to count the account of burned and created tokens */
function movesOf(result: ReadResult, token: string, withMints: boolean): Record<string, unknown> {
  const sums = [...sumTransfers(result, token)].filter(([account]) => withMints || account !== '')
  return Object.fromEntries(sums.map(([account, sum]) => [account, unifyNumbers(sum)]))
}

/** @throws TypeError for a value that is not a result of a command */
function expectResults({ utils }: MatcherContext, received: unknown): readonly ReadResult[] {
  const results = readResults(received)
  if (results !== null) return results
  const forms = 'a result of poll, listen, local, run() or simulate(), or an error CommandFailed'
  const isPromise = typeof (received as PromiseLike<unknown> | null)?.then === 'function'
  const hint = isPromise ? '; it is a promise: use await, or expect(...).resolves' : ''
  throw new TypeError(`expected ${forms}, got ${utils.stringify(received)}${hint}`)
}

function failsWith({ error }: ReadResult, expected: ExpectedError): boolean {
  if (error === null) return false
  if (typeof expected === 'string') return error.type === expected || error.message.includes(expected)
  if (expected instanceof RegExp) return expected.test(error.message)
  const { type, message } = expected
  if (type !== undefined && error.type !== type) return false
  if (message === undefined) return true
  return typeof message === 'string' ? error.message.includes(message) : message.test(error.message)
}

function describeError({ utils }: MatcherContext, expected: ExpectedError): string {
  return expected instanceof RegExp ? String(expected) : utils.stringify(expected)
}

interface Judgement {
  readonly pass: boolean
  /** Expected fact, as a noun. */
  readonly expected: string
  /** Expected and received values, if there is only one candidate. */
  readonly difference?: readonly [unknown, unknown] | null
}

function buildOutcome(
  { utils, isNot = false }: MatcherContext,
  results: readonly ReadResult[],
  { pass, expected, difference = null }: Judgement,
): AssertionOutcome {
  const message = () => {
    const differenceText = difference === null || isNot ? null : utils.diff(...difference)
    const lines = [`expected ${isNot ? 'no ' : ''}${expected}`, '']
    if (typeof differenceText === 'string') lines.push(differenceText, '')
    return [...lines, ...results.flatMap((result, i) => describeResult(result, results.length === 1 ? null : i))].join(
      '\n',
    )
  }
  return { pass, message }
}
