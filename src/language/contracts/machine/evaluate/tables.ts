/** Table access: permissions, costs and validation of rows. */
import { evalError, type TextPlace, txFailure } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import { rowSize } from '../../values/charged-size.ts'
import { showValue } from '../../values/print.ts'
import { type ObjectValue, type RowSchema, TableRef, type Value } from '../../values/value.ts'
import { type Run, TableDefinition } from '../ast.ts'
import { ofNative, ofRead, ofWrite } from '../gas/cost-names.ts'
import { PRICE } from '../gas/prices.ts'
import { checkGasForSize } from '../native.ts'
import { databaseError, requireRead, requireWrite } from '../rights/access.ts'
import { requireInside } from '../rights/capabilities.ts'
import { type Domain, domainOfRows } from '../state.ts'
import type { Term } from '../term.ts'
import { runAsStep } from '../tracer.ts'
import { isOfType, typeSource } from '../types.ts'

const SHOWN_KEY_CHARACTERS = 10

export type WriteKind = 'insert' | 'update' | 'write'

/** Table name in messages: the qualified name of the module, an underscore, the name. */
function shownName(table: TableRef): string {
  return `${table.module}_${table.name}`
}

/** @throws EvalError if the table was not created */
function checkCreated(run: Run, table: TableRef): void {
  if (run.transaction.state.get('tables', table.qualified) !== undefined) return
  const name = shownName(table)
  throw databaseError(`Table ${name} not found`, `Table access failed because table ${name} was not found.`)
}

/** @throws EvalError if the term is not a table */
export function tableOf(term: Term): TableRef {
  if (term instanceof TableRef) return term
  throw evalError('Expected a table')
}

/** Domain of the rows of a table in the state. */
function rowsOf(table: TableRef): Domain {
  return table instanceof TableDefinition ? table.rows : domainOfRows(table)
}

/** @throws EvalError without admin rights, in read-only code, and if the table exists */
export function createTable(run: Run, term: Term): void {
  const table = tableOf(term)
  requireAccess(run, table, 'write')
  requireWrite(run)
  const { qualified } = table
  if (run.transaction.state.get('tables', qualified) !== undefined) {
    const name = shownName(table)
    throw databaseError(
      `Table ${name} already exists`,
      `Creation of user table ${name} failed because the table already exists.`,
    )
  }
  run.transaction.state.put('tables', qualified, true)
}

/**
 * Allows access to the module's own code. Other code needs admin rights, except for reads in a `local` call. Code of an
 * earlier version of the module needs the blessing of the current one.
 */
function requireAccess(run: Run, table: TableRef, kind: 'read' | 'write'): void {
  if (kind === 'read' && run.block.rules.isLocal) return
  requireInside(run, table.module)
  checkVersion(run, table)
}

function checkVersion(run: Run, { module, hash }: TableRef): void {
  const now = run.findModule(module)
  if (now === undefined || now.hash === hash || now.blessed.has(hash)) return
  throw failure('NOT_BLESSED', { module, hash })
}

/**
 * Domain of the rows of a table whose keys the running code lists.
 * @throws EvalError if the code may not list them, or the table was not created
 */
export function listedDomain(run: Run, term: Term): Domain {
  const table = tableOf(term)
  requireAccess(run, table, 'read')
  // Only code that may write may list keys.
  requireWrite(run)
  checkCreated(run, table)
  return rowsOf(table)
}

/**
 * @returns undefined if there is no such row
 * @throws EvalError if the code may not read the table, or the table was not created
 */
export function findRow(run: Run, term: Term, key: string): ObjectValue | undefined {
  const table = tableOf(term)
  requireAccess(run, table, 'read')
  requireRead(run)
  checkCreated(run, table)
  const row = run.transaction.state.get<ObjectValue>(rowsOf(table), key)
  if (row === undefined) return undefined
  const bytes = checkGasForSize(run, rowSize(row))
  run.charge(PRICE.readByte * bytes, ofRead(bytes))
  return row
}

