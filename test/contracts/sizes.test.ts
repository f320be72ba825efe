/** The weight of a value counts every character of it, and what is read from JSON is bounded. */
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/ground/base/json.ts'
import { MAX_BITS, MAX_DIGITS } from '../../src/language/contracts/values/bits.ts'
import { MAX_NAME } from '../../src/language/contracts/values/from-json.ts'
import { sizeOf } from '../../src/language/contracts/values/size.ts'
import {
  CapabilityToken,
  Guard,
  ModuleRef,
  TableRef,
  Time,
  UNIT,
  type Value,
} from '../../src/language/contracts/values/value.ts'
import { valueFromJson, valueToJson } from '../../src/language/contracts/values/wire.ts'

const guard = (is: Guard['is']) => new Guard(is)
/** Kinds of values with names, made with a text in one place. */
const NAMED: Readonly<Record<string, (text: string) => Value>> = {
  text: (text) => text,
  'name of a field': (text) => new Map([[text, true]]),
  'key of a keyset': (text) => guard({ kind: 'keyset', keys: ['a', text], predicate: 'p' }),
  predicate: (predicate) => guard({ kind: 'keyset', keys: [], predicate }),
  'name of a keyset': (name) => guard({ kind: 'keysetRef', name }),
  'function of a guard': (fun) => guard({ kind: 'user', fun, args: [] }),
  'argument of a guard': (text) => guard({ kind: 'user', fun: 'm.f', args: [text] }),
  'capability of a guard': (name) => guard({ kind: 'capability', name, args: [], pactId: null }),
  'pact of a capability guard': (pactId) => guard({ kind: 'capability', name: 'm.C', args: [], pactId }),
  'module of a guard': (module) => guard({ kind: 'module', module, name: '' }),
  'name of a module guard': (name) => guard({ kind: 'module', module: 'm', name }),
  'pact of a guard': (pactId) => guard({ kind: 'pact', pactId, name: '' }),
  'name of a pact guard': (name) => guard({ kind: 'pact', pactId: '', name }),
  module: (name) => new ModuleRef(name, []),
  interface: (text) => new ModuleRef('m', ['i', text]),
  token: (name) => new CapabilityToken(name, []),
  'argument of a token': (text) => new CapabilityToken('m.C', [text]),
  table: (name) => new TableRef('m', name, { hash: 'h' }, null),
  schema: (schema) => new TableRef('m', 't', { hash: 'h' }, { name: schema, qualified: schema, fields: new Map() }),
}

describe('the weight of a value', () => {
  it.each(Object.keys(NAMED))('the weight of a value counts each character: %s', (kind) => {
    const weight = (length: number) => sizeOf(NAMED[kind]('x'.repeat(length))).weight
    for (const length of [1, 100, 5000]) expect(weight(length + 7) - weight(length)).toBeGreaterThanOrEqual(7)
    expect(sizeOf([NAMED[kind]('x'.repeat(500))]).weight).toBeGreaterThan(weight(500))
  })

  it('the weight of a value is at least that of each key, each interface and each part', () => {
    const keys = (count: number) => guard({ kind: 'keyset', keys: new Array(count).fill(''), predicate: 'p' })
    expect(sizeOf(keys(100)).weight).toBeGreaterThanOrEqual(1000)
    expect(sizeOf(new ModuleRef('m', new Array(100).fill(''))).weight).toBeGreaterThanOrEqual(1000)
    expect(sizeOf(UNIT).weight).toBe(10)
  })

  it('the weight of a time is at least its length in print', () => {
    for (const micros of [0n, 1n, 8_640_000_000_000_000_000n]) {
      const time = new Time(micros)
      expect(sizeOf(time)).toEqual({ weight: 32, depth: 0 })
      expect(valueToJson(time).length).toBeLessThan(48)
    }
  })
})

const json = (text: string) => valueFromJson(parseExactJson(text))

describe('data', () => {
  const digits = Math.ceil(MAX_BITS * Math.log10(2))
  const nines = (count: number) => '9'.repeat(count)
  const tooLarge = `a number of more than ${MAX_BITS} bits`

  it('the data of a command may have numbers up to the largest of the language', () => {
    expect(() => json(nines(digits - 2))).not.toThrow()
    for (const text of [nines(digits + 1), `-${nines(digits + 1)}`, nines(1_000_000), `${nines(digits + 1)}.5`]) {
      expect(() => json(text)).toThrow(tooLarge)
      expect(() => json(`{"decimal":"${text}"}`)).toThrow(tooLarge)
      expect(() => json(`[{"int":${text}}]`)).toThrow(tooLarge)
    }
    // More digits are not even parsed, whatever they are.
    expect(() => json(`{"decimal":"${'0'.repeat(MAX_DIGITS + 1)}"}`)).toThrow(tooLarge)
  })

  const name = (length: number) => 'x'.repeat(length)
  const places: Readonly<Record<string, (text: string) => string>> = {
    field: (text) => `{"${text}":1}`,
    key: (text) => `{"keys":["${text}"],"pred":"keys-all"}`,
    predicate: (text) => `{"keys":[],"pred":"${text}"}`,
    keyset: (text) => `{"keysetref":"${text}"}`,
    'user guard': (text) => `{"fun":"m.${text}","args":[]}`,
    'capability guard': (text) => `{"cgName":"m.${text}","cgArgs":[],"cgPactId":null}`,
    pact: (text) => `{"pactId":"${text}","name":""}`,
    module: (text) => `{"moduleName":{"name":"${text}"},"name":""}`,
    'module reference': (text) => `{"refName":{"name":"${text}"},"refSpec":[]}`,
    interface: (text) => `{"refName":{"name":"m"},"refSpec":[{"name":"${text}"}]}`,
    token: (text) => `{"#ctName":"${text}","#ctArgs":[]}`,
  }
  it.each(Object.keys(places))('the data of a command may have short names only: %s', (place) => {
    expect(() => json(places[place](name(MAX_NAME - 2)))).not.toThrow()
    expect(() => json(places[place](name(MAX_NAME + 1)))).toThrow(`a name or key of more than ${MAX_NAME} characters: `)
  })

  it('the data of a command may have long texts, also as arguments of guards and tokens', () => {
    const long = name(MAX_NAME + 1)
    expect(json(`"${long}"`)).toBe(long)
    expect(() => json(`{"fun":"m.f","args":["${long}"]}`)).not.toThrow()
    expect(() => json(`{"#ctName":"m.C","#ctArgs":["${long}"]}`)).not.toThrow()
  })
})
