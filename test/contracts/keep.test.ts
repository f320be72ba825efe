/** Stored values come back exactly as they were. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FormatError } from '../../src/ground/base/errors.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { decodeStoredValue, encodeStoredValue, type StoredValue } from '../../src/language/contracts/values/keep.ts'
import { Time, type Value } from '../../src/language/contracts/values/value.ts'
import { values } from './values.ts'

function throughText(value: Value): Value {
  return decodeStoredValue(JSON.parse(JSON.stringify(encodeStoredValue(value))))
}

it('a stored value of every kind reads back', () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(throughText(value)).toStrictEqual(value)
    }),
  )
})

it.each<readonly [what: string, value: Value]>([
  ['places of decimals', new Decimal(1500n, 3)],
  ['milliseconds', new Time(123_000n)],
  ['times before 1970', new Time(-1n)],
  ['large integers', -(7n ** 5000n)],
  ['an object that looks like an integer', new Map([['int', '1']])],
  ['an object that looks like a keyset', new Map<string, Value>([['keys', ['a']]])],
  ['an object of odd names', new Map<string, Value>([['__proto__', 1n]])],
  ['fields in their order', new Map<string, Value>([...'zab'].map((name) => [name, name]))],
])('the stored form keeps %s', (_, value) => {
  const back = throughText(value)
  expect(back).toStrictEqual(value)
  if (value instanceof Map) expect([...(back as typeof value).keys()]).toEqual([...value.keys()])
})

it('the reader of stored values refuses other JSON', () => {
  expect(() => decodeStoredValue({ number: '1' } as unknown as StoredValue)).toThrow(FormatError)
})
