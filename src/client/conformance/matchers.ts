/** Compares values with expectations. Plain values are exact; objects may have further fields; `$` begins a matcher. */
import { isJsonObject, parsePlainJson, stringifyJson } from '#ground/base/json.ts'
import { printable } from '#ground/base/printable.ts'
import { findHashComplaint } from './hash-of.ts'
import type { Release } from './words.ts'

/** The first difference. `at`: such as `json.items.0.hash`. */
export interface Mismatch {
  readonly at: string
  readonly expected: string
  readonly got: string
}

/** Characters of a value that a report shows. */
const MAX_SHOWN = 160

/** A value as one short line. */
export function abbreviateValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = printable(stringifyJson(value), MAX_SHOWN + 1)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text
}

const texts = {
  hash: /^[\w-]{43}$/,
  base64url: /^[\w-]*$/,
  hex: /^[0-9a-f]+$/,
  digits: /^[0-9]+$/,
} as const

const isInteger = (value: unknown) => typeof value === 'bigint' || Number.isInteger(value)

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' || typeof value === 'bigint',
  integer: isInteger,
  natural: (value) => isInteger(value) && (value as number | bigint) >= 0,
  array: Array.isArray,
  object: isJsonObject,
  null: (value) => value === null,
  ...Object.fromEntries(
    Object.entries(texts).map(([name, form]) => [
      name,
      (value: unknown) => typeof value === 'string' && form.test(value),
    ]),
  ),
}

type Matcher = (expected: unknown, got: unknown, at: string, release: Release) => Mismatch | null

/** @returns the first difference, or null if the value is as expected */
export const findMismatch: Matcher = (expected, got, at, release) => {
  if (typeof expected !== 'object' || expected === null)
    return isSameValue(expected, got) ? null : mismatchAt(expected, got, at)
  if (Array.isArray(expected)) return findListMismatch(expected, got, at, release)
  const entries = Object.entries(expected)
  const fields = entries.filter(([key]) => !key.startsWith('$'))
  for (const [key, value] of entries.filter(([name]) => name.startsWith('$'))) {
    const matcher = matchers[key]
    if (matcher === undefined) return { at, expected: `a matcher that exists, not ${key}`, got: abbreviateValue(got) }
    const found = matcher(value, got, at, release)
    if (found !== null) return found
  }
  if (fields.length < entries.length && fields.length === 0) return null
  if (!types.object(got)) return { at, expected: 'an object', got: abbreviateValue(got) }
  return findFirstMismatch(fields, ([key, value]) => {
    const part = Object.hasOwn(got as object, key) ? (got as Record<string, unknown>)[key] : undefined
    return findMismatch(value, part, `${at}.${key}`, release)
  })
}

function findListMismatch(expected: readonly unknown[], got: unknown, at: string, release: Release): Mismatch | null {
  if (!Array.isArray(got)) return { at, expected: 'an array', got: abbreviateValue(got) }
  if (got.length !== expected.length)
    return { at, expected: `${expected.length} items`, got: `${got.length}: ${abbreviateValue(got)}` }
  return findFirstMismatch(expected, (item, i) => findMismatch(item, got[i], `${at}.${i}`, release))
}

function findFirstMismatch<T>(
  items: readonly T[],
  check: (item: T, index: number) => Mismatch | null,
): Mismatch | null {
  for (const [i, item] of items.entries()) {
    const found = check(item, i)
    if (found !== null) return found
  }
  return null
}

/** Numbers are equal by value: integers beyond 2^53 are bigint. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  return isInteger(a) && isInteger(b) && BigInt(a as number) === BigInt(b as number)
}

const mismatchAt = (expected: unknown, got: unknown, at: string): Mismatch => {
  return {
    at,
    expected: typeof expected === 'string' && expected.startsWith('a ') ? expected : abbreviateValue(expected),
    got: abbreviateValue(got),
  }
}

function findExactMismatch(expected: unknown, got: unknown, at: string): Mismatch | null {
  const [a, b] = [stringifyJson(expected), got === undefined ? undefined : stringifyJson(got)]
  return a === b ? null : { at, expected: `exactly ${abbreviateValue(expected)}`, got: abbreviateValue(got) }
}

function findReleaseMismatch(expected: unknown, got: unknown, at: string, release: Release): Mismatch | null {
  const byRelease = expected as Readonly<Record<string, unknown>>
  const chosen = [release, release.split(' ')[0], 'spec'].find((name) => Object.hasOwn(byRelease, name))
  if (chosen === undefined)
    return { at, expected: `a value for ${release} or spec in the case`, got: abbreviateValue(got) }
  return findMismatch(byRelease[chosen], got, at, release)
}

/** Items in the order of a field: numbers, and texts by their characters. */
function findOrderMismatch(field: unknown, got: unknown, at: string, isAscending: boolean): Mismatch | null {
  if (!Array.isArray(got)) return { at, expected: 'an array', got: abbreviateValue(got) }
  const keys = got.map((item) => (item as Record<string, number | string>)?.[String(field)])
  const bad = keys.findIndex((key, i) => i > 0 && (isAscending ? keys[i - 1] > key : keys[i - 1] < key))
  if (bad < 0) return null
  const expected = `${field} in ${isAscending ? 'ascending' : 'descending'} order`
  return { at: `${at}.${bad}`, expected, got: `${abbreviateValue(keys[bad])} after ${abbreviateValue(keys[bad - 1])}` }
}

