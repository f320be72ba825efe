import { describe, expect, it } from 'vitest'
import { abbreviateValue, findMismatch } from '../../src/client/conformance/matchers.ts'
import { fillIn, UnknownVariable } from '../../src/client/conformance/variables.ts'
import { stringifyJson } from '../../src/ground/base/json.ts'

const hash = 'A'.repeat(43)

/** A reference inside a text. */
const inside = (path: string) => ['$', '{', path, '}'].join('')

/** Matcher, a value that fits, a value that does not. */
const rows: readonly (readonly [expected: unknown, fits: unknown, not: unknown])[] = [
  [1, 1n, 2],
  ['a', 'a', 'b'],
  [null, null, undefined],
  [
    [1, 2],
    [1, 2],
    [1, 2, 3],
  ],
  [{ a: 1 }, { a: 1, b: 2 }, { b: 2 }],
  [{ $exact: { a: 1 } }, { a: 1 }, { a: 1, b: 2 }],
  [{ $keys: ['a', 'b'] }, { b: 1, a: 2 }, { a: 1, c: 2 }],
  [{ $keys: ['a'] }, { a: 1 }, { a: 1, b: 2 }],
  [{ $keyOrder: ['a', 'b', 'c'] }, { a: 1, c: 2 }, { c: 1, a: 2 }],
  [{ $type: 'natural' }, 0, -1],
  [{ $type: 'natural' }, 2n ** 60n, 1.5],
  [{ $type: 'hash' }, hash, `${hash}A`],
  [{ $type: 'hex' }, '0f', '0F'],
  [{ $type: 'object' }, {}, []],
  [{ $type: 'no-such-type' }, undefined, 1],
  [{ $pattern: '^a+$' }, 'aa', 'ab'],
  [{ $absent: true }, undefined, null],
  [{ $not: 1 }, 2, 1],
  [{ $anyOf: [1, 2] }, 2, 3],
  [{ $all: [{ $min: 1 }, { $max: 3 }] }, 3, 4],
  [{ $each: { $type: 'string' } }, ['a', 'b'], ['a', 1]],
  [{ $values: 1 }, { a: 1, b: 1 }, { a: 1, b: 2 }],
  [{ $has: { a: 1 } }, [{ a: 2 }, { a: 1, b: 3 }], [{ a: 2 }]],
  [{ $length: 2 }, 'ab', 'abc'],
  [{ $length: { $min: 1 } }, [1], []],
  [{ $ascending: 'h' }, [{ h: 1 }, { h: 1 }, { h: 2 }], [{ h: 2 }, { h: 1 }]],
  [{ $descending: 'h' }, [{ h: 2 }, { h: 1 }], [{ h: 1 }, { h: 2 }]],
  [{ $json: { a: 1 } }, '{"a":1}', '{"a":2}'],
  [{ $json: 1 }, '1', 'no JSON'],
  [{ $decoded: 'ab' }, 'YWI', 'YWM'],
  [{ $decoded: { $json: [1] } }, 'WzFd', 'no base64url!'],
  [{ $release: { spec: 1, live: 2, newcut: 3 } }, 2, 1],
  [{ a: 1, $keys: ['a'] }, { a: 1 }, { a: 2 }],
  [{ $hashOf: 'no-such-hash' }, undefined, {}],
  [{ $nothing: 1 }, undefined, 1],
]

describe('a matcher', () => {
  it.each(rows.map((row) => [row.map(stringifyJson).join(', '), ...row] as const))(
    'the matcher of %s',
    (_, expected, fits, not) => {
      const knows = fits !== undefined || JSON.stringify(expected) === '{"$absent":true}'
      if (knows) expect(findMismatch(expected, fits, 'json', 'live 3.2')).toBeNull()
      expect(findMismatch(expected, not, 'json', 'live 3.2')).not.toBeNull()
    },
  )

  it('a matcher says where the first difference is, what was expected and what came', () => {
    const found = findMismatch(
      { items: { $each: { height: { $min: 1 } } } },
      { items: [{ height: 1 }, { height: 0 }] },
      'json',
      'spec',
    )
    expect(found).toEqual({ at: 'json.items.1.height', expected: 'a number of at least 1', got: '0' })
  })

  it('a matcher shows values of up to 160 characters as a whole', () => {
    const text = 'x'.repeat(158)
    expect(abbreviateValue(text)).toBe(`"${text}"`)
    expect(abbreviateValue(`${text}y`)).toBe(`"${text}y...`)
  })

  it.each([
    ['spec', 'spec'],
    ['live 2.32', 'old'],
    ['live 3.2', 'live'],
    ['newcut', 'spec'],
  ] as const)(
    'a matcher for releases takes for %s the value of the release, its family or spec',
    (release, expected) => {
      expect(
        findMismatch({ $release: { spec: 'spec', live: 'live', 'live 2.32': 'old' } }, expected, '', release),
      ).toBeNull()
    },
  )
})

it('a case without a value for the release of the node fails, and says so', () => {
  expect(findMismatch({ $release: { live: 1 } }, 1, 'json.a', 'newcut')).toEqual({
    at: 'json.a',
    expected: 'a value for newcut or spec in the case',
    got: '1',
  })
})

describe('variables', () => {
  const variables = new Map<string, unknown>([
    ['c', { hash: 'H', list: [1, 2n ** 60n] }],
    ['chain', '0'],
  ])

  it.each([
    ['$c.hash', 'H'],
    ['$c.list.-1', 2n ** 60n],
    [`a ${inside('chain')} ${inside('c.list')}`, 'a 0 [1,1152921504606846976]'],
    [{ [inside('chain')]: ['$chain'] }, { '0': ['0'] }],
    ['^a$', '^a$'],
  ])('variables fill in %o', (value, expected) => expect(fillIn(value, variables)).toEqual(expected))

  it.each(['$missing', inside('c.missing'), '$c.toString'])('variables without a value refuse %s', (text) => {
    expect(() => fillIn(text, variables)).toThrow(UnknownVariable)
  })
})
