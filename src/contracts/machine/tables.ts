/** Table access: permissions, costs and validation of rows. */
import { evalError, txFailure } from '../errors.ts'
import { bytesOf } from '../values/bytes.ts'
import type { ObjectValue } from '../values/value.ts'
import { type Run, TableDefinition } from './ast.ts'
import { requireAdmin } from './capabilities.ts'
import { storable, type Term } from './term.ts'
import { isOf } from './types.ts'

/** Milligas per access and per byte read or written; same as on the public network. */
const COSTS = { read: 2500, readByte: 100, write: 25_000, writeByte: 200 }
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
  run.charge(COSTS.read)
  const row = run.transaction.state.get<ObjectValue>(table.rows, key)
  if (row !== undefined) run.charge(COSTS.readByte * bytesOf(row))
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
  run.charge(COSTS.write + COSTS.writeByte * bytesOf(row))
  checkRow(table, row, kind)
  storable(row, 'a row')
  const before = run.transaction.state.get<ObjectValue>(table.rows, key)
  if (kind === 'insert' && before !== undefined) {
    throw evalError(`Error during database operation: Insert: row found for key ${key}`)
  }
  if (kind === 'update' && before === undefined) {
    throw evalError(`Error during database operation: Update: no row found for key ${key}`)
  }
  run.transaction.state.put(table.rows, key, before === undefined ? row : updated(before, row))
}

/** The row with the fields of an update. */
function updated(before: ObjectValue, row: ObjectValue): ObjectValue {
  const after = new Map(before)
  for (const [name, value] of row) after.set(name, value)
  return after
}

/** Requires exactly the fields of the schema; an update may have a subset. */
function checkRow({ schema, module }: TableDefinition, row: ObjectValue, kind: WriteKind): void {
  if (schema === null) return
  const isWhole = kind === 'update' || row.size === schema.fields.size
  for (const [name, value] of row) {
    const type = schema.fields.get(name)
    if (type === undefined || (type !== null && !isOf(type, value, () => undefined)) || !isWhole) {
      throw evalError(`Insert failed because of a schema mismatch with ${module}.${schema.name}`)
    }
  }
  if (!isWhole) throw evalError(`Insert failed because of a schema mismatch with ${module}.${schema.name}`)
}
