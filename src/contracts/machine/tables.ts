/** Table access: permissions, costs and validation of rows. */
import { evalError, txFailure } from '../errors.ts'
import { rowSize } from '../values/charged-size.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { type Run, type Schema, TableDefinition } from './ast.ts'
import { requireAdmin } from './capabilities.ts'
import { PRICE } from './gas-prices.ts'
import { paidSize } from './native.ts'
import { storable, type Term } from './term.ts'
import { isOf } from './types.ts'

const READ_ONLY = 'Error during database operation: Operation is not allowed in read-only or system-only mode.'
const SHOWN_KEY_CHARACTERS = 10

export type WriteKind = 'insert' | 'update' | 'write'

/** Table name on the wire: an underscore replaces the dot of the namespace. */
function shownName(table: TableDefinition): string {
  return `${table.module.replace('.', '_')}_${table.name}`
}

/** @throws EvalError if the term is not a table or the table was not created */
export function createdTable(run: Run, term: Term): TableDefinition {
  const table = tableOf(term)
  if (run.transaction.state.get('tables', table.qualified) === undefined) {
    throw evalError(`Error during database operation: Table ${shownName(table)} not found`)
  }
  return table
}

export function tableOf(term: Term): TableDefinition {
  if (!(term instanceof TableDefinition)) throw evalError('Expected a table')
  return term
}

export function createTable(run: Run, term: Term): void {
  const table = tableOf(term)
  mayAccess(run, table, true)
  const name = table.qualified
  if (run.transaction.state.get('tables', name) !== undefined) {
    throw evalError(`Error during database operation: Table ${name} already exists`)
  }
  run.transaction.state.put('tables', name, true)
}

/** Allows access to the module's own code. Other code needs admin rights, except for reads in a `local` call. */
export function mayAccess(run: Run, table: TableDefinition, writes: boolean): void {
  if (writes && run.call.readOnly > 0) throw evalError(READ_ONLY)
  checkVersion(run, table)
  if (run.module?.name === table.module) return
  if (!writes && run.block.rules.isLocal) return
  requireAdmin(run, run.findModule(table.module) ?? table.owner)
}

/** Code of an earlier module version may use the tables only if the current version blesses it. */
function checkVersion(run: Run, { module, owner }: TableDefinition): void {
  const now = run.findModule(module)
  if (now === undefined || now === owner || now.hash === owner.hash || now.blessed.has(owner.hash)) return
  throw evalError(`Execution aborted, hash not blessed for module ${module}: ${owner.hash}`)
}

/** @returns undefined if there is no such row */
export function findRow(run: Run, term: Term, key: string): ObjectValue | undefined {
  const table = createdTable(run, term)
  mayAccess(run, table, false)
  const row = run.transaction.state.get<ObjectValue>(table.rows, key)
  if (row !== undefined) run.charge(PRICE.readByte * paidSize(run, rowSize(row)))
  return row
}

export function readRow(run: Run, term: Term, key: string): ObjectValue {
  const row = findRow(run, term, key)
  if (row !== undefined) return row
  const shown = key.length > SHOWN_KEY_CHARACTERS ? `${key.slice(0, SHOWN_KEY_CHARACTERS)}...` : key
  throw txFailure(`No value found in table ${shownName(tableOf(term))} for key: ${shown}`)
}

export function writeRow(run: Run, term: Term, key: string, row: ObjectValue, kind: WriteKind): void {
  const table = createdTable(run, term)
  mayAccess(run, table, true)
  checkRow(run, table, row, kind)
  run.charge(PRICE.writeByte * paidSize(run, rowSize(row)))
  storable(row, 'a row')
  const before = run.transaction.state.get<ObjectValue>(table.rows, key)
  if (kind === 'insert' && before !== undefined) {
    throw evalError(`Error during database operation: Insert: row found for key ${key}`)
  }
  if (kind === 'update' && before === undefined) {
    throw evalError(`Error during database operation: Update: no row found for key ${key}`)
  }
  run.transaction.state.put(table.rows, key, before === undefined ? row : new Map([...before, ...row]))
}

/** Requires exactly the fields of the schema; an update may have a subset. */
function checkRow(run: Run, { schema, module }: TableDefinition, row: ObjectValue, kind: WriteKind): void {
  if (schema === null) return
  const pay = (parts: number) => run.charge(PRICE.typeCheck * parts)
  const isPart = kind === 'update'
  if (isPart) pay(row.size)
  if (isPart || row.size === schema.fields.size) {
    pay(row.size)
    if ([...row].every(([name, value]) => fitsField(schema, name, value, pay))) return
  }
  throw evalError(`Insert failed because of a schema mismatch with ${module}.${schema.name}`)
}

function fitsField({ fields }: Schema, name: string, value: Value, pay: (parts: number) => void): boolean {
  const type = fields.get(name)
  return type !== undefined && (type === null || isOf(type, value, pay))
}
