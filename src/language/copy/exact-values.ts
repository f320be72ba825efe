/**
 * Asks for what the JSON of nodes leaves out: zeros at the end of decimals (`1.50`), and the milliseconds of times. The
 * language can print both.
 *
 * Values within lists and objects need a second question, because the language cannot walk through any value. A fetched
 * value shows its shape, and code for that shape prints each decimal and time in it.
 */
import type { ExactJson } from '#ground/base/json.ts'
import { ContractError } from '../contracts/errors.ts'
import type { Form } from '../contracts/syntax/form.ts'
import { read } from '../contracts/syntax/reader.ts'
import { Decimal } from '../contracts/values/decimal.ts'
import { ISO_MICROS, parseTime } from '../contracts/values/time-text.ts'
import { Time, type Value } from '../contracts/values/value.ts'
import { stringCode } from './question.ts'

/** Types of fields that may hold a decimal or a time. */
const INEXACT: ReadonlySet<string> = new Set(['decimal', 'time', 'any'])
const SECOND = 1_000_000n

/**
 * Code that prints the value of `v`: a time to the microsecond, a decimal with its places. Whole decimals show no places,
 * so the decimal plus a half follows. The text of all other values is empty.
 */
const PRINT = `(if (= (typeof v) "decimal") (format "{} {}" [v (+ v 0.5)])
 (if (= (typeof v) "time") (format-time ${stringCode(ISO_MICROS)} v) ""))`

/** Code of a list with the values of these expressions, and their printed forms. */
export function exactly(expressions: readonly string[]): string {
  return `(let ((all [${expressions.join(' ')}])) [all (map (lambda (v) ${PRINT}) all)])`
}

/** Code of the printed forms of these fields of the row `r`. */
export function printedFields(fields: readonly string[]): string {
  if (fields.length === 0) return '[]'
  return `(map (lambda (f) (if (contains f r) (let ((v (at f r))) ${PRINT}) "")) [${fields.map(stringCode).join(' ')}])`
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

/** Where values hold decimals or times: here, in the items of a list, or in fields of an object. */
export interface InexactShape {
  readonly isLeaf: boolean
  readonly items: InexactShape | null
  readonly fields: ReadonlyMap<string, InexactShape>
}

const NO_FIELDS: ReadonlyMap<string, InexactShape> = new Map()
const LEAF: InexactShape = { isLeaf: true, items: null, fields: NO_FIELDS }
/** Types of lists are `list`, or in other releases `[decimal]`. */
const IS_LIST = '(contains (take 1 (typeof v)) ["l" "["])'
/** Maximum nesting: newcut does not ask for digits below. */
const MAX_DEPTH = 32
/** Maximum length of the code for a shape: only objects with thousands of different fields need more. */
const MAX_CODE = 200_000

/** The shape of a value. @returns null if it holds no decimal and no time */
export function shapeOf(value: Value, depth = 0): InexactShape | null {
  if (value instanceof Decimal || value instanceof Time) return LEAF
  if (depth > MAX_DEPTH) return null
  if (Array.isArray(value)) {
    const items = joinShapes((value as readonly Value[]).map((item) => shapeOf(item, depth + 1)))
    return items === null ? null : { isLeaf: false, items, fields: NO_FIELDS }
  }
  if (!(value instanceof Map)) return null
  const fields = [...(value as ReadonlyMap<string, Value>)].flatMap(([name, field]) => {
    const shape = shapeOf(field, depth + 1)
    return shape === null ? [] : [[name, shape] as const]
  })
  return fields.length === 0 ? null : { isLeaf: false, items: null, fields: new Map(fields) }
}

/** The shape of what a row still lacks. @param exact fields whose decimals and times are exact if they are the value */
export function shapeWithin(row: Value, exact: readonly string[]): InexactShape | null {
  const all = shapeOf(row)
  if (all === null) return null
  const fields = [...all.fields].flatMap(([name, shape]) => {
    const rest = exact.includes(name) ? { ...shape, isLeaf: false } : shape
    return rest.isLeaf || rest.items !== null || rest.fields.size > 0 ? [[name, rest] as const] : []
  })
  return fields.length === 0 ? null : { ...all, fields: new Map(fields) }
}

/** One shape that covers all of these. @returns null if there is none */
export function joinShapes(shapes: readonly (InexactShape | null)[]): InexactShape | null {
  return shapes.reduce(joinTwo, null)
}

function joinTwo(a: InexactShape | null, b: InexactShape | null): InexactShape | null {
  if (a === null || a === b) return b
  if (b === null) return a
  const names = new Set([...a.fields.keys(), ...b.fields.keys()])
  const fields = [...names].map((name) => {
    return [name, joinShapes([a.fields.get(name) ?? null, b.fields.get(name) ?? null]) ?? LEAF] as const
  })
  return { isLeaf: a.isLeaf || b.isLeaf, items: joinShapes([a.items, b.items]), fields: new Map(fields) }
}

/** Code of the printed forms within `v`: lists for lists and objects. @returns null if it would be too long */
export function printCode(shape: InexactShape): string | null {
  const code = codeOf(shape)
  return code.length > MAX_CODE ? null : code
}

function codeOf({ isLeaf, items, fields }: InexactShape): string {
  let code = isLeaf ? PRINT : '""'
  if (items !== null) code = `(if ${IS_LIST} (map (lambda (v) ${codeOf(items)}) v) ${code})`
  if (fields.size === 0) return code
  const each = [...fields].map(([name, shape]) => {
    const key = stringCode(name)
    return `(if (contains ${key} v) (let ((v (at ${key} v))) ${codeOf(shape)}) "")`
  })
  return `(if (= (typeof v) "object") [${each.join(' ')}] ${code})`
}

/** A value with all digits that its printed forms show. A value that they do not fit stays as it is. */
export function exactWithin(value: Value, shape: InexactShape, printed: ExactJson | undefined): Value {
  if (shape.isLeaf && typeof printed === 'string') return exactValue(value, printed)
  if (!Array.isArray(printed)) return value
  const texts = printed as readonly ExactJson[]
  const { items, fields } = shape
  if (Array.isArray(value) && items !== null) {
    return (value as readonly Value[]).map((item, i) => exactWithin(item, items, texts[i]))
  }
  if (!(value instanceof Map)) return value
  const places = new Map([...fields.keys()].map((name, i) => [name, i]))
  return new Map(
    [...(value as ReadonlyMap<string, Value>)].map(([name, field]) => {
      const within = fields.get(name)
      return [name, within === undefined ? field : exactWithin(field, within, texts[places.get(name) ?? -1])]
    }),
  )
}
