import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FormatError } from '../../src/ground/base/errors.ts'
import {
  exactJsonText,
  fieldOf,
  fieldsOf,
  type Json,
  JsonDepthError,
  jsonObjectIn,
  MAX_JSON_DEPTH,
  NumberText,
  parseExactJson,
  parseJson,
  parsePlainJson,
  stringifyJson,
  tryParse,
  unlessMalformed,
} from '../../src/ground/base/json.ts'

const bits = (count: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(count)) - 1n })

/**
 * In Node 24 to 26 JSON.parse may read any escaped name as a lone backslash once an object has had that name
 * (github.com/nodejs/node/issues/63785). Since this is a fault of the runtime, no object in these tests has that name.
 */
const isName = (text: string) => text !== '\\'
const jsonValue = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"\\\\":'))

describe('JSON with exact integers', () => {
  const asNumbers = (_key: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)
  const big = fc.bigInt({ min: -(1n << 300n), max: 1n << 300n })

  it('parseJson and stringifyJson agree with JSON.parse and JSON.stringify', () => {
    fc.assert(
      fc.property(jsonValue, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        // The unsafe integer in front selects the exact reader.
        const [first, read] = parseJson(`[9007199254740993,${text}]`) as Json[]
        expect(first).toBe(9007199254740993n)
        expect(JSON.stringify(read, asNumbers)).toBe(JSON.stringify(value))
        expect(stringifyJson(read)).toBe(JSON.stringify(value))
        expect(stringifyJson(parseJson(text))).toBe(JSON.stringify(value))
      }),
      { numRuns: 500 },
    )
  })

  it('parseJson keeps every integer exact: a bigint if it is unsafe, otherwise a number', () => {
    fc.assert(
      fc.property(fc.oneof(big, bits(64), bits(54)), fc.string().filter(isName), (integer, key) => {
        const isSafe = integer >= BigInt(Number.MIN_SAFE_INTEGER) && integer <= BigInt(Number.MAX_SAFE_INTEGER)
        const expected = isSafe ? Number(integer) : integer
        expect(parseJson(` ${integer}\n`)).toBe(expected)
        const text = `{${JSON.stringify(key)}:[${integer}]}`
        expect(Object.values(parseJson(text) as object)).toEqual([[expected]])
        expect(stringifyJson(parseJson(text))).toBe(text)
      }),
      { numRuns: 500 },
    )
    const edge = [9007199254740991, -9007199254740991, 9007199254740992n, -9007199254740992n]
    expect(edge.map((value) => parseJson(`${value}`))).toEqual(edge)
  })

  it('parseJson refuses a number as a property name', () => {
    for (const text of ['{9007199254740993:1}', '{9007199254740993 :1}', '[{"a":1,-9007199254740993\n:2}]']) {
      expect(() => parseJson(text)).toThrow(SyntaxError)
    }
  })

  it('parseJson never mistakes a string or an object for an integer', () => {
    const texts = ['9007199254740993', '\0', '\x009007199254740993', '\0\0', '\0-9007199254740993x', '-1', '"', '\\']
    const odd = fc.oneof(fc.constantFrom(...texts), fc.constantFrom('__integer', '$bigint', '__proto__', 'toString'))
    const value = fc.letrec((tie) => ({
      node: fc.oneof({ depthSize: 'small' }, odd, fc.string({ unit: 'binary' }), tie('array'), tie('object')),
      array: fc.array(tie('node')),
      object: fc.dictionary(fc.oneof(odd, fc.string()).filter(isName), tie('node')),
    })).node
    fc.assert(
      fc.property(value, (json) => {
        const text = JSON.stringify(json)
        const read = parseJson(`[12345678901234567890,${text}]`) as Json[]
        expect(JSON.stringify(read[1])).toBe(text)
        expect(stringifyJson(read)).toBe(`[12345678901234567890,${text}]`)
      }),
      { numRuns: 500 },
    )
    // The escapes that JSON allows for the same characters.
    for (const text of ['"\\u00009007199254740993"', '{"__integer":"9007199254740993"}', '"\\u005f\\u0000"']) {
      expect((parseJson(`[9007199254740993,${text}]`) as Json[])[1]).toEqual(JSON.parse(text))
    }
  })

  it('parseJson accepts exactly the texts that JSON.parse accepts', () => {
    const accepts = (parse: (text: string) => unknown, text: string) => {
      try {
        parse(text)
        return true
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
        return false
      }
    }
    const fragment = fc.constantFrom(
      ...['0', '-', '.', 'e5', '12345678901234567890', '012345678901234567890', '"', '"a"', '\\', '\\u0000', '\\"'],
      ...[':', ',', '[', ']', '{', '}', ' ', '\n', 'null', 'tru', '\u00a0', '9007199254740993'],
    )
    let accepted = 0
    fc.assert(
      fc.property(jsonValue, fc.array(fragment, { maxLength: 6 }), fc.nat(), (value, fragments, cut) => {
        const text = JSON.stringify(value)
        const at = cut % (text.length + 1)
        for (const broken of [fragments.join(''), text.slice(0, at) + fragments.join('') + text.slice(at)]) {
          const expected = accepts(JSON.parse, broken)
          expect(accepts(parseJson, broken), broken).toEqual(expected)
          if (expected) accepted++
        }
      }),
      { numRuns: 2000 },
    )
    expect(accepted).toBeGreaterThan(100)
    for (const text of ['012345678901234567890', '-012345678901234567890', '{12345678901234567890:1}', '']) {
      expect(() => parseJson(text)).toThrow(SyntaxError)
    }
  })

  it('parseJson needs linear time for a string without an end', () => {
    const cost = (length: number) => {
      const text = `9007199254740993"${'\\"'.repeat(length)}`
      const before = process.cpuUsage()
      expect(() => parseJson(text)).toThrow(SyntaxError)
      const { user, system } = process.cpuUsage(before)
      // Use the sum: the system measures it, and only estimates how it is divided.
      return user + system
    }
    const least = (length: number) => Math.min(...Array.from({ length: 5 }, () => cost(length)))
    // 16 times the length costs 16 times as much. It would cost 256 times as much if each quote caused a scan of the
    // rest.
    expect(least(2_560_000)).toBeLessThan(80 * Math.max(least(160_000), 1))
  })

  it('stringifyJson omits undefined properties and writes undefined items as null', () => {
    expect(stringifyJson({ a: undefined, b: [undefined, 1n << 64n], c: null })).toBe(
      '{"b":[null,18446744073709551616],"c":null}',
    )
  })
})

