/** Fetches rows of tables, with all digits of the decimals and times in them. */
import { type ExactJson, fieldsOf } from '#ground/base/json.ts'
import { splitName } from '../contracts/syntax/names.ts'
import { encodeStoredValue } from '../contracts/values/keep.ts'
import type { Value } from '../contracts/values/value.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import type { EntrySource } from './entries.ts'
import {
  exactRow,
  exactWithin,
  inexactFields,
  joinShapes,
  printCode,
  printedFields,
  shapeWithin,
} from './exact-values.ts'
import { askAll, readForm, stringCode, wrongFormError } from './question.ts'

/** Key, row, and printed forms of some of its fields. */
type PrintedRow = readonly ExactJson[]

/** Rows of a table, and code of a list of keys with what is printed of the row `v`. */
interface FetchedRows {
  readonly table: string
  readonly rows: readonly PrintedRow[]
  readonly printRows: (print: string) => string
}

/** Maximum number of rows fetched with the missing one: guesses must not fill a request. */
const MAX_HINTS = 50
/** Maximum length of the key of such a row: longer texts in code are seldom keys. */
const MAX_HINT = 256
const ABSENT_TABLE = /not found|no such member|has no such|unbound|not exist/i

/**
 * Fetches rows of a table that are not cached: that of the first key, and some of the others.
 * @throws NewcutError if the node does not answer, or returns values of a wrong form
 */
export async function fetchRows(
  source: EntrySource,
  table: string,
  [first, ...others]: readonly string[],
): Promise<void> {
  const { caller, entries } = source
  const cached = entries.rows(table)
  const isNew = (key: string) => key.length <= MAX_HINT && key !== first && !cached.has(key)
  const keys = [first, ...[...new Set(others)].filter(isNew).slice(0, MAX_HINTS)]
  const row = `[k r (if (= (typeof r) "bool") [] ${printedFields(inexactFieldsOf(source, table))})]`
  const mapCode = (body: string, some: readonly string[]) =>
    `(map (lambda (k) ${body}) [${some.map(stringCode).join(' ')}])`
  let rows: readonly PrintedRow[] = []
  await askAll(caller, [
    {
      code: mapCode(`(let ((r (try false (read ${table} k)))) ${row})`, keys),
      take: (value) => {
        if (!Array.isArray(value) || value.length !== keys.length) throw wrongFormError(caller, value)
        rows = keys.map((key, i) => [key, ...(value[i] as PrintedRow).slice(1)])
      },
      onFailure: (message) => putAbsent(source, table, message),
    },
  ])
  const present = rows.flatMap(([key, found]) => (found === false ? [] : [key as string]))
  const printRows = (print: string) => mapCode(`[k (let ((v (read ${table} k))) ${print})]`, present)
  await putRows(source, { table, rows, printRows })
}

/** Fetches all rows of a table, or their number if they are too many. @throws like fetchRows */
export async function fetchTable(source: EntrySource, table: string): Promise<void> {
  const { caller, entries, options } = source
  const foldCode = (row: string, each: string) =>
    `(fold-db ${table} (lambda (k ${row}) true) (lambda (k ${row}) ${each}))`
  const found = foldCode('r', `[k r ${printedFields(inexactFieldsOf(source, table))}]`)
  let rows: readonly PrintedRow[] | null = null
  await askAll(caller, [
    {
      // Gas of listing the keys of a table is flat, so one request counts and lists.
      code: `(let ((n (length (keys ${table})))) (if (> n ${options.tableRows}) [n] [n ${found}]))`,
      take: (value) => {
        const [count, all = null] = Array.isArray(value) ? (value as readonly ExactJson[]) : []
        const { int } = fieldsOf(count)
        if (int === undefined || !(all === null || Array.isArray(all))) throw wrongFormError(caller, value)
        if (all === null) entries.tableKeys.put(table, { tooMany: String(int) })
        else rows = all as readonly PrintedRow[]
      },
      onFailure: (message) => putAbsent(source, table, message),
    },
  ])
  if (rows === null) return
  await putRows(source, { table, rows, printRows: (print) => foldCode('v', `[k ${print}]`) })
  entries.tableKeys.put(table, (rows as readonly PrintedRow[]).map(([key]) => key as string).sort())
}

async function putRows(source: EntrySource, { table, rows, printRows }: FetchedRows): Promise<void> {
  const { caller, entries } = source
  const fields = inexactFieldsOf(source, table)
  const values = rows.map((each): readonly [string, Value | false] => {
    return readForm(caller, each, () => {
      const [key, row = null, texts = null] = each
      return [key as string, row === false ? false : exactRow(valueFromJson(row), fields, texts)]
    })
  })
  const shape = joinShapes(values.map(([, row]) => (row === false ? null : shapeWithin(row, fields))))
  const print = shape === null ? null : printCode(shape)
  const texts = new Map<string, ExactJson>()
  const take = (value: ExactJson) => {
    for (const [key, text] of value as readonly PrintedRow[]) texts.set(key as string, text)
  }
  if (print !== null) await askAll(caller, [{ code: printRows(print), take }])
  for (const [key, row] of values) {
    const exact = row === false || shape === null ? row : exactWithin(row, shape, texts.get(key))
    entries.rows(table).put(key, exact === false ? false : encodeStoredValue(exact))
  }
}

/** Fields of a row whose JSON may lack digits. */
function inexactFieldsOf({ entries }: EntrySource, table: string): string[] {
  const name = splitName(table)
  const module = name === null ? undefined : entries.modules.get(name.module)
  return module === undefined ? [] : inexactFields(module.code)
}

/** Caches that there is no such table. @returns false if the failure has another reason */
function putAbsent({ entries }: EntrySource, table: string, message: string): boolean {
  const isAbsent = ABSENT_TABLE.test(message)
  if (isAbsent) entries.absentTables.put(table, false)
  return isAbsent
}
