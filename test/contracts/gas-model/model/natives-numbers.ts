/** Natives of numbers, comparisons and times (TableGasModel.hs, GIntegerOpCost, GComparison, GTranscendental; CoreBuiltin.hs). */

import { isClosure, type Result } from './env.ts'
import type { Machine } from './machine.ts'
import { as, type Code, intOf, is, lengthOf, textOf } from './native-args.ts'
import { bitsOf } from './sizes.ts'
import { Fatal, type State } from './state.ts'
import { bool, type Dec, dec, type Guard, int, list, objectOf, str, type Value } from './terms.ts'
import {
  addDecimals,
  compareDecimals,
  divideDecimals,
  divideFloor,
  multiplyDecimals,
  roundDecimal,
  timeText,
} from './values.ts'

const MAX_BITS = 664
const larger = (a: bigint, b: bigint): number => bitsOf(a > b ? a : b)
const beyond = (bits: number): number => Math.floor((bits * bits) / 6400)

const sumCost = (a: bigint, b: bigint): number => (larger(a, b) <= MAX_BITS ? 30 : beyond(larger(a, b)))
const productCost = (a: bigint, b: bigint): number => {
  const bits = larger(a, b)
  return bits <= MAX_BITS ? Math.floor((3 * bits) / 20) + 26 : beyond(bits)
}
const powerCost = (base: bigint, power: bigint, alpha = 2): number => {
  const length = bitsOf(power)
  return (2 * length - 2) * Math.ceil((bitsOf(base) * Math.ceil(2 ** ((length - 1) / 2))) ** alpha)
}
const logarithmCost = (n: bigint): number => {
  const bits = bitsOf(n)
  return bits * Math.ceil(Math.log(bits) ** 2) * Math.ceil(Math.log(Math.log(bits)))
}

/** Bits of an integer; those of a machine word count as 64. */
const wordBits = (n: bigint): number => (n >= -(2n ** 63n) && n < 2n ** 63n ? 64 : bitsOf(n))

const asDec = (value: Result): Dec => (is(value, 'integer') ? { m: value.n, p: 0 } : as(value, 'decimal').d)
const isNumber = (value: Result): boolean => is(value, 'integer') || is(value, 'decimal')

function binary(
  cost: (a: bigint, b: bigint) => number,
  ints: (a: bigint, b: bigint) => bigint,
  decs: (a: Dec, b: Dec) => Dec,
): Code {
  return ({ state }, _, [a, b]) => {
    if (is(a, 'integer') && is(b, 'integer')) {
      state.charge(cost(a.n, b.n))
      return int(ints(a.n, b.n))
    }
    const [x, y] = [asDec(a), asDec(b)]
    state.charge(cost(x.m, y.m))
    return dec(decs(x, y))
  }
}

const negated = ({ m, p }: Dec): Dec => ({ m: -m, p })

const add: Code = (machine, env, [a, b]) => {
  const { state } = machine
  if (is(a, 'string') && is(b, 'string')) {
    state.charge((lengthOf(a.s) + lengthOf(b.s)) * 100)
    return str(a.s + b.s)
  }
  if (is(a, 'list') && is(b, 'list')) {
    state.charge((a.items.length + b.items.length) * 100)
    return list([...a.items, ...b.items])
  }
  if (is(a, 'object') && is(b, 'object')) {
    state.charge((a.fields.size + b.fields.size) * 100)
    return objectOf([...b.fields, ...a.fields])
  }
  return binary(sumCost, (x, y) => x + y, addDecimals)(machine, env, [a, b])
}

const divide: Code = (machine, env, [a, b]) => {
  if (isNumber(b) && asDec(b).m === 0n) throw new Fatal('division by zero')
  return binary(productCost, divideFloor, divideDecimals)(machine, env, [a, b])
}

const power: Code = ({ state }, _, [a, b]) => {
  if (!is(a, 'integer') || !is(b, 'integer')) throw new Error('the model has no powers of decimals')
  state.charge(powerCost(a.n, b.n))
  if (b.n < 0n) throw new Fatal('negative exponent')
  return int(a.n ** b.n)
}

const unaryNumber =
  (ints: (n: bigint) => bigint, decs: (d: Dec) => Dec): Code =>
  (_, __, [a]) =>
    is(a, 'integer') ? int(ints(a.n)) : dec(decs(as(a, 'decimal').d))

const bits =
  (run: (a: bigint, b: bigint) => bigint): Code =>
  (_, __, [a, b]) =>
    int(run(intOf(a), intOf(b)))

