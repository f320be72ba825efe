/** The results of pure natives: a table by topic. */
import { describe, expect, it } from 'vitest'
import { ContractError } from '../../src/language/contracts/errors.ts'
import type { Term } from '../../src/language/contracts/machine/term.ts'
import { CONSTANTS, PURE_NATIVES } from '../../src/language/contracts/natives/pure-natives.ts'
import { showValue } from '../../src/language/contracts/values/print.ts'
import {
  CapabilityToken,
  Guard,
  ModuleRef,
  TableRef,
  Time,
  UNIT,
  type Value,
} from '../../src/language/contracts/values/value.ts'
import { dec, failure, fn, Lambda, obj, run } from './native-call.ts'

/** Name, arguments, and the result in source form, or null if the call fails. */
type Case = readonly [name: string, args: readonly Term[], shown: string | null]

function check(cases: readonly Case[]): void {
  for (const [name, args, shown] of cases) {
    const title = `${name} of ${args.length} -> ${shown}`
    if (shown === null) expect(failure(name, ...args), title).toBeInstanceOf(ContractError)
    else expect(showValue(run(name, ...args) as Value), title).toBe(shown)
  }
}

const table = (name: string) =>
  new TableRef('m', name, { hash: 'hash' }, { name: 's', qualified: 'm.s', fields: new Map() })
const noon = new Time(1_600_000_000_000_000n)

