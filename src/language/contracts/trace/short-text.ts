/** Values in source form, cut to a length. The time is bounded by the length, whatever the size of the value. */
import { Callable, type Term } from '../machine/term.ts'
import { compareText } from '../values/compare.ts'
import { showValue } from '../values/print.ts'
import { sizeOf } from '../values/size.ts'
import type { Value } from '../values/value.ts'

/** Maximum characters of a value in a trace. */
export const MAX_VALUE_CHARACTERS = 256
/** Above this weight, only the parts that fit are printed. */
const SMALL_WEIGHT = 4096
/** Maximum fields that are sorted, and levels that are entered: they bound the time of a large value. */
const MAX_FIELDS = 64
const MAX_LEVELS = 8

/** Text of a term, at most `limit` characters. A cut text ends with an ellipsis. */
export function shortText(term: Term, limit = MAX_VALUE_CHARACTERS): string {
  if (term instanceof Callable) return `(function ${term.name})`
  return truncate(sizeOf(term).weight <= SMALL_WEIGHT ? showValue(term) : showPart(term, limit, 0), limit)
}

export function truncate(text: string, limit = MAX_VALUE_CHARACTERS): string {
  if (text.length <= limit) return text
  const end = limit - 1
  // Never half a character.
  const isPair = (text.charCodeAt(end) & 0xfc00) === 0xdc00
  return `${text.slice(0, isPair ? end - 1 : end)}…`
}

/** The beginning of a large value, with at least `limit` characters. */
function showPart(value: Value, limit: number, level: number): string {
  if (typeof value === 'string') return `"${value.slice(0, limit)}${value.length > limit ? '…' : ''}"`
  if (typeof value === 'bigint') return sizeOf(value).weight > SMALL_WEIGHT ? 'a large integer' : value.toString()
  if (level > MAX_LEVELS) return '…'
  if (Array.isArray(value)) {
    return `[${joinWithin(value as readonly Value[], limit, ', ', (item, room) => showPart(item, room, level + 1))}]`
  }
  if (value instanceof Map) {
    const fields = [...firstOf(value as ReadonlyMap<string, Value>, MAX_FIELDS)]
    fields.sort(([one], [other]) => compareText(one, other))
    const shown = joinWithin(fields, limit, ',', ([name, item], room) => {
      return `"${name.slice(0, room)}": ${showPart(item, room, level + 1)}`
    })
    return `{${shown}}`
  }
  return sizeOf(value).weight <= SMALL_WEIGHT ? showValue(value) : 'a large guard'
}

function joinWithin<T>(
  items: readonly T[],
  limit: number,
  between: string,
  show: (item: T, room: number) => string,
): string {
  let text = ''
  for (const item of items) {
    if (text.length > limit) return `${text}…`
    text += `${text === '' ? '' : between}${show(item, limit - text.length)}`
  }
  return text
}

function* firstOf<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count
  for (const item of items) {
    if (left-- === 0) return
    yield item
  }
}