const shift: Code = ({ state }, _, [a, b]) => {
  const [n, by] = [intOf(a), intOf(b)]
  if (by > 0n) state.charge(powerCost(2n, by) + Math.floor((3 * Math.max(bitsOf(n), Number(by))) / 20) + 26)
  return int(by >= 0n ? n << by : n >> -by)
}

const rounding =
  (how: 'round' | 'floor' | 'ceiling'): Code =>
  (_, __, [a]) =>
    int(roundDecimal(how, as(a, 'decimal').d, 0).m)

const roundingTo =
  (how: 'round' | 'floor' | 'ceiling'): Code =>
  (_, __, [a, places]) =>
    dec(roundDecimal(how, as(a, 'decimal').d, Math.max(0, Number(intOf(places)))))

/** The model computes prices only; programs use no more than the type of the result. */
const transcendental =
  (cost: (n: bigint) => number): Code =>
  ({ state }, _, [a]) => {
    const n = is(a, 'integer') ? a.n : as(a, 'decimal').d.m
    state.charge(cost(n))
    return dec({ m: 1n, p: 0 })
  }

const sqrtCost = (n: bigint): number => {
  const size = bitsOf(n)
  return n > 0n ? size * Math.ceil(Math.log(size)) * Math.ceil(Math.log(Math.log(size))) : 0
}

const logarithm: Code = ({ state }, _, [a, b]) => {
  state.charge(logarithmCost(intOf(a)) + logarithmCost(intOf(b)))
  return int(1)
}

/** Order of literals, with its price (litCmpGassed). */
function compareLiterals(state: State, a: Value, b: Value): number | null {
  if (a.v === 'integer' && b.v === 'integer') {
    state.charge(Math.max(wordBits(a.n), wordBits(b.n)) + 100)
    return a.n < b.n ? -1 : a.n > b.n ? 1 : 0
  }
  if (a.v === 'bool' && b.v === 'bool') return Number(a.b) - Number(b.b)
  if (a.v === 'decimal' && b.v === 'decimal') {
    state.charge(productCost(a.d.m, b.d.m) + Math.max(wordBits(a.d.m), wordBits(b.d.m)) + 100)
    return compareDecimals(a.d, b.d)
  }
  if (a.v === 'string' && b.v === 'string') {
    state.charge(lengthOf(a.s) + 100)
    return Buffer.compare(Buffer.from(a.s), Buffer.from(b.s))
  }
  return a.v === 'unit' && b.v === 'unit' ? 0 : null
}

/** Equality, with its price (valEqGassed). */
export function equals(state: State, a: Value, b: Value): boolean {
  const all = (xs: readonly Value[], ys: readonly Value[]): boolean => {
    if (xs.length !== ys.length) return false
    state.charge(xs.length * 100)
    return xs.every((x, i) => equals(state, x, ys[i]))
  }
  if (a.v === 'list' && b.v === 'list') return all(a.items, b.items)
  if (a.v === 'object' && b.v === 'object') {
    if (a.fields.size !== b.fields.size) return false
    state.charge(a.fields.size * 100)
    const others = [...b.fields]
    if (![...a.fields.keys()].every((field, i) => field === others[i][0])) return false
    return [...a.fields.values()].every((x, i) => equals(state, x, others[i][1]))
  }
  if (a.v === 'guard' && b.v === 'guard') return sameGuards(a.g, b.g, all)
  if (a.v === 'modref' && b.v === 'modref') return a.module === b.module
  if (a.v === 'token' && b.v === 'token') {
    const isSame = a.fqn.m === b.fqn.m && a.fqn.n === b.fqn.n && a.fqn.h === b.fqn.h
    return isSame && all(a.args, b.args)
  }
  if (a.v === 'time' && b.v === 'time') return a.micros === b.micros
  return compareLiterals(state, a, b) === 0
}

function sameGuards(a: Guard, b: Guard, all: (xs: readonly Value[], ys: readonly Value[]) => boolean): boolean {
  if (a.g === 'user' && b.g === 'user') return a.fun === b.fun && all(a.args, b.args)
  if (a.g === 'capability' && b.g === 'capability') {
    return a.name === b.name && a.pact === b.pact && all(a.args, b.args)
  }
  if (a.g === 'keyset' && b.g === 'keyset') {
    return a.pred === b.pred && [...a.keys].sort().join() === [...b.keys].sort().join()
  }
  if (a.g === 'keyset-ref' && b.g === 'keyset-ref') return a.name === b.name
  if (a.g === 'module' && b.g === 'module') return a.module === b.module && a.name === b.name
  return a.g === 'pact' && b.g === 'pact' && a.pact === b.pact && a.name === b.name
}