const lengthOf = (value: unknown): number | undefined => {
  return Array.isArray(value) || typeof value === 'string' ? value.length : undefined
}

const matchers: Readonly<Record<string, Matcher>> = {
  $type: (expected, got, at) =>
    types[String(expected)]?.(got) ? null : mismatchAt(`a value of type ${expected}`, got, at),
  $pattern: (expected, got, at) =>
    typeof got === 'string' && new RegExp(String(expected)).test(got)
      ? null
      : mismatchAt(`a text like ${expected}`, got, at),
  $exact: findExactMismatch,
  $absent: (_, got, at) => (got === undefined ? null : { at, expected: 'nothing', got: abbreviateValue(got) }),
  $not: (expected, got, at, release) =>
    findMismatch(expected, got, at, release) === null
      ? { at, expected: `not ${abbreviateValue(expected)}`, got: abbreviateValue(got) }
      : null,
  $anyOf: (expected, got, at, release) => {
    const options = expected as readonly unknown[]
    if (options.some((option) => findMismatch(option, got, at, release) === null)) return null
    return { at, expected: `one of ${abbreviateValue(options)}`, got: abbreviateValue(got) }
  },
  $all: (expected, got, at, release) =>
    findFirstMismatch(expected as unknown[], (each) => findMismatch(each, got, at, release)),
  $each: (expected, got, at, release) => {
    if (!Array.isArray(got)) return { at, expected: 'an array', got: abbreviateValue(got) }
    return findFirstMismatch(got, (item, i) => findMismatch(expected, item, `${at}.${i}`, release))
  },
  $values: (expected, got, at, release) => {
    if (!types.object(got)) return { at, expected: 'an object', got: abbreviateValue(got) }
    const entries = Object.entries(got as object)
    return findFirstMismatch(entries, ([key, value]) => findMismatch(expected, value, `${at}.${key}`, release))
  },
  $has: (expected, got, at, release) => {
    const has = Array.isArray(got) && got.some((item) => findMismatch(expected, item, at, release) === null)
    return has ? null : { at, expected: `an item like ${abbreviateValue(expected)}`, got: abbreviateValue(got) }
  },
  $keys: (expected, got, at) => {
    if (!types.object(got)) return { at, expected: 'an object', got: abbreviateValue(got) }
    const [wanted, found] = [expected as readonly string[], Object.keys(got as object)]
    const odd = [...wanted.filter((key) => !found.includes(key)), ...found.filter((key) => !wanted.includes(key))]
    return odd.length === 0 ? null : { at, expected: `the keys ${wanted.join(', ')}`, got: found.join(', ') }
  },
  $keyOrder: (expected, got, at) => {
    if (!types.object(got)) return { at, expected: 'an object', got: abbreviateValue(got) }
    const wanted = (expected as readonly string[]).filter((key) => Object.hasOwn(got as object, key))
    const found = Object.keys(got as object).filter((key) => wanted.includes(key))
    return wanted.join() === found.join()
      ? null
      : { at, expected: `keys in the order ${wanted.join(', ')}`, got: found.join(', ') }
  },
  $length: (expected, got, at, release) => findMismatch(expected, lengthOf(got), `${at}.length`, release),
  $min: (expected, got, at) =>
    isNumber(got) && got >= (expected as number) ? null : mismatchAt(`a number of at least ${expected}`, got, at),
  $max: (expected, got, at) =>
    isNumber(got) && got <= (expected as number) ? null : mismatchAt(`a number of at most ${expected}`, got, at),
  $ascending: (expected, got, at) => findOrderMismatch(expected, got, at, true),
  $descending: (expected, got, at) => findOrderMismatch(expected, got, at, false),
  $hashOf: (expected, got, at) => {
    const complaint = findHashComplaint(String(expected), got)
    return complaint === null ? null : { at, ...complaint }
  },
  $json: (expected, got, at, release) => {
    try {
      return findMismatch(expected, parsePlainJson(String(got)), `${at} as JSON`, release)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return mismatchAt('a JSON text', got, at)
    }
  },
  $decoded: (expected, got, at, release) => {
    if (typeof got !== 'string' || !texts.base64url.test(got)) return mismatchAt('a base64url text', got, at)
    return findMismatch(expected, Buffer.from(got, 'base64url').toString(), `${at} decoded`, release)
  },
  $release: findReleaseMismatch,
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'
