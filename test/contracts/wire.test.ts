import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseExactJson, parseJson } from '../../src/ground/base/json.ts'
import { equalValues } from '../../src/language/contracts/values/compare.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { valueFromJson } from '../../src/language/contracts/values/from-json.ts'
import { keysetFromValue } from '../../src/language/contracts/values/guard-json.ts'
import { CapabilityToken, Guard, ModuleRef, Time, UNIT, type Value } from '../../src/language/contracts/values/value.ts'
import { decimalText, valueToJson } from '../../src/language/contracts/values/wire.ts'
import { values } from './values.ts'

const decimal = (text: string) => Decimal.parse(text) as Decimal
const back = (text: string) => valueFromJson(parseExactJson(text))
const keyset = (...keys: string[]) => new Guard({ kind: 'keyset', keys, predicate: 'keys-all' })

it('values become JSON that reads back', () => {
  fc.assert(
    fc.property(values, (value) => {
      const text = valueToJson(value)
      expect(() => JSON.parse(text)).not.toThrow()
      const again = back(text)
      expect(equalValues(again, value), text).toBe(true)
      expect(valueToJson(again)).toBe(text)
    }),
    { numRuns: 500 },
  )
})

it('numbers are spelled as real results have them', () => {
  const spellings: [string, string][] = [
    ['100000000.0', '100000000'],
    ['0.9830265', '0.9830265'],
    ['0.000607', '6.07e-4'],
    ['0.06', '6.0e-2'],
    ['-0.00000433', '-4.33e-6'],
    ['0.10', '0.1'],
    ['0.0', '0'],
    ['9999999.5', '9999999.5'],
    ['12345678.5', '1.23456785e7'],
    ['-1.50', '-1.5'],
  ]
  for (const [text, json] of spellings) expect(valueToJson(decimal(text))).toBe(json)
  expect(decimalText(decimal('1000.00'))).toBe('1000')
})

it('numbers that JSON readers would round become strings', () => {
  expect(valueToJson(9007199254740991n)).toBe('{"int":9007199254740991}')
  expect(valueToJson(-9007199254740992n)).toBe('{"int":"-9007199254740992"}')
  expect(valueToJson(new Decimal(10n ** 18n, 18))).toBe('{"decimal":"1.000000000000000000"}')
})

it('values of every kind have their spelling in JSON', () => {
  const spellings: [Value, string][] = [
    ['a"b', '"a\\"b"'],
    [UNIT, 'null'],
    [[1n, true], '[{"int":1},true]'],
    [
      new Map<string, Value>([
        ['b', 'x'],
        ['a', UNIT],
      ]),
      '{"a":null,"b":"x"}',
    ],
    [new Time(1572393660_000000n), '{"time":"2019-10-30T00:01:00Z"}'],
    [new Time(1572393660_001000n), '{"time":"2019-10-30T00:01:00Z"}'],
    [new Time(1572393660_001002n), '{"timep":"2019-10-30T00:01:00.001002Z"}'],
    [keyset('b', 'a'), '{"pred":"keys-all","keys":["a","b"]}'],
    [new Guard({ kind: 'keysetRef', name: 'admins' }), '{"keysetref":"admins"}'],
    [new Guard({ kind: 'keysetRef', name: 'free.admins' }), '{"keysetref":{"ns":"free","ksn":"admins"}}'],
    [new Guard({ kind: 'user', fun: 'm.f', args: ['x'] }), '{"args":["x"],"fun":"m.f"}'],
    [
      new Guard({ kind: 'capability', name: 'm.CAP', args: [], pactId: null }),
      '{"cgPactId":null,"cgArgs":[],"cgName":"m.CAP"}',
    ],
    [new Guard({ kind: 'module', module: 'm', name: 'g' }), '{"moduleName":{"namespace":null,"name":"m"},"name":"g"}'],
    [new Guard({ kind: 'pact', pactId: 'id', name: 'g' }), '{"pactId":"id","name":"g"}'],
    [
      new ModuleRef('ns.m', ['i']),
      '{"refSpec":[{"namespace":null,"name":"i"}],"refName":{"namespace":"ns","name":"m"}}',
    ],
    [new CapabilityToken('m.CAP', [decimal('1.5')]), '{"#ctName":"m.CAP","#ctArgs":[1.5]}'],
  ]
  for (const [value, text] of spellings) expect(valueToJson(value)).toBe(text)
})

it('numbers are read exactly', () => {
  expect(back('1')).toEqual(Decimal.of(1n))
  expect(back('1.10')).toEqual(decimal('1.1'))
  expect(back('1e-8')).toEqual(decimal('0.00000001'))
  expect(back('12345678901234567.5')).toEqual(decimal('12345678901234567.5'))
  expect(back('123456789012345678901234567890')).toEqual(Decimal.of(123456789012345678901234567890n))
  expect(back('{"int":5}')).toBe(5n)
  expect(back('{"int":"-123456789012345678901234567890"}')).toBe(-123456789012345678901234567890n)
  expect(back('{"decimal":"1.50"}')).toEqual(decimal('1.50'))
  expect(valueFromJson(parseJson('[0.1,1e-8]'))).toEqual([decimal('0.1'), decimal('0.00000001')])
})

it('keysets are read with and without a predicate, and from a list of keys', () => {
  expect(back('{"keys":["b","a","a"]}')).toEqual(keyset('a', 'b'))
  expect(keysetFromValue(back('["b","a"]'))).toEqual(keyset('a', 'b'))
  expect(keysetFromValue(back('{"keys":["a"],"pred":"keys-any"}'))).toMatchObject({ is: { predicate: 'keys-any' } })
  expect(keysetFromValue(back('[1]'))).toBeNull()
  expect(keysetFromValue(back('"a"'))).toBeNull()
})

it('objects that only resemble other types stay objects', () => {
  for (const text of ['{"int":"x"}', '{"time":"soon"}', '{"keys":"a"}', '{"fun":"f","args":[]}', '{"decimal":true}']) {
    expect(back(text), text).toBeInstanceOf(Map)
  }
  expect([...(back('{"__proto__":"x"}') as Map<string, Value>)]).toEqual([['__proto__', 'x']])
})

it('hostile JSON ends in an error', () => {
  expect(() => valueFromJson(JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`))).toThrow('levels')
  expect(() => back('1e999999999')).toThrow('decimal')
  expect(() => back('{"int":1e-999999999}')).toThrow('decimal')
})