const comparison =
  (test: (order: number) => boolean): Code =>
  ({ state }, _, [a, b]) => {
    if (is(a, 'time') && is(b, 'time')) return bool(test(a.micros < b.micros ? -1 : a.micros > b.micros ? 1 : 0))
    if (isClosure(a) || isClosure(b)) throw new Fatal('expected literals')
    const order = compareLiterals(state, a, b)
    if (order === null) throw new Fatal('expected literals of one type')
    return bool(test(order))
  }

const equality =
  (isWanted: boolean): Code =>
  ({ state }, _, [a, b]) => {
    if (isClosure(a) || isClosure(b)) throw new Fatal('expected values')
    return bool(equals(state, a, b) === isWanted)
  }

const SECOND = 1_000_000n

const duration =
  (seconds: bigint): Code =>
  ({ state }, _, [a]) => {
    const d = asDec(a)
    state.charge(productCost(d.m, seconds))
    return dec(multiplyDecimals(d, { m: seconds, p: 0 }))
  }

function readTime(text: string): bigint {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/.exec(text)
  if (match === null) throw new Fatal('time')
  return BigInt(Date.parse(text)) * 1000n
}

/** Formats of the generator: a whole time, or a date. */
function readByFormat(format: string, text: string): bigint {
  return readTime(format === '%F' ? `${text}T00:00:00Z` : text)
}

const addTime: Code = (_, __, [time, seconds]) => {
  const { micros } = as(time, 'time')
  const { m, p } = asDec(seconds)
  return { v: 'time', micros: micros + divideFloor(m * SECOND, 10n ** BigInt(p)) }
}

function timePair(_: Machine, [a, b]: readonly Result[]): Value {
  const micros = as(a, 'time').micros - as(b, 'time').micros
  return dec(divideDecimals({ m: micros, p: 0 }, { m: SECOND, p: 0 }))
}

export const NUMBERS: readonly (readonly [string, Code])[] = [
  ['+', add],
  [
    '-',
    binary(
      sumCost,
      (a, b) => a - b,
      (a, b) => addDecimals(a, negated(b)),
    ),
  ],
  ['*', binary(productCost, (a, b) => a * b, multiplyDecimals)],
  ['/', divide],
  ['^', power],
  ['negate', unaryNumber((n) => -n, negated)],
  [
    'abs',
    unaryNumber(
      (n) => (n < 0n ? -n : n),
      ({ m, p }) => ({ m: m < 0n ? -m : m, p }),
    ),
  ],
  ['mod', bits((a, b) => a - b * divideFloor(a, b))],
  ['&', bits((a, b) => a & b)],
  ['|', bits((a, b) => a | b)],
  ['xor', bits((a, b) => a ^ b)],
  ['~', (_, __, [a]) => int(~intOf(a))],
  ['shift', shift],
  ['round', rounding('round')],
  ['floor', rounding('floor')],
  ['ceiling', rounding('ceiling')],
  ['round-prec', roundingTo('round')],
  ['floor-prec', roundingTo('floor')],
  ['ceiling-prec', roundingTo('ceiling')],
  ['dec', (_, __, [a]) => dec({ m: intOf(a), p: 0 })],
  ['exp', transcendental((n) => powerCost(3n, n, 2.5))],
  ['ln', transcendental(logarithmCost)],
  ['sqrt', transcendental(sqrtCost)],
  ['log', logarithm],
  ['not', (_, __, [a]) => bool(!as(a, 'bool').b)],
  ['=', equality(true)],
  ['!=', equality(false)],
  ['>', comparison((order) => order > 0)],
  ['>=', comparison((order) => order >= 0)],
  ['<', comparison((order) => order < 0)],
  ['<=', comparison((order) => order <= 0)],
  ['time', (_, __, [a]) => ({ v: 'time', micros: readTime(textOf(a)) })],
  [
    'parse-time',
    ({ state }, _, [format, text]) => {
      const [f, t] = [textOf(format), textOf(text)]
      state.charge(Math.floor((f.length * f.length) / 4) + 10 * t.length + 1)
      return { v: 'time', micros: readByFormat(f, t) }
    },
  ],
  [
    'format-time',
    ({ state }, _, [format, time]) => {
      const f = textOf(format)
      state.charge(f.length * 20 + 1)
      const text = timeText(as(time, 'time').micros)
      return str(f === '%F' ? text.slice(0, 10) : text)
    },
  ],
  ['add-time', addTime],
  ['diff-time', (machine, _, args) => timePair(machine, args)],
  ['minutes', duration(60n)],
  ['hours', duration(3600n)],
  ['days', duration(86_400n)],
]
