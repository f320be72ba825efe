/** Random values for property tests: descriptions that code makes with `gen-integer` and the like, and their values. */
import type { Run } from '../machine/ast.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import { Decimal } from '../values/decimal.ts'
import type { ObjectValue, Value } from '../values/value.ts'

/** Field of an object that describes a generator. */
const KIND = 'generator'
/** Maximum length of a random string or list: longer ones make no other errors, and take long to shrink. */
const MAX_LENGTH = 64
/** Maximum places of a random decimal: those of coins. */
const MAX_PLACES = 12
/** Characters of random strings: each is itself in source text. */
const CHARACTERS = 'abcxyzABC019 -_.:#ßé漢😀'
const HEX = '0123456789abcdef'

/** Numbers in [0, 1). */
export type Random = () => number

/** Random numbers by a seed (mulberry32): the same seed gives the same ones. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function isGenerator(value: Value): value is ObjectValue {
  return value instanceof Map && (value as ObjectValue).has(KIND)
}

function generator(kind: string, fields: readonly (readonly [string, Value])[] = []): ObjectValue {
  return new Map<string, Value>([[KIND, kind], ...fields])
}

function readBounds(args: Arguments): readonly (readonly [string, Value])[] {
  const [from, to] = [args.number(0), args.number(1)]
  if (decimalOf(from).compare(decimalOf(to)) > 0)
    throw args.error(`${args.native}: the first bound is above the second`)
  return [
    ['from', from],
    ['to', to],
  ]
}

function readCount(args: Arguments, index: number, most: number): bigint {
  const wanted = args.integer(index)
  if (wanted >= 0n && wanted <= BigInt(most)) return wanted
  throw args.error(`${args.native}: expected 0 to ${most}, got ${wanted}`)
}

/** Natives that describe random values. */
export const GENERATORS: readonly Native<Run>[] = [
  native('gen-integer', 2, 2, (args) => {
    args.integer(0)
    args.integer(1)
    return generator('integer', readBounds(args))
  }),
  native('gen-decimal', 2, 3, (args) => {
    const places = args.has(2) ? readCount(args, 2, MAX_PLACES) : 2n
    const made = generator('decimal', [...readBounds(args), ['places', places]])
    const [least, most] = mantissasOf(made)
    if (least > most) throw args.error(`gen-decimal: no number of ${places} places is between the bounds`)
    return made
  }),
  native('gen-bool', 0, 0, () => generator('bool')),
  native('gen-string', 1, 1, (args) => generator('string', [['length', readCount(args, 0, MAX_LENGTH)]])),
  native('gen-account', 0, 0, () => generator('account')),
  native('gen-one-of', 1, 1, (args) => {
    if (args.list(0).length === 0) throw args.error('gen-one-of: the list is empty')
    return generator('one-of', [['items', args.list(0)]])
  }),
  native('gen-list', 2, 2, (args) => {
    return generator('list', [
      ['item', args.object(0)],
      ['length', readCount(args, 1, MAX_LENGTH)],
    ])
  }),
]

/** A random value of a generator. Any other value is itself. */
export function generate(value: Value, random: Random): Value {
  if (!isGenerator(value)) return value
  const randomBelow = (limit: bigint) => BigInt(Math.floor(random() * Number(limit)))
  switch (value.get(KIND)) {
    case 'integer': {
      const [from, to] = [value.get('from') as bigint, value.get('to') as bigint]
      return pickEdge(random, [from, to, from <= 0n && to >= 0n ? 0n : from]) ?? from + randomBelow(to - from + 1n)
    }
    case 'decimal':
      return generateDecimal(value, random)
    case 'bool':
      return random() < 0.5
    case 'string': {
      const all = [...CHARACTERS]
      const length = Number(randomBelow((value.get('length') as bigint) + 1n))
      return Array.from({ length }, () => all[Math.floor(random() * all.length)]).join('')
    }
    case 'account':
      return `k:${Array.from({ length: 64 }, () => HEX[Math.floor(random() * HEX.length)]).join('')}`
    case 'one-of': {
      const items = value.get('items') as readonly Value[]
      return generate(items[Math.floor(random() * items.length)], random)
    }
    default: {
      const length = Number(randomBelow((value.get('length') as bigint) + 1n))
      return Array.from({ length }, () => generate(value.get('item') as Value, random))
    }
  }
}

/** Sometimes a bound, where most errors are. */
function pickEdge<T>(random: Random, edges: readonly T[]): T | null {
  return random() < 0.2 ? edges[Math.floor(random() * edges.length)] : null
}

function generateDecimal(value: ObjectValue, random: Random): Decimal {
  const [least, most] = mantissasOf(value)
  const drawn = pickEdge(random, [least, most]) ?? least + BigInt(Math.floor(random() * Number(most - least + 1n)))
  return new Decimal(drawn, Number(value.get('places') as bigint))
}

/** Least and greatest number that a generator of decimals draws, in units of its last place. */
function mantissasOf(value: ObjectValue): readonly [least: bigint, most: bigint] {
  const scale = Decimal.of(10n ** (value.get('places') as bigint))
  const scaleBound = (bound: string) => decimalOf(value.get(bound) as bigint | Decimal).mul(scale)
  return [scaleBound('from').ceiling(0).normalise().mantissa, scaleBound('to').floor(0).normalise().mantissa]
}

function decimalOf(number: bigint | Decimal): Decimal {
  return number instanceof Decimal ? number : Decimal.of(number)
}

/** Simpler values of the same generator, the simplest first. */
export function simplerValues(value: Value, of: Value): Value[] {
  if (!isGenerator(of)) return []
  if (of.get(KIND) === 'one-of') {
    const items = of.get('items') as readonly Value[]
    return items.slice(0, Math.max(0, items.indexOf(value))).filter((item) => !isGenerator(item))
  }
  const from = of.get('from')
  if (typeof value === 'bigint') {
    const [least, most] = [from as bigint, of.get('to') as bigint]
    const target = least > 0n ? least : most < 0n ? most : 0n
    return halvings(value, target)
  }
  if (value instanceof Decimal) {
    const least = decimalOf(from as bigint | Decimal)
    const most = decimalOf(of.get('to') as bigint | Decimal)
    return halvings(value.mantissa, 0n)
      .map((mantissa) => new Decimal(mantissa, value.places))
      .filter((each) => each.compare(least) >= 0 && each.compare(most) <= 0)
  }
  if (typeof value === 'boolean') return value ? [false] : []
  if (of.get(KIND) === 'string') {
    const all = [...(value as string)]
    const shorter = all.map((_, i) => all.filter((__, j) => j !== i).join(''))
    return ['', ...shorter, all.map(() => 'a').join('')].filter((each) => each !== value)
  }
  if (!Array.isArray(value)) return []
  const items = value as readonly Value[]
  const fewer = items.map((_, i) => items.filter((__, j) => j !== i))
  const parts = items.flatMap((item, i) =>
    simplerValues(item, of.get('item') as Value).map((each) => items.with(i, each)),
  )
  return [...(items.length > 1 ? [[]] : []), ...fewer, ...parts]
}

/** Values between a number and its simplest one: that one, then ever closer to the number. */
function halvings(value: bigint, target: bigint): bigint[] {
  const found: bigint[] = []
  for (let away = value - target; away !== 0n; away /= 2n) found.push(value - away)
  return found
}