/** How code reads a row: its form, and the table and key as given. */
interface RowAccess {
  readonly by: string
  readonly args: readonly [table: Term, key: Term]
  readonly place: TextPlace
}

/** Reads a row for a form, and charges its flat price. */
export function readWithCharge<T extends ReadonlyMap<string, Term>>(run: Run, access: RowAccess, read: () => T): T {
  const { tracer } = run
  if (tracer === null) {
    run.charge(PRICE.read, ofNative(access.by, 0), access.place)
    return read()
  }
  const { by, args, place } = access
  const [table, key] = args
  const name = table instanceof TableRef ? `${table.module}.${table.name}` : ''
  const step = { kind: 'read', name, args: [key], by, module: run.module, place } as const
  return runAsStep(tracer, step, () => {
    run.charge(PRICE.read, ofNative(by, 0), place)
    return read()
  })
}

/** @throws TxFailure if there is no such row, and EvalError for the same as `findRow` */
export function readRow(run: Run, term: Term, key: string): ObjectValue {
  const row = findRow(run, term, key)
  if (row !== undefined) return row
  const start = `No value found in table ${shownName(tableOf(term))} for key: `
  throw txFailure(start + key, null, start + shortKey(key))
}

function shortKey(key: string): string {
  return key.length > SHOWN_KEY_CHARACTERS ? `${key.slice(0, SHOWN_KEY_CHARACTERS)}...` : key
}

/** @throws EvalError if the code may not write, the row does not fit, or `kind` does not allow it */
export function writeRow(run: Run, term: Term, key: string, row: ObjectValue, kind: WriteKind): void {
  const table = tableOf(term)
  requireAccess(run, table, 'write')
  checkRow(run, table, row, kind)
  const bytes = checkGasForSize(run, rowSize(row))
  run.charge(PRICE.writeByte * bytes, ofWrite(bytes))
  requireWrite(run)
  checkCreated(run, table)
  const domain = rowsOf(table)
  const before = run.transaction.state.get<ObjectValue>(domain, key)
  const name = shownName(table)
  if (kind === 'insert' && before !== undefined) {
    throw databaseError(
      `Value already found while in Insert mode in table ${name} at key "${key}"`,
      `Insert failed because the value already exists in the table: ${name} at key "${shortKey(key)}"`,
    )
  }
  if (kind === 'update' && before === undefined) {
    throw databaseError(
      `No row found during update in table ${name} at key ${key}`,
      `Update failed because no row was found in table: ${name} at key "${shortKey(key)}"`,
    )
  }
  run.transaction.state.put(domain, key, before === undefined ? row : mergeFields(before, row))
}

/** The row with the fields of an update. */
function mergeFields(before: ObjectValue, row: ObjectValue): ObjectValue {
  const after = new Map(before)
  for (const [name, value] of row) after.set(name, value)
  return after
}

/** Requires exactly the fields of the schema; an update may have a subset. */
function checkRow(run: Run, { schema, module }: TableRef, row: ObjectValue, kind: WriteKind): void {
  if (schema === null) return
  const pay = (parts: number) => run.charge(PRICE.typeCheck * parts)
  const isPart = kind === 'update'
  if (isPart) pay(row.size)
  if (isPart || row.size === schema.fields.size) {
    pay(row.size)
    if (fitsAll(schema, row, pay)) return
  }
  const fields = [...schema.fields].map(([name, type]) => `"${name}": ${type === null ? 'any' : typeSource(type)}`)
  throw failure('OTHER_FIELDS', {
    schema: `${module}.${schema.name}`,
    fields: () => `{${fields.join(',')}}`,
    row: () => showValue(row),
  })
}

function fitsAll(schema: RowSchema, row: ObjectValue, pay: (parts: number) => void): boolean {
  for (const [name, value] of row) if (!fitsField(schema, name, value, pay)) return false
  return true
}

function fitsField({ fields }: RowSchema, name: string, value: Value, pay: (parts: number) => void): boolean {
  const type = fields.get(name)
  return type !== undefined && (type === null || isOfType(type, value, pay))
}
