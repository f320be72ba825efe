/** Properties that hold for all arguments of the natives. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { valueKey } from '../../src/language/contracts/natives/data/distinct.ts'
import { bitLength } from '../../src/language/contracts/values/bits.ts'
import { equalValues } from '../../src/language/contracts/values/compare.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { compareValues, isSimple } from '../../src/language/contracts/values/ordering.ts'
import { Guard, ModuleRef, Time, UNIT, type Value } from '../../src/language/contracts/values/value.ts'
import { fn, run } from './native-call.ts'

const integer = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n })
const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(30))
  .map(([mantissa, places]) => new Decimal(mantissa, places))
const text = fc.string({ unit: 'grapheme', maxLength: 20 })

/** A few different values, so that equal ones meet often. */
const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.bigInt({ min: -2n, max: 2n }),
    fc.constantFrom('', 'a', '1', 'true', '[]'),
    fc.boolean(),
    fc.tuple(fc.bigInt({ min: -20n, max: 20n }), fc.nat(2)).map(([m, p]) => new Decimal(m, p)),
    fc.constantFrom<Value>(
      UNIT,
      new Time(1n),
      new ModuleRef('m', []),
      new ModuleRef('m', ['i']),
      new Guard({ kind: 'keyset', keys: ['a', 'b'], predicate: 'p' }),
      new Guard({ kind: 'keyset', keys: ['b', 'a'], predicate: 'p' }),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value')).map((o) => new Map(Object.entries(o))),
  ),
})).value

describe('laws of the natives', () => {
  it('sort returns the same values, simple ones in ascending order', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 25 }), (list) => {
        const sorted = run('sort', list) as Value[]
        expect(sorted.map(valueKey).sort()).toEqual(list.map(valueKey).sort())
        const simple = run('sort', list.filter(isSimple)) as Value[]
        for (let i = 1; i < simple.length; i++) expect(compareValues(simple[i - 1], simple[i])).toBeLessThanOrEqual(0)
      }),
    )
  })

  it('the order of values is total and agrees with equality', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        expect(Math.sign(compareValues(a, b)) + Math.sign(compareValues(b, a))).toBe(0)
        expect(compareValues(a, b) === 0).toBe(equalValues(a, b))
        expect(valueKey(a) === valueKey(b)).toBe(equalValues(a, b))
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) expect(compareValues(a, c)).toBeLessThanOrEqual(0)
      }),
      { numRuns: 2000 },
    )
  })

  it('distinct keeps the first of equal values', () => {
    fc.assert(
      fc.property(fc.array(value), (list) => {
        const expected = list.filter((item, i) => list.findIndex((other) => equalValues(item, other)) === i)
        expect(run('distinct', list)).toEqual(expected)
      }),
    )
  })

  it('reversing a list twice changes nothing', () => {
    fc.assert(
      fc.property(text, fc.array(value), (s, list) => {
        expect(run('reverse', run('reverse', s))).toBe(s)
        expect(run('reverse', run('reverse', list))).toEqual(list)
      }),
    )
  })

  it('the natives take and drop split a value completely', () => {
    fc.assert(
      fc.property(text, fc.bigInt({ min: 0n, max: 30n }), (s, n) => {
        const list = run('str-to-list', s) as Value[]
        expect(run('concat', list)).toBe(s)
        expect(run('length', s)).toBe(BigInt(list.length))
        expect(run('+', run('take', n, s), run('drop', n, s))).toBe(s)
        expect(run('+', run('drop', -n, s), run('take', -n, s))).toBe(n === 0n ? s + run('take', 0n, s) : s)
        expect(run('+', run('take', n, list), run('drop', n, list))).toEqual(list)
      }),
    )
  })

  it('integers read back in every base', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 400n }),
        fc.constantFrom(2n, 3n, 8n, 10n, 15n, 16n, 64n),
        (n, base) => {
          expect(run('str-to-int', base, run('int-to-str', base, n))).toBe(n)
        },
      ),
    )
  })

  it('encoding and decoding base64 round-trip', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (s) => {
        expect(run('base64-decode', run('base64-encode', s))).toBe(s)
      }),
    )
  })

  it('shift multiplies by powers of two', () => {
    fc.assert(
      fc.property(integer, fc.bigInt({ min: 0n, max: 300n }), (n, by) => {
        expect(run('shift', n, by)).toBe(n * 2n ** by)
        expect(run('shift', run('shift', n, by), -by)).toBe(n)
        expect(run('shift', n, -by)).toBe(run('/', n, 2n ** by))
      }),
    )
  })

  it('the remainder has the sign of the divisor', () => {
    fc.assert(
      fc.property(
        integer,
        integer.filter((n) => n !== 0n),
        (a, b) => {
          const remainder = run('mod', a, b) as bigint
          expect((run('/', a, b) as bigint) * b + remainder).toBe(a)
          expect(remainder === 0n || remainder > 0n === b > 0n).toBe(true)
        },
      ),
    )
  })

  it('decimals add and multiply exactly', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(run('-', run('+', a, b), b)).toSatisfy((c: Value) => equalValues(c, a))
        expect(run('*', a, b)).toSatisfy((c: Value) => equalValues(c, run('*', b, a) as Value))
      }),
    )
  })

  it('enumerate takes equal steps within the bounds', () => {
    const bound = fc.bigInt({ min: -50n, max: 50n })
    fc.assert(
      fc.property(bound, bound, fc.bigInt({ min: 1n, max: 9n }), (from, to, size) => {
        const list = run('enumerate', from, to, from > to ? -size : size) as bigint[]
        const expected: bigint[] = []
        if (from <= to) for (let i = from; i <= to; i += size) expected.push(i)
        else for (let i = from; i >= to; i -= size) expected.push(i)
        expect(list).toEqual(expected)
      }),
    )
  })

  it('map, fold and zip work like those of arrays', () => {
    fc.assert(
      fc.property(fc.array(integer), fc.array(integer), (a, b) => {
        expect(run('map', fn('+', 1n), a)).toEqual(a.map((n) => n + 1n))
        expect(run('fold', fn('+'), 0n, a)).toBe(a.reduce((x, y) => x + y, 0n))
        expect(run('length', run('zip', fn('+'), a, b))).toBe(BigInt(Math.min(a.length, b.length)))
      }),
    )
  })

  it('the bit length of an integer is that of its magnitude', () => {
    fc.assert(
      fc.property(integer, (n) => {
        expect(bitLength(n)).toBe(n === 0n ? 0 : (n < 0n ? -n : n).toString(2).length)
      }),
    )
  })
})
