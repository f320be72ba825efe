/** List natives, and natives that accept lists, strings and objects. */

import {
  ofComparison,
  ofList,
  ofLookup,
  ofObject,
  ofText,
  ofTextOperation,
  shownText,
} from '../../machine/gas/cost-names.ts'
import { COST, sortCost } from '../../machine/gas/costs.ts'
import { countCharacters, lookupPrice, PRICE } from '../../machine/gas/prices.ts'
import { type Arguments, isList, isObject, type Native, native } from '../../machine/native.ts'
import type { Term } from '../../machine/term.ts'
import { integerSize } from '../../values/charged-size.ts'
import { compareInSort, compareValues, isSimple } from '../../values/ordering.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { codePoints, partOfText } from './code-points.ts'
import { distinctValues } from './distinct.ts'
import { objectField, same } from './logic.ts'
import { holdsText } from './search.ts'
import { weigh } from './weight.ts'

function length(args: Arguments): bigint {
  const [a] = args.all
  if (typeof a === 'string') {
    const count = codePoints(a)
    args.charge(1 + Math.floor(count / 100), ofTextOperation('StrOpLength', count))
    args.work(a.length)
    return BigInt(count)
  }
  return BigInt(isList(a) ? a.length : args.object(0).size)
}

/** Index where `take` ends and `drop` begins. Counts from the front if positive, from the end if negative. */
function cut(count: bigint, size: number): number {
  const from = count < 0n ? BigInt(size) + count : count
  return from < 0n ? 0 : from > BigInt(size) ? size : Number(from)
}

function takeOrDrop(name: 'take' | 'drop'): Native {
  return native(name, 2, 2, (args) => {
    const [which, whole] = args.all
    if (isList(which) && isObject(whole)) return fieldsOf(args, args.texts(0), whole, name === 'take')
    const count = args.integer(0)
    // For each sign of the count, one of the two natives returns the front part and the other the back part.
    const isFront = (name === 'take') === count >= 0n
    if (typeof whole === 'string') {
      args.workText(whole.length, COST.readCharacter)
      const size = codePoints(whole)
      if (name === 'take') args.charge(PRICE.character * countTaken(count, size), ofText(countTaken(count, size)))
      const at = cut(count, size)
      return isFront ? partOfText(whole, 0, at) : partOfText(whole, at)
    }
    const list = args.list(1)
    if (name === 'take')
      args.charge(PRICE.item * countTaken(count, list.length), ofList(countTaken(count, list.length)))
    const at = cut(count, list.length)
    args.workList(isFront ? at : list.length - at)
    return isFront ? list.slice(0, at) : list.slice(at)
  })
}

/** Number of parts that `take` pays for. From the end, parts that do not exist cost, too. */
function countTaken(count: bigint, size: number): number {
  return count >= 0n ? Math.min(Number(count), size) : Number(-count)
}

function fieldsOf(args: Arguments, keys: readonly string[], object: ObjectValue, wanted: boolean): ObjectValue {
  if (wanted) args.charge(PRICE.item * keys.length, ofObject(keys.length))
  args.workList(keys.length + object.size, COST.readElement)
  const chosen = new Map<string, Value>(wanted ? [] : object)
  for (const key of keys) {
    const value = wanted ? object.get(key) : undefined
    if (value === undefined) chosen.delete(key)
    else chosen.set(key, value)
  }
  return chosen
}

function reverse(args: Arguments): Term {
  const [a] = args.all
  if (typeof a === 'string') {
    args.charge(PRICE.character * countCharacters(a), ofText(countCharacters(a)))
    args.workText(a.length)
    return [...a].reverse().join('')
  }
  const list = args.list(0)
  args.charge(PRICE.item * list.length, ofList(list.length))
  args.workList(list.length)
  return list.toReversed()
}

/**
 * With one argument, sorts by value. With two, sorts objects by fields: later fields take precedence; missing and
 * compound ones are ignored.
 */
function sort(args: Arguments): Term {
  const list = args.list(args.has(1) ? 1 : 0)
  workSort(args, list)
  if (!args.has(1)) {
    const largest = list.reduce((most: number, item) => Math.max(most, args.size(item)), 0)
    const name = ofComparison('SortComparisons', largest, list.length)
    args.charge(Math.floor((largest * list.length ** 2) / SORT_BYTES), name)
    return list.length < SHORT ? insertionSort(list) : list.toSorted(compareInSort)
  }
  const fields = args.texts(0)
  args.work(fields.length * (1 + sortCost(list.length)))
  for (const item of list) if (!isObject(item)) throw args.typeError()
  if (list.length <= 1) return list
  const byWeight = fields.toReversed()
  return (list as readonly ObjectValue[]).toSorted((a, b) => compareFields(byWeight, a, b))
}