describe('natives', () => {
  it('the natives compute with integers and decimals', () => {
    check([
      ['+', [40n, 2n], '42'],
      ['+', [40n, dec('0.5')], '40.5'],
      ['+', [dec('0.1'), dec('0.2')], '0.3'],
      ['+', [1n, 'a'], null],
      ['-', [7n], '-7'],
      ['-', [dec('0.25')], '-0.25'],
      ['-', [1n, dec('0.75')], '0.25'],
      ['*', [dec('1.5'), dec('1.5')], '2.25'],
      ['*', [-3n, 5n], '-15'],
      ['/', [-7n, 2n], '-4'],
      ['/', [7n, -2n], '-4'],
      ['/', [1n, dec('8.0')], '0.125'],
      ['/', [dec('2.0'), dec('3.0')], `0.${'6'.repeat(254)}7`],
      ['/', [1n, 0n], null],
      ['/', [1n, dec('0.0')], null],
      ['mod', [-7n, 3n], '2'],
      ['mod', [7n, -3n], '-2'],
      ['mod', [7n, 0n], null],
      ['abs', [-9n], '9'],
      ['abs', [dec('-9.5')], '9.5'],
      ['dec', [12n], '12.0'],
      ['dec', [dec('1.0')], null],
    ])
  })

  it('the natives compute powers exactly if possible', () => {
    check([
      ['^', [2n, 100n], (2n ** 100n).toString()],
      ['^', [-1n, 3n], '-1'],
      ['^', [2n, -1n], null],
      ['^', [0n, dec('0.0')], '1.0'],
      ['^', [0n, dec('-1.0')], null],
      ['^', [dec('1.1'), 2n], '1.21'],
      ['^', [dec('10.0'), dec('2.0')], '100.0'],
      ['^', [2n, dec('-2.0')], '0.25'],
      ['^', [dec('2.25'), dec('0.5')], '1.5'],
      ['^', [dec('-2.0'), dec('0.5')], null],
      ['sqrt', [dec('0.25')], '0.5'],
      ['sqrt', [-4n], null],
      ['ln', [1n], '0.0'],
      ['ln', [0n], null],
      ['exp', [0n], '1.0'],
      ['exp', [100000n], null],
      ['log', [2n, 1024n], '10'],
      ['log', [2n, 1000n], '10'],
      ['log', [0n, 5n], '0'],
      ['log', [1n, 5n], null],
      ['log', [-2n, 5n], null],
      ['log', [dec('2.0'), 0n], null],
    ])
    expect(showValue(run('sqrt', 2n) as Value)).toBe('1.4142135623730951454746218587388284504413604736328125')
  })

  it('the natives round half to even', () => {
    check([
      ['round', [dec('0.5')], '0'],
      ['round', [dec('1.5')], '2'],
      ['round', [dec('-2.5')], '-2'],
      ['round', [dec('2.345'), 2n], '2.34'],
      ['round', [dec('2.5'), 3n], '2.500'],
      ['floor', [dec('10.0'), 4n], '10.0000'],
      ['round', [dec('0.0'), 2n], '0.00'],
      // The number of places is one of eight bits.
      ['round', [dec('2.5'), 256n], '2.0'],
      ['round', [dec('2.5'), -255n], '2.5'],
      ['round', [3n], null],
      ['floor', [dec('-0.1')], '-1'],
      ['floor', [dec('1.29'), 1n], '1.2'],
      ['ceiling', [dec('-0.9')], '0'],
      ['ceiling', [dec('1.21'), 1n], '1.3'],
    ])
  })

  it('the natives compute on bits', () => {
    check([
      ['&', [12n, 10n], '8'],
      ['|', [12n, 10n], '14'],
      ['xor', [12n, 10n], '6'],
      ['~', [0n], '-1'],
      ['shift', [1n, 10n], '1024'],
      ['shift', [-5n, -1n], '-3'],
      ['shift', [-5n, -(10n ** 30n)], '-1'],
      ['shift', [5n, -(10n ** 30n)], '0'],
      ['shift', [0n, 10n ** 30n], '0'],
      ['&', [1n, dec('1.0')], null],
    ])
  })

  it('the natives compare values of the same type', () => {
    check([
      ['<', [1n, 2n], 'true'],
      ['<=', [dec('1.0'), dec('1.00')], 'true'],
      ['>', ['b', 'a'], 'true'],
      ['<', ['\uffff', '\u{10000}'], 'true'],
      ['>=', [true, false], 'true'],
      ['<', [noon, new Time(noon.micros + 1n)], 'true'],
      ['<=', [UNIT, UNIT], 'true'],
      ['<', [1n, dec('2.0')], null],
      ['<', [[1n], [2n]], null],
      ['=', [1n, dec('1.0')], 'false'],
      [
        '=',
        [
          [1n, obj({ a: dec('1.0') })],
          [1n, obj({ a: dec('1') })],
        ],
        'true',
      ],
      ['!=', [new ModuleRef('m', ['i']), new ModuleRef('m', [])], 'false'],
      ['=', [fn('+'), fn('+')], null],
      ['=', [table('t'), 1n], 'false'],
      ['=', [table('t'), table('t')], 'false'],
      ['!=', [[table('t')], [table('t')]], 'true'],
      ['not', [true], 'false'],
      ['not', [0n], null],
    ])
  })

  it('conditions are combined, and the second is evaluated only if it matters', () => {
    const never = new Lambda(() => {
      throw new Error('called')
    })
    check([
      ['not?', [fn('>', 10n), 3n], 'false'],
      ['and?', [fn('<', 10n), never, 3n], 'false'],
      ['and?', [fn('>', 10n), fn('<', 1n), 3n], 'true'],
      ['or?', [fn('>', 10n), never, 3n], 'true'],
      ['or?', [fn('<', 10n), fn('<', 1n), 3n], 'true'],
      ['not?', [fn('+', 10n), 3n], null],
      ['where', ['a', fn('=', 1n), obj({ a: 1n })], 'true'],
      ['where', ['b', fn('=', 1n), obj({ a: 1n })], null],
    ])
  })

  it('the natives pass list elements to functions', () => {
    check([
      ['map', [fn('+', 1n), [1n, 2n]], '[2, 3]'],
      ['map', [1n, [1n]], null],
      ['map', [new Lambda(() => fn('+')), [1n]], null],
      ['filter', [fn('<', 2n), [1n, 2n, 3n]], '[3]'],
      ['filter', [fn('+', 2n), [1n]], null],
      ['fold', [fn('-'), 10n, [1n, 2n]], '7'],
      ['zip', [fn('*'), [1n, 2n, 3n], [4n, 5n]], '[4, 10]'],
      ['compose', [fn('+', 1n), fn('*', 3n), 2n], '9'],
      ['identity', ['x'], '"x"'],
    ])
  })

  it('the natives take lists, strings and objects apart', () => {
    check([
      ['+', [[1n], [2n]], '[1, 2]'],
      ['+', ['a', 'b'], '"ab"'],
      ['+', [obj({ a: 1n }), obj({ a: 2n, b: 3n })], '{"a": 1,"b": 3}'],
      ['length', ['a\u{1f600}b'], '3'],
      ['length', [obj({ a: 1n })], '1'],
      ['length', [5n], null],
      ['take', [2n, 'a\u{1f600}b'], '"a\u{1f600}"'],
      ['take', [-1n, 'a\u{1f600}'], '"\u{1f600}"'],
      ['drop', [-1n, 'ab\u{1f600}'], '"ab"'],
      ['drop', [-(10n ** 30n), [1n]], '[]'],
      ['take', [['b', 'x'], obj({ a: 1n, b: 2n })], '{"b": 2}'],
      ['drop', [['b', 'x'], obj({ a: 1n, b: 2n })], '{"a": 1}'],
      ['take', [[1n], obj({ a: 1n })], null],
      ['reverse', ['a\u{1f600}'], '"\u{1f600}a"'],
      ['at', [1n, ['x', 'y']], '"y"'],
      ['at', [2n, ['x', 'y']], null],
      ['at', [-1n, ['x', 'y']], null],
      ['at', ['a', obj({ a: true })], 'true'],
      ['at', ['b', obj({ a: true })], null],
      ['remove', ['a', obj({ a: 1n, b: 2n })], '{"b": 2}'],
      ['contains', ['a', obj({ a: 1n })], 'true'],
      ['contains', ['ell', 'hello'], 'true'],
      ['contains', [dec('1'), [1n, dec('1.0')]], 'true'],
      ['contains', [2n, [1n]], 'false'],
      ['distinct', [[2n, dec('2.0'), 2n, dec('2'), '2', [2n], [2n]]], '[2, 2.0, "2", [2]]'],
    ])
  })

  it('the natives make and sort lists', () => {
    const people = [obj({ n: 'b', a: 1n }), obj({ n: 'a', a: 2n }), obj({ n: 'a', a: 1n }), obj({ n: 'c' })]
    const tokens = [
      new CapabilityToken('a.CAP', [1n]),
      new CapabilityToken('a.CAP', [2n]),
      new CapabilityToken('b.CAP', [0n]),
    ]
    check([
      ['make-list', [2n, 'x'], '["x", "x"]'],
      ['make-list', [-2n, 'x'], '[]'],
      ['enumerate', [1n, 3n], '[1, 2, 3]'],
      ['enumerate', [3n, 1n], '[3, 2, 1]'],
      ['enumerate', [0n, 7n, 3n], '[0, 3, 6]'],
      ['enumerate', [0n, 7n, 0n], '[]'],
      ['enumerate', [0n, 7n, -1n], null],
      ['enumerate', [7n, 0n, 1n], null],
      ['sort', [[3n, 1n, 2n]], '[1, 2, 3]'],
      ['sort', [[true, 'b', dec('0.5'), 7n, 'a', false]], '["a", "b", 7, 0.5, false, true]'],
      // Lists, objects, guards and references to modules keep their place.
      ['sort', [[[2n], [1n]]], '[[2], [1]]'],
      ['sort', [[true, [1n], false]], '[true, [1], false]'],
      ['sort', [['n'], people.slice(0, 2)], '[{"a": 2,"n": "a"}, {"a": 1,"n": "b"}]'],
      ['sort', [['a', 'n'], people.slice(0, 3)], '[{"a": 1,"n": "a"}, {"a": 2,"n": "a"}, {"a": 1,"n": "b"}]'],
      ['sort', [[tokens[2], tokens[1], 1n, tokens[0]]], '[CapToken(b.CAP 0), CapToken(a.CAP 2), 1, CapToken(a.CAP 1)]'],
      ['sort', [[new ModuleRef('b', []), UNIT, new ModuleRef('a', []), 2n]], '[b, (), a, 2]'],
      ['sort', [['n'], [1n]], null],
      ['sort', [[1n], people], null],
    ])
  })

  it('the natives read and write strings', () => {
    check([
      ['format', ['{} and {}', ['x', ['y', 1n]]], '"x and ["y", 1]"'],
      ['format', ['{}', [1n, 2n]], '"1"'],
      ['format', ['{} {}', [1n]], null],
      ['show', ['x'], '""x""'],
      ['concat', [['a', '', 'b']], '"ab"'],
      ['concat', [['a', 1n]], null],
      ['str-to-list', ['a\u{1f600}'], '["a", "\u{1f600}"]'],
      ['str-to-int', ['0042'], '42'],
      ['str-to-int', [16n, 'fF'], '255'],
      ['str-to-int', [2n, '2'], null],
      ['str-to-int', ['-1'], null],
      ['str-to-int', [''], null],
      ['str-to-int', [1n, '1'], null],
      ['str-to-int', [17n, '1'], null],
      ['str-to-int', ['1'.repeat(513)], null],
      ['str-to-int', [64n, 'AQA'], '256'],
      ['str-to-int', [64n, 'AQB'], null],
      ['int-to-str', [16n, 255n], '"ff"'],
      ['int-to-str', [64n, 0n], '"AA"'],
      ['int-to-str', [10n, -1n], null],
      ['int-to-str', [1n, 1n], null],
      ['is-charset', [0n, 'abc'], 'true'],
      ['is-charset', [0n, '\u00e9'], 'false'],
      ['is-charset', [1n, '\u00e9'], 'true'],
      ['is-charset', [1n, '\u{1f600}'], 'false'],
      ['is-charset', [2n, 'a'], null],
      ['base64-encode', ['\u00e9?'], '"w6k_"'],
      ['base64-decode', ['w6k_'], '"\u00e9?"'],
      ['base64-decode', ['YQ'], '"a"'],
      ['base64-decode', ['YQ=='], '"a"'],
      ['base64-decode', ['YQ='], null],
      ['base64-decode', ['YR'], null],
      ['base64-decode', ['_w'], null],
      ['base64-decode', ['a+b/'], null],
    ])
  })

  it('the natives compute with times', () => {
    const at = (text: string): Term => run('time', text)
    check([
      ['time', ['tomorrow'], null],
      ['parse-time', ['%d.%m.%Y', '29.02.2020'], '"2020-02-29T00:00:00Z"'],
      ['add-time', [at('2019-12-31T23:59:59Z'), 1n], '"2020-01-01T00:00:00Z"'],
      ['add-time', [at('2019-12-31T23:59:59Z'), dec('-59.0')], '"2019-12-31T23:59:00Z"'],
      ['add-time', [noon, 10n ** 30n], null],
      ['add-time', [noon, 'x'], null],
      ['diff-time', [at('2020-01-01T00:00:01Z'), at('2020-01-01T00:00:00Z')], '1.0'],
      ['diff-time', [noon, new Time(noon.micros + 1n)], '-0.000001'],
      ['format-time', ['%H:%M', at('2020-01-01T01:02:03Z')], '"01:02"'],
      ['minutes', [2n], '120.0'],
      ['hours', [dec('0.5')], '1800.0'],
      ['days', [1n], '86400.0'],
      ['days', ['x'], null],
    ])
  })

  it('typeof names every type', () => {
    check([
      ['typeof', [1n], '"integer"'],
      ['typeof', [dec('1.0')], '"decimal"'],
      ['typeof', [['a']], '"list"'],
      ['typeof', [new CapabilityToken('m.C', [])], '"CAPTOKEN"'],
      ['typeof', [new ModuleRef('m', ['b', 'a'])], '"module{a, b}"'],
    ])
  })

  it('the natives hash strings by their characters, and keccak by pieces', () => {
    check([
      ['hash', [''], '"DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g"'],
      ['hash-keccak256', [['x y']], null],
    ])
    expect(run('hash', [1n])).toBe(run('hash', '[{"int":1}]'))
    const whole = run('hash-keccak256', [run('base64-encode', 'ab') as string])
    const pieces = ['a', 'b'].map((text) => run('base64-encode', text) as string)
    expect(run('hash-keccak256', pieces)).toBe(whole)
    expect(run('int-to-str', 16n, run('str-to-int', 64n, run('hash-keccak256', [])))).toMatch(/^c5d2460186f7233c/)
  })

  it('the natives compute principals and recognise them', () => {
    const key = 'ab'.repeat(32)
    const guards: readonly (readonly [string, Guard])[] = [
      ['k:', new Guard({ kind: 'keyset', keys: [key], predicate: 'keys-all' })],
      ['w:', new Guard({ kind: 'keyset', keys: [key], predicate: 'keys-any' })],
      ['w:', new Guard({ kind: 'keyset', keys: ['b', 'a'], predicate: 'ns.m.f' })],
      ['r:', new Guard({ kind: 'keysetRef', name: 'ns.k' })],
      ['u:', new Guard({ kind: 'user', fun: 'm.f', args: [1n, key] })],
      ['m:', new Guard({ kind: 'module', module: 'ns.m', name: 'n' })],
      ['p:', new Guard({ kind: 'pact', pactId: run('hash', '') as string, name: 'n' })],
      ['c:', new Guard({ kind: 'capability', name: 'm.C', args: [1n], pactId: null })],
    ]
    const names = guards.map(([kind, guard]) => {
      const name = run('create-principal', guard) as string
      expect(run('typeof-principal', name), kind).toBe(kind)
      expect(run('is-principal', name), kind).toBe(true)
      expect(run('validate-principal', guard, name)).toBe(true)
      expect(run('validate-principal', guard, `${name}x`)).toBe(false)
      return name
    })
    expect(new Set(names).size).toBe(names.length)
    expect(names[0]).toBe(`k:${key}`)
    for (const text of [
      '',
      'k:ab',
      'w::keys-all',
      `w:${'a'.repeat(43)}:`,
      'r:',
      'm::n',
      'm:n:',
      'u::x',
      'c:abc',
      'x:y',
    ]) {
      expect(run('typeof-principal', text), text).toBe('')
    }
  })

  it('pact-version is version 5', () => {
    check([
      ['enforce-pact-version', ['5'], 'true'],
      ['enforce-pact-version', ['4.0', '5.9'], 'true'],
      ['enforce-pact-version', ['6'], null],
      ['enforce-pact-version', ['4', '4.9'], null],
      ['enforce-pact-version', ['x'], null],
    ])
  })

  it('the errors of natives name the native, the types and the place', () => {
    expect(failure('concat', 1n)).toMatchObject({
      kind: 'EvalError',
      message: 'Type error: failed to call native function concat with argument(s) of type(s): integer',
      place: { line: 3, column: 7 },
    })
  })

  it('the name of each native exists once', () => {
    const names = [...PURE_NATIVES.map((native) => native.name), ...CONSTANTS.map(([name]) => name)]
    expect(new Set(names).size).toBe(names.length)
  })
})
