/** Natives that apply functions to values. */
import { PRICE } from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import type { Value } from '../../values/value.ts'

/** Adds item by item: space for all of them would be made before the first is paid. */
function map(args: Arguments): readonly Value[] {
  const [fn, list] = [args.fn(0), args.list(1)]
  const mapped: Value[] = []
  for (const item of list) {
    args.charge(PRICE.item)
    mapped.push(args.apply(fn, [item]))
  }
  return mapped
}

function filter(args: Arguments): readonly Value[] {
  const [fn, list] = [args.fn(0), args.list(1)]
  return list.filter((item) => {
    args.charge(PRICE.item)
    return args.test(fn, [item])
  })
}

function fold(args: Arguments): Value {
  const [fn, first, list] = [args.fn(0), args.value(1), args.list(2)]
  let result = first
  for (const item of list) {
    args.charge(PRICE.item)
    result = args.apply(fn, [result, item])
  }
  return result
}

/** The result is as long as the shorter list. Adds item by item, as `map` does. */
function zip(args: Arguments): readonly Value[] {
  const [fn, left, right] = [args.fn(0), args.list(1), args.list(2)]
  const length = Math.min(left.length, right.length)
  const zipped: Value[] = []
  for (let i = 0; i < length; i++) {
    args.charge(PRICE.item)
    zipped.push(args.apply(fn, [left[i], right[i]]))
  }
  return zipped
}

export const FUNCTIONS: readonly Native[] = [
  native('map', 2, 2, map),
  native('filter', 2, 2, filter),
  native('fold', 3, 3, fold),
  native('zip', 3, 3, zip),
  native('compose', 3, 3, (args) => {
    const [first, second] = [args.fn(0), args.fn(1)]
    return args.run.apply(second, [args.run.apply(first, [args.all[2]], args.place)], args.place)
  }),
  native('identity', 1, 1, (args) => args.value(0)),
]