/** Shorter lists are sorted by insertion, as the original does: it matters where `sort` does not order two values. */
const SHORT = 18
/** The network charges the size of the largest item for each of n^2 comparisons, by this many bytes a milligas. */
const SORT_BYTES = 1000

function insertionSort(list: readonly Value[]): Value[] {
  const sorted: Value[] = []
  for (const item of list) {
    let at = sorted.length
    while (at > 0 && compareInSort(item, sorted[at - 1]) < 0) at--
    sorted.splice(at, 0, item)
  }
  return sorted
}

function workSort(args: Arguments, list: readonly Value[]): void {
  const weight = weigh(list, args)
  args.work(sortCost(list.length) + Math.ceil(weight * Math.log2(list.length + 1)) * COST.weight)
}

function compareFields(fields: readonly string[], a: ObjectValue, b: ObjectValue): number {
  for (const field of fields) {
    const [x, y] = [a.get(field), b.get(field)]
    if (x === undefined || y === undefined || !isSimple(x) || !isSimple(y)) continue
    const order = compareValues(x, y)
    if (order !== 0) return order
  }
  return 0
}

/** Work for each item of a list of one value: the memory of the list. */
const SLOT_WORK = 8

function makeList(args: Arguments): Term {
  const [count, value] = [args.integer(0), args.value(1)]
  if (count <= 0n) return []
  weigh(value, args)
  const size = args.size(value)
  args.charge(Number(count) * size, () => `GMakeList ${count} ${size}`)
  args.workList(count, SLOT_WORK)
  return new Array<Value>(Number(count)).fill(value)
}

/** Range that includes both ends if the step size meets the last one. */
function enumerate(args: Arguments): Term {
  const [from, to] = [args.integer(0), args.integer(1)]
  const step = args.has(2) ? args.integer(2) : from > to ? -1n : 1n
  if (from === to) {
    args.charge(integerSize(from), () => `GMakeList 1 ${integerSize(from)}`)
    return [from]
  }
  if (step === 0n) return []
  if (from < to !== step > 0n) {
    const side = from < to ? 'below' : 'above'
    throw args.error(`Enumeration error: enumerate: increment diverges ${side} from interval bounds.`)
  }
  const count = (to - from) / step + 1n
  const [low, high] = [magnitude(from), magnitude(to)]
  const size = integerSize(low > high ? low : high)
  args.charge(Number(count) * size, () => `GMakeList ${count} ${size}`)
  args.workList(count, SLOT_WORK)
  return Array.from({ length: Number(count) }, (_, i) => from + BigInt(i) * step)
}

function magnitude(n: bigint): bigint {
  return n < 0n ? -n : n
}

function contains(args: Arguments): boolean {
  const [, whole] = args.all
  if (typeof whole === 'string') {
    const part = args.text(0)
    const price = PRICE.comparison + countCharacters(part) + countCharacters(whole)
    args.charge(price, () => `GSearch (SubstringSearch ${shownText(part)} ${shownText(whole)})`)
    args.work(part.length + whole.length)
    return holdsText(whole, part)
  }
  if (isList(whole)) {
    const wanted = args.value(0)
    return whole.some((item) => same(args, wanted, item))
  }
  const object = args.object(1)
  args.charge(PRICE.comparison + object.size, () => `GSearch (FieldSearch ${object.size})`)
  return object.has(args.text(0))
}

function at(args: Arguments): Term {
  const [key, whole] = args.all
  if (typeof key === 'bigint' && isList(whole)) {
    if (key >= 0n && key < BigInt(whole.length)) return whole[Number(key)]
    throw args.error(`Array index out of bounds. Length: ${whole.length}, Index: ${key}`)
  }
  const [name, object] = [args.text(0), args.object(1)]
  args.charge(lookupPrice(name, object.size), ofLookup(name, object.size))
  return objectField(args, object, name)
}

/** Milligas for each field of an object and each character of the name that is removed. */
const REMOVE_PRICE = 10

function remove(args: Arguments): Term {
  const [key, object] = [args.text(0), args.object(1)]
  const price = REMOVE_PRICE * object.size * countCharacters(key)
  args.charge(price, () => `GObjOp (ObjOpRemove ${shownText(key)} ${object.size})`)
  args.workList(object.size, COST.readElement)
  const rest = new Map(object)
  rest.delete(key)
  return rest
}

export const LISTS: readonly Native[] = [
  native('length', 1, 1, length),
  takeOrDrop('take'),
  takeOrDrop('drop'),
  native('reverse', 1, 1, reverse),
  native('sort', 1, 2, sort),
  native('make-list', 2, 2, makeList),
  native('enumerate', 2, 3, enumerate),
  native('contains', 2, 2, contains),
  native('distinct', 1, 1, (args) => distinctValues(args, args.list(0))),
  native('at', 2, 2, at),
  native('remove', 2, 2, remove),
]
