/** Natives that apply functions to values. */
import { PRICE } from '../machine/gas-prices.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import type { Value } from '../values/value.ts'

function map(args: Arguments): readonly Value[] {
  const [fn, list] = [args.fn(0), args.list(1)]
  return list.map((item) => {
    args.charge(PRICE.item)
    return args.apply(fn, [item])
  })
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

/** The result is as long as the shorter list. */
function zip(args: Arguments): readonly Value[] {
  const [fn, left, right] = [args.fn(0), args.list(1), args.list(2)]
  return left.slice(0, right.length).map((item, i) => {
    args.charge(PRICE.item)
    return args.apply(fn, [item, right[i]])
  })
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
