/** Sizes by which the network charges, computed by hand from its rules. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  chargedSize,
  keysetSize,
  namespaceSize,
  pactSize,
  rowSize,
} from '../../src/language/contracts/values/charged-size.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { CapabilityToken, Guard, ModuleRef, Time, UNIT, type Value } from '../../src/language/contracts/values/value.ts'
import { values } from './values.ts'

/** A value is a variant of a variant: two bytes each. */
const LITERAL = 4
const [GUARD, ONE] = [2 + 2, LITERAL + 8]
/** A name of a module: a record of a text and no namespace, and with a namespace of two characters. */
const module = (length: number) => 1 + (4 + length) + 2
const spaced = (length: number) => 1 + (4 + length) + 2 + (4 + 2)

describe('the charged size', () => {
  it.each<readonly [what: string, value: Value, bytes: number]>([
    ['a text', 'abc', LITERAL + 4 + 3],
    ['a text of longer characters', '\u00e4\u{1f600}', LITERAL + 4 + 2 + 4],
    ['an integer', 1n, ONE],
    ['a negative one', -1n, ONE],
    ['an integer of 64 bits', 2n ** 64n - 1n, LITERAL + 8],
    ['one of 72 bits', 2n ** 71n, LITERAL + 9],
    ['one of 71 bits', 2n ** 70n, LITERAL + 8],
    ['a decimal', new Decimal(15n, 1), LITERAL + 1 + 1 + 8],
    ['a boolean', true, LITERAL + 1],
    ['unit', UNIT, LITERAL],
    ['a time', new Time(0n), 2 + 8],
    ['a list', [1n, 'a'], 2 + 5 + ONE + (LITERAL + 5)],
    ['an object', new Map([['ab', 1n]]), 2 + 5 + (1 + 6 + ONE)],
    ['a module', new ModuleRef('m', ['ns.face']), 2 + 1 + module(1) + (5 + spaced(4))],
    ['a capability', new CapabilityToken('ns.m.CAP', [1n]), 2 + 1 + (1 + spaced(1) + 7 + 36) + (5 + ONE)],
    ['a keyset', new Guard({ kind: 'keyset', keys: ['ab', 'ab'], predicate: 'keys-2' }), GUARD + 1 + (5 + 6) + 2],
    [
      'a keyset with a native predicate',
      new Guard({ kind: 'keyset', keys: [], predicate: '=' }),
      GUARD + 1 + 5 + 2 + (2 + 5),
    ],
    [
      'a keyset with a predicate of a module',
      new Guard({ kind: 'keyset', keys: [], predicate: 'm.ok' }),
      GUARD + 1 + 5 + 2 + 2 + (1 + 6 + module(1)),
    ],
    ['the name of a keyset', new Guard({ kind: 'keysetRef', name: 'ab' }), GUARD + 1 + 6 + 2],
    ['one in a namespace', new Guard({ kind: 'keysetRef', name: 'ns.ab' }), GUARD + 1 + 6 + 2 + 6],
    ['a user guard', new Guard({ kind: 'user', fun: 'm.ok', args: [1n] }), GUARD + 1 + (1 + 6 + module(1)) + (5 + ONE)],
    [
      'a capability guard',
      new Guard({ kind: 'capability', name: 'm.OK', args: [], pactId: null }),
      GUARD + 1 + (1 + 6 + module(1)) + 5 + 2,
    ],
    [
      'one of a pact',
      new Guard({ kind: 'capability', name: 'm.OK', args: [], pactId: 'id' }),
      GUARD + 1 + (1 + 6 + module(1)) + 5 + 2 + 6,
    ],
    ['a module guard', new Guard({ kind: 'module', module: 'm', name: 'ab' }), GUARD + 1 + module(1) + 6],
    ['a pact guard', new Guard({ kind: 'pact', pactId: 'id', name: 'abc' }), GUARD + 1 + 6 + 7],
  ])('the charged size of %s is the sum of its encoded parts', (_, value, bytes) => {
    expect(chargedSize(value)).toBe(bytes)
  })

  it('the charged size of a keyset, a namespace or a row leaves out the tag of a value', () => {
    const guard = new Guard({ kind: 'keyset', keys: ['ab'], predicate: 'keys-all' })
    if (guard.is.kind !== 'keyset') throw new Error('no keyset')
    expect(keysetSize(guard.is)).toBe(1 + (5 + 6) + 2)
    expect(namespaceSize('free', guard, guard)).toBe(1 + 8 + 2 * (2 + 14))
    expect(rowSize(new Map([['a', 1n]]))).toBe(5 + (1 + 5 + ONE))
  })

  it('the charged size of a pact counts its yield, and nested pacts without their rollback', () => {
    const bare = { id: 'id', fun: { qualified: 'm.p' }, args: [1n], yielded: null, nested: new Map() }
    const inner = 1 + 5 + 2 + 5 + 6 + (1 + (1 + 5 + module(1)) + (5 + ONE)) + 5
    expect(pactSize(bare)).toBe(inner + 1)
    expect(pactSize({ ...bare, nested: new Map([['ab', bare]]) })).toBe(inner + 1 + (1 + 6 + inner))
    const here = { data: new Map([['a', 1n]]), provenance: null, source: null }
    const record = 1 + (5 + (1 + 5 + ONE)) + 2 + 2
    expect(pactSize({ ...bare, yielded: here })).toBe(inner + 1 + record)
    // The target chain with the hash of the module, and the chain that it comes from.
    const away = { ...here, provenance: { chain: '12' }, source: '0' }
    expect(pactSize({ ...bare, yielded: away })).toBe(inner + 1 + record + (1 + 6 + 36) + 5)
  })

  it('the charged size of a list is that of its items, however often they are shared or measured', () => {
    fc.assert(
      fc.property(fc.array(values), (items) => {
        const sum = items.reduce((total: number, item) => total + chargedSize(item), 2 + 5)
        expect(chargedSize(items)).toBe(sum)
        expect(chargedSize([items, items])).toBe(2 + 5 + 2 * sum)
      }),
    )
  })

  it('the charged size of a tree of 200 shared levels is measured without walking each path', () => {
    let tree: Value = ['x'.repeat(1000)]
    for (let i = 0; i < 200; i++) tree = [tree, tree]
    expect(chargedSize(tree)).toBeGreaterThan(2 ** 200)
  })
})
