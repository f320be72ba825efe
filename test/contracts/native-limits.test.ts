/** Calls of natives that would exceed the memory or time of any machine: each ends early, by gas or by an error. */
import { describe, expect, it } from 'vitest'
import { ContractError } from '../../src/language/contracts/errors.ts'
import type { Term } from '../../src/language/contracts/machine/term.ts'
import type { Value } from '../../src/language/contracts/values/value.ts'
import { dec, fn, Lambda, type Meter, run, runWith } from './native-call.ts'

const HUGE = 10n ** 30n
/** Gas of a block, in thousandths. */
const BLOCK = 180_000_000

function ends(name: string, args: readonly Term[], limit: number): void {
  const meter: Meter = { limit, used: 0 }
  let failed: unknown = null
  try {
    runWith(meter, name, ...args)
  } catch (error) {
    failed = error
  }
  expect(failed, `${name} fails`).toBeInstanceOf(ContractError)
  expect((failed as ContractError).kind).toBe('EvalError')
}

/** A value that is large as a tree but small in memory, since its parts are shared. */
function bush(levels: number): Value {
  let value: Value = 'leaf'
  for (let i = 0; i < levels; i++) value = [value, value, value, value, value, value, value, value, value, value]
  return value
}

function deep(levels: number): Value {
  let value: Value = []
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

const cases: readonly (readonly [name: string, ...args: Term[]])[] = [
  ['make-list', HUGE, 'x'],
  ['make-list', 1_000_001n, 'x'],
  ['make-list', 1000n, bush(30)],
  ['enumerate', 0n, HUGE],
  ['enumerate', -HUGE, HUGE, 3n],
  ['enumerate', 0n, 1_000_001n],
  ['^', 2n, HUGE],
  ['^', 10n, 10_000_000n],
  ['^', -3n, 1_000_000n],
  ['^', dec('10.0'), dec('1000000.0')],
  ['^', dec('2.5'), HUGE],
  ['exp', HUGE],
  ['shift', 1n, HUGE],
  ['shift', 1n, 1_000_001n],
  ['*', 2n ** 400_000n, 2n ** 400_000n],
  ['+', 'x'.repeat(9_000_000), 'y'.repeat(9_000_000)],
  ['concat', new Array(1000).fill('x'.repeat(100_000))],
  ['str-to-list', 'x'.repeat(2_000_000)],
  ['str-to-int', 16n, 'f'.repeat(1_000_000)],
  ['str-to-int', 64n, '_'.repeat(1_000_000)],
  ['format', '{}', [bush(30)]],
  ['format', '{}'.repeat(1000), new Array(1000).fill('x'.repeat(100_000))],
  ['show', bush(30)],
  ['show', deep(50_000)],
  ['hash', bush(30)],
  ['hash', deep(50_000)],
  ['=', bush(30), bush(30)],
  ['=', deep(50_000), deep(50_000)],
  ['contains', bush(30), [bush(30)]],
  ['distinct', [bush(30), bush(30)]],
  ['sort', [bush(30), bush(30)]],
  ['add-time', run('time', '2020-01-01T00:00:00Z'), HUGE],
  ['format-time', '%Y'.repeat(1_000_000), run('time', '2020-01-01T00:00:00Z')],
  ['parse-time', '%Y'.repeat(1_000_000), '2020'],
]

describe('limits of the natives', () => {
  for (const [name, ...args] of cases) {
    it(`the native ${name} ends without any limit of gas`, () => ends(name, args, Number.POSITIVE_INFINITY))
  }

  it('the natives with large arguments end by gas as well', () => {
    for (const [name, ...args] of cases) ends(name, args, BLOCK)
  })

  it('the natives charge gas for the lists, strings and numbers that they make', () => {
    for (const [name, ...args] of [
      ['make-list', 1_000_000n, 'x'],
      ['enumerate', 1n, 1_000_000n],
      ['^', 2n, 499_999n],
      ['shift', 1n, 499_999n],
      ['int-to-str', 2n, 2n ** 499_999n],
      ['*', 2n ** 499_990n, 3n],
    ] as const) {
      ends(name, args, 10_000)
    }
  })

  it('a native reports the types of wrong values that are too large to print', () => {
    ends('not', [bush(30)], 1000)
    ends('concat', [[bush(30)]], 1000)
  })

  it('repeated doubling of strings and lists ends by gas', () => {
    for (const seed of ['ab', [1n, 2n]]) {
      const meter: Meter = { limit: BLOCK, used: 0 }
      const double = (): void => {
        let value: Term = seed
        for (let i = 0; i < 64; i++) value = runWith(meter, '+', value, value)
      }
      expect(double).toThrow(ContractError)
    }
  })

  it('the natives charge gas for each element that they pass to functions', () => {
    const meter: Meter = { limit: BLOCK, used: 0 }
    runWith(meter, 'map', fn('identity'), [1n, 2n, 3n])
    expect(meter.used).toBe(300)
    const stop: Meter = { limit: 250, used: 0 }
    let calls = 0
    const count = new Lambda((x) => {
      calls++
      return x
    })
    expect(() => runWith(stop, 'map', count, [1n, 2n, 3n])).toThrow('out of gas')
    expect(calls).toBe(2)
  })
})
