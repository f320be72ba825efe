/** Natives of lists, and natives that call functions (CoreBuiltin.hs; TableGasModel.hs, GConcat, GMakeList, GComparison). */
import { asValue, type Closure, type Env, isClosure } from './env.ts'
import type { Machine } from './machine.ts'
import { as, type Code, closureOf, fieldsOf, intOf, is, itemsOf, lengthOf, textOf } from './native-args.ts'
import { equals } from './natives-numbers.ts'
import { sizeOfInteger, sizeOfValue } from './sizes.ts'
import { Fatal, type State } from './state.ts'
import { bool, compareTexts, int, list, objectOf, str, type Value } from './terms.ts'
import { compareDecimals } from './values.ts'

const clamp = (n: number, length: number): number => Math.max(0, Math.min(n, length))

const take: Code = ({ state }, _, [count, from]) => {
  if (is(count, 'list')) {
    const fields = fieldsOf(from)
    const names = count.items.map(textOf)
    state.charge(names.length * 100)
    return objectOf([...fields].filter(([field]) => names.includes(field)))
  }
  const n = Number(intOf(count))
  const pick = <T>(items: readonly T[]): readonly T[] => {
    // A negative number is charged as it is.
    state.charge((n >= 0 ? Math.min(n, items.length) : -n) * 100)
    return n >= 0 ? items.slice(0, n) : items.slice(clamp(items.length + n, items.length))
  }
  if (is(from, 'string')) return str(pick([...from.s]).join(''))
  return list(pick(itemsOf(from)))
}

const drop: Code = (_, __, [count, from]) => {
  if (is(count, 'list')) {
    const names = count.items.map(textOf)
    return objectOf([...fieldsOf(from)].filter(([field]) => !names.includes(field)))
  }
  const n = Number(intOf(count))
  const rest = <T>(items: readonly T[]): readonly T[] =>
    n >= 0 ? items.slice(n) : items.slice(0, clamp(items.length + n, items.length))
  if (is(from, 'string')) return str(rest([...from.s]).join(''))
  return list(rest(itemsOf(from)))
}

const length: Code = ({ state }, _, [of]) => {
  if (is(of, 'string')) {
    state.charge(Math.floor(lengthOf(of.s) / 100) + 1)
    return int(lengthOf(of.s))
  }
  return int(is(of, 'list') ? of.items.length : as(of, 'object').fields.size)
}

const reverse: Code = ({ state }, _, [of]) => {
  if (is(of, 'string')) {
    state.charge(lengthOf(of.s) * 100)
    return str([...of.s].reverse().join(''))
  }
  state.charge(itemsOf(of).length * 100)
  return list([...itemsOf(of)].reverse())
}

const LITERALS = ['string', 'integer', 'decimal', 'unit', 'bool']

/** Order of literals: by kind, then by value. */
function order(a: Value, b: Value): number {
  if (a.v === 'time' && b.v === 'time') return Number(a.micros - b.micros)
  const [x, y] = [LITERALS.indexOf(a.v), LITERALS.indexOf(b.v)]
  if (x < 0 || y < 0) return 0
  if (x !== y) return x - y
  if (a.v === 'string' && b.v === 'string') return compareTexts(a.s, b.s)
  if (a.v === 'integer' && b.v === 'integer') return a.n < b.n ? -1 : a.n > b.n ? 1 : 0
  if (a.v === 'decimal' && b.v === 'decimal') return compareDecimals(a.d, b.d)
  return a.v === 'bool' && b.v === 'bool' ? Number(a.b) - Number(b.b) : 0
}

const sort: Code = ({ state }, _, [of]) => {
  const items = itemsOf(of)
  if (items.length === 0) return list([])
  const largest = Math.max(...items.map(sizeOfValue))
  state.charge(Math.floor((largest * items.length * items.length) / 1000))
  return list([...items].sort(order))
}

/** The last of the fields decides first (rawSortObject). */
const sortObjects: Code = (_, __, [fields, of]) => {
  const names = itemsOf(fields).map(textOf)
  const objects = itemsOf(of)
  if (names.length === 0 || objects.length === 0) return list(objects)
  const compare = (a: Value, b: Value): number => {
    for (const name of [...names].reverse()) {
      const [x, y] = [fieldsOf(a).get(name), fieldsOf(b).get(name)]
      if (x === undefined || y === undefined) continue
      const result = order(x, y)
      if (result !== 0) return result
    }
    return 0
  }
  return list([...objects].sort(compare))
}

