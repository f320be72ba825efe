/**
 * Asks for what the JSON of nodes leaves out: zeros at the end of decimals (`1.50`), and the milliseconds of times. The
 * language can print both. Values within lists and objects need a second question (nested-values.ts).
 */
import type { ExactJson } from '../base/json.ts'
import { ContractError } from '../contracts/errors.ts'
import type { Form } from '../contracts/syntax/form.ts'
import { read } from '../contracts/syntax/reader.ts'
import { Decimal } from '../contracts/values/decimal.ts'
import { ISO_MICROS, parseTime } from '../contracts/values/time-text.ts'
import { Time, type Value } from '../contracts/values/value.ts'
import { literal } from './question.ts'

/** Types of fields that may hold a decimal or a time. */
const INEXACT: ReadonlySet<string> = new Set(['decimal', 'time', 'any'])
const SECOND = 1_000_000n

/**
 * Code that prints the value of `v`: a time to the microsecond, a decimal with its places. Whole decimals show no places,
 * so the decimal plus a half follows. The text of all other values is empty.
 */
export const PRINT = `(if (= (typeof v) "decimal") (format "{} {}" [v (+ v 0.5)])
 (if (= (typeof v) "time") (format-time ${literal(ISO_MICROS)} v) ""))`

/** Code of a list with the values of these expressions, and their printed forms. */
export function exactly(expressions: readonly string[]): string {
  return `(let ((all [${expressions.join(' ')}])) [all (map (lambda (v) ${PRINT}) all)])`
}

/** Code of the printed forms of these fields of the row `r`. */
export function printedFields(fields: readonly string[]): string {
  if (fields.length === 0) return '[]'
  return `(map (lambda (f) (if (contains f r) (let ((v (at f r))) ${PRINT}) "")) [${fields.map(literal).join(' ')}])`
}

/** Names of the fields in the schemas of a module that may hold a decimal or a time. */
export function inexactFields(code: string): string[] {
  const fields = schemasIn(code).flatMap((items) => {
    return items.flatMap((item) => {
      return item.form === 'atom' && INEXACT.has(item.type?.type ?? 'any') ? [item.name] : []
    })
  })
  return [...new Set(fields)]
}

/** The fields and texts of all schemas. */
function schemasIn(code: string): (readonly Form[])[] {
  let forms: readonly Form[]
  try {
    forms = read(code)
  } catch (error) {
    if (error instanceof ContractError) return []
    throw error
  }
  return forms
    .flatMap((form) => (form.form === 'call' ? form.items : []))
    .flatMap((form) => {
      if (form.form !== 'call') return []
      const [head, , ...items] = form.items
      return head?.form === 'atom' && head.name === 'defschema' ? [items] : []
    })
}

/** The row with the printed forms of some of its fields. */
export function exactRow(row: Value, fields: readonly string[], printed: ExactJson): Value {
  if (!(row instanceof Map) || !Array.isArray(printed)) return row
  const texts = new Map(fields.map((field, i) => [field, (printed as readonly ExactJson[])[i]]))
  return new Map(
    [...(row as ReadonlyMap<string, Value>)].map(([field, value]) => {
      return [field, exactValue(value, texts.get(field) ?? '')]
    }),
  )
}

/** A value as its printed form shows it. The value stays as it is if that form does not fit. */
export function exactValue(value: Value, printed: ExactJson): Value {
  if (typeof printed !== 'string' || printed === '') return value
  if (value instanceof Time) {
    const time = parseTime(ISO_MICROS, printed)
    return time !== null && time.micros / SECOND === value.micros / SECOND ? time : value
  }
  if (!(value instanceof Decimal)) return value
  const [plain, plusHalf = ''] = printed.split(' ')
  const places = placesOf(value.isWhole() ? plusHalf : plain)
  return places > value.normalise().places ? value.round(places) : value
}

function placesOf(text: string): number {
  return /^-?\d+\.(\d{1,255})$/.exec(text)?.[1].length ?? 0
}