it('parseExactJson keeps fractions as written on request', () => {
  expect(parseExactJson('{"a":[1.10,-0e1,7,12345678901234567890],"1.5":"1.5"}')).toEqual({
    a: [new NumberText('1.10'), new NumberText('-0e1'), 7, 12345678901234567890n],
    '1.5': '1.5',
  })
  expect(parseExactJson('"\\u00001.5"')).toBe('\u00001.5')
  for (const text of ['1.', '.5', '01.5', '1e', '{1.5:1}', '1.5.5', '[1.5', '--1.5']) {
    expect(() => parseExactJson(text), text).toThrow(SyntaxError)
  }
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = JSON.stringify(value)
      const exact = parseExactJson(`[${text}]`) as (number | bigint | NumberText)[]
      expect(Number(exact[0] instanceof NumberText ? exact[0].text : exact[0])).toBe(JSON.parse(text))
    }),
  )
})

describe('the nesting of JSON', () => {
  const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  it.each([
    ['parseJson', parseJson],
    ['parseExactJson', parseExactJson],
    ['parsePlainJson', parsePlainJson],
  ] as const)('the nesting of JSON is limited in %s', (_, parse) => {
    for (const nested of [lists, objects]) {
      expect(() => parse(nested(MAX_JSON_DEPTH))).not.toThrow()
      expect(() => parse(nested(MAX_JSON_DEPTH + 1))).toThrow(JsonDepthError)
      expect(() => parse(nested(150_000))).toThrow('the JSON nests more than 1200 levels')
      expect(() => parse(`[9007199254740993,1.5,${nested(150_000)}]`)).toThrow(JsonDepthError)
    }
  })

  it('the limit of nesting counts levels, but neither siblings nor brackets in strings', () => {
    const many = `[${'[{}],'.repeat(10_000)}0]`
    expect(parsePlainJson(many)).toHaveLength(10_001)
    const inText = JSON.stringify(['\\"[{'.repeat(10_000), `\\${'['.repeat(10_000)}`])
    expect(parsePlainJson(inText)).toEqual(JSON.parse(inText))
  })

  it('the limit of nesting is as deep as code that walks values can go', () => {
    const text = objects(MAX_JSON_DEPTH)
    expect(stringifyJson(parseExactJson(text))).toBe(text)
  })
})

describe('fields of JSON', () => {
  it('a list or a primitive value has no fields', () => {
    expect(fieldsOf(parseExactJson('{"a":1}'))).toEqual({ a: 1 })
    for (const text of ['[1]', 'null', '"a"', '1.5', '17']) expect(fieldsOf(parseExactJson(text))).toEqual({})
    expect(fieldsOf(undefined)).toEqual({})
  })

  it('inherited properties of an object are not fields', () => {
    expect(fieldOf({ a: 1 }, 'a')).toBe(1)
    expect(fieldOf({}, 'toString')).toBeUndefined()
    expect(fieldOf([1], 'length')).toBeUndefined()
  })

  it('fields of a text come from the object in it', () => {
    expect(jsonObjectIn('{"a":[1]}')).toEqual({ a: [1] })
    for (const text of ['', '{', '[]', 'null', '1', `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`]) {
      expect(jsonObjectIn(text)).toBeNull()
    }
  })
})

it('text that is not JSON is undefined, unlike null', () => {
  expect(tryParse('{', parseJson)).toBeUndefined()
  expect(tryParse('null', parseJson)).toBe(null)
})

it('exact JSON is written with the digits that were read', () => {
  const text =
    '{"a":[1.10,-0e1,7,12345678901234567890,0.1000000000000000055511151231257827,null,true,"\\u0000"],"b":{}}'
  expect(exactJsonText(parseExactJson(text))).toBe(text)
})

it('a bug in a reader is not mistaken for malformed text', () => {
  const throws = (error: Error) => () => {
    throw error
  }
  expect(unlessMalformed(() => 1)).toBe(1)
  for (const error of [new FormatError('key', 0, 'no'), new SyntaxError('no')]) {
    expect(unlessMalformed(throws(error))).toBeNull()
  }
  expect(() => unlessMalformed(throws(new TypeError('a bug')))).toThrow('a bug')
  expect(() => tryParse('', throws(new TypeError('a bug')))).toThrow('a bug')
})