function enumerate(state: State, from: bigint, to: bigint, step: bigint): Value {
  if (from === to) {
    state.charge(sizeOfInteger(from))
    return list([int(from)])
  }
  if (step === 0n) return list([])
  if (from < to !== step > 0n) throw new Fatal('enumerate')
  const size = (n: bigint): bigint => (n < 0n ? -n : n)
  const count = size(from - to) / size(step) + 1n
  const largest = size(from) > size(to) ? size(from) : size(to)
  state.charge(Number(count) * sizeOfInteger(largest))
  return list(Array.from({ length: Number(count) }, (_, i) => int(from + step * BigInt(i))))
}

const distinct: Code = ({ state }, _, [of]) => {
  const unique = (items: readonly Value[]): Value[] => {
    const [first, ...rest] = items
    if (first === undefined) return []
    return [first, ...unique(rest.filter((item) => !equals(state, first, item)))]
  }
  return list(unique(itemsOf(of)))
}

const map: Code = (machine, _, [fn, of]) =>
  list(
    itemsOf(of).map((item) => {
      machine.chargeItem()
      return asValue(machine.apply(closureOf(fn), [item]))
    }),
  )

const filter: Code = (machine, _, [fn, of]) =>
  list(
    itemsOf(of).filter((item) => {
      machine.chargeItem()
      return machine.bool(machine.apply(closureOf(fn), [item]))
    }),
  )

const fold: Code = (machine, _, [fn, first, of]) =>
  itemsOf(of).reduce((before, item) => {
    machine.chargeItem()
    return asValue(machine.apply(closureOf(fn), [before, item]))
  }, asValue(first))

const zip: Code = (machine, _, [fn, left, right]) => {
  const [xs, ys] = [itemsOf(left), itemsOf(right)]
  return list(
    xs.slice(0, ys.length).map((x, i) => {
      machine.chargeItem()
      return asValue(machine.apply(closureOf(fn), [x, ys[i]]))
    }),
  )
}

const connective =
  (ends: boolean): Code =>
  (machine, _, [first, second, value]) => {
    if (isClosure(value)) throw new Fatal('expected a value')
    const isFirst = machine.bool(machine.apply(closureOf(first), [value]))
    if (isFirst === ends) return bool(ends)
    return bool(machine.bool(machine.apply(closureOf(second), [value])))
  }

const resume: Code = (machine, env, [fn]) => {
  const yielded = env.step?.resumed ?? null
  if (yielded === null) throw new Fatal('nothing to resume')
  return machine.apply(closureOf(fn), [{ v: 'object', fields: yielded.data }])
}

const callWith =
  (functionAt: number, argAt: number): Code =>
  (machine: Machine, _: Env, args) =>
    machine.apply(closureOf(args[functionAt]) as Closure, [args[argAt]])

export const LISTS: readonly (readonly [string, Code])[] = [
  ['take', take],
  ['drop', drop],
  ['length', length],
  ['reverse', reverse],
  ['sort', sort],
  ['sort-object', sortObjects],
  ['enumerate', ({ state }, _, [a, b]) => enumerate(state, intOf(a), intOf(b), intOf(a) > intOf(b) ? -1n : 1n)],
  ['enumerate-step', ({ state }, _, [a, b, c]) => enumerate(state, intOf(a), intOf(b), intOf(c))],
  [
    'make-list',
    ({ state }, _, [count, value]) => {
      const n = Number(intOf(count))
      const item = asValue(value)
      state.charge(n * sizeOfValue(item))
      return list(Array.from({ length: n }, () => item))
    },
  ],
  ['distinct', distinct],
  ['map', map],
  ['filter', filter],
  ['fold', fold],
  ['zip', zip],
  ['and?', connective(false)],
  ['or?', connective(true)],
  ['not?', (machine, _, [fn, value]) => bool(!machine.bool(machine.apply(closureOf(fn), [value])))],
  [
    'compose',
    (machine, _, [first, second, value]) => {
      const middle = machine.apply(closureOf(first), [value])
      return machine.apply(closureOf(second), [middle])
    },
  ],
  ['bind', callWith(1, 0)],
  ['cond', (machine, _, [fn]) => machine.apply(closureOf(fn), [])],
  ['resume', resume],
]
