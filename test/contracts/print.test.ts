import fc from 'fast-check'
import { expect, it } from 'vitest'
import { typeName } from '../../src/language/contracts/machine/types.ts'
import type { Form } from '../../src/language/contracts/syntax/form.ts'
import { read } from '../../src/language/contracts/syntax/reader.ts'
import { equalValues } from '../../src/language/contracts/values/compare.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { formatValue, showValue } from '../../src/language/contracts/values/print.ts'
import { CapabilityToken, Guard, ModuleRef, Time, UNIT, type Value } from '../../src/language/contracts/values/value.ts'
import { decimals } from './values.ts'

const half = new Decimal(5n, 1)

it('values of every kind print in source form', () => {
  const prints: [Value, string][] = [
    ['a', '"a"'],
    [-3n, '-3'],
    [true, 'true'],
    [half, '0.5'],
    [Decimal.of(123n), '123.0'],
    [UNIT, '()'],
    [[1n, 'b', [half]], '[1, "b", [0.5]]'],
    [
      new Map<string, Value>([
        ['z', 1n],
        ['a', 'x'],
      ]),
      '{"a": "x","z": 1}',
    ],
    [new Time(1721649600_000000n), '"2024-07-22T12:00:00Z"'],
    [new ModuleRef('ns.m', ['ns.i']), 'ns.m'],
    [new CapabilityToken('m.CAP', [1n, 'a']), 'CapToken(m.CAP 1 "a")'],
    [new CapabilityToken('m.CAP', []), 'CapToken(m.CAP)'],
    [new Guard({ kind: 'keyset', keys: ['b', 'a'], predicate: 'keys-2' }), 'KeySet {keys: [a, b],pred: keys-2}'],
    [new Guard({ kind: 'keysetRef', name: 'ns.k' }), "'ns.k"],
    [new Guard({ kind: 'user', fun: 'm.f', args: [1n, 2n] }), 'UserGuard {fun: m.f,args: [1, 2]}'],
    [
      new Guard({ kind: 'capability', name: 'm.C', args: [1n, 2n], pactId: null }),
      'CapabilityGuard {name: m.C,args: [1, 2],pactId: }',
    ],
    [new Guard({ kind: 'module', module: 'm', name: 'g' }), 'ModuleGuard {module: m,name: g}'],
    [new Guard({ kind: 'pact', pactId: 'id', name: 'g' }), 'PactGuard {pactId: id,name: g}'],
  ]
  for (const [value, text] of prints) expect(showValue(value)).toBe(text)
  expect(formatValue('a')).toBe('a')
  expect(formatValue(['a'])).toBe('["a"]')
})

it('values with a source form read back from it', () => {
  const spelled = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.oneof(fc.stringMatching(/^[^"\\\n\r]*$/), fc.boolean(), fc.bigInt(), decimals, fc.constant(UNIT)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,5}$/), tie('value')), { maxLength: 4 }).map((all) => new Map(all)),
    ),
  })).value
  fc.assert(
    fc.property(spelled, (value) => {
      const [form] = read(showValue(value))
      expect(equalValues(meaningOf(form), value), showValue(value)).toBe(true)
    }),
  )
})

function meaningOf(form: Form): Value {
  if (form.form === 'string' || form.form === 'number') return form.value
  if (form.form === 'atom') return form.name === 'true'
  if (form.form === 'list') return form.items.map(meaningOf)
  if (form.form === 'object') return new Map(form.fields.map(([name, item]) => [name, meaningOf(item)]))
  return UNIT
}

it('values are equal if they mean the same', () => {
  expect(equalValues(Decimal.of(1n), new Decimal(100n, 2))).toBe(true)
  expect(equalValues(Decimal.of(1n), 1n)).toBe(false)
  expect(equalValues(new Map([['a', half]]), new Map([['a', new Decimal(50n, 2)]]))).toBe(true)
  expect(equalValues([half], [half, half])).toBe(false)
  expect(equalValues(new ModuleRef('m', []), new ModuleRef('m', ['i']))).toBe(true)
  expect(equalValues(new Map(), [])).toBe(false)
  expect(equalValues(UNIT, new Time(0n))).toBe(false)
})

it('typeName names every type', () => {
  const types: [Value, string][] = [
    ['', 'string'],
    [1n, 'integer'],
    [half, 'decimal'],
    [true, 'bool'],
    [UNIT, 'unit'],
    [[1n, 2n], 'list'],
    [[], 'list'],
    [new Map(), 'object'],
    [new Time(0n), 'time'],
    [new ModuleRef('m', []), 'module'],
    [new CapabilityToken('m.C', []), 'cap-token'],
    [new Guard({ kind: 'keysetRef', name: 'k' }), 'guard'],
  ]
  for (const [value, name] of types) expect(typeName(value)).toBe(name)
})
