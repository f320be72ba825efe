/** Writes rows of a table: a privileged command of the node's owner, checked against the schema of the table. */

import type { RowsRequest } from '#ground/schema/control-commands.ts'
import type { TableDefinition } from '#language/contracts/machine/ast.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { Value } from '#language/contracts/values/value.ts'
import { type BlockMaker, headOf } from '../../control/block-maker.ts'
import { findTable } from '../../ledger/find-table.ts'
import { expectComplete, InvalidRow, readableJson, rowFromJson } from '../../ledger/row-json.ts'
import { RequestRefused } from '../refusal.ts'
import { runPrivileged } from './control-run.ts'

/** Rows that have the same fields, and are written by the same form. */
interface RowGroup {
  /** Only whole rows can be new. */
  readonly form: 'write' | 'update'
  readonly fields: readonly string[]
  readonly rows: { readonly key: string; readonly at: string; readonly row: ReadonlyMap<string, Value> }[]
}

/**
 * Writes rows in a block that it makes. A row that exists keeps the fields that the control request leaves out.
 * @throws RequestRefused for an unknown table, for rows that do not fit it, and if the write fails; and ControlError
 */
export async function writeRows(
  maker: BlockMaker,
  { chain, table: name, rows }: RowsRequest,
  nowMs: number,
  signal: AbortSignal,
): Promise<unknown> {
  headOf(maker.chains.cut, chain)
  const { ledger } = maker.coordinator
  const { table, groups } = await ledger.read(chain, (state) => {
    return refusing(() => {
      const found = findTable(state, name, '/table')
      return { table: found, groups: groupsOf(state, found, rows) }
    })
  })
  const { code, data } = refusing(() => programOf(name, groups))
  const ran = await runPrivileged(maker, { chain, code, data, admin: [table.module] }, nowMs, signal)
  const { result, requestKey, height, hash } = ran
  if (result.status !== 'success') throw new RequestRefused(409, `nothing was written: ${messageOf(result)}`)
  return { written: Object.keys(rows).length, requestKey, height, hash }
}

function messageOf({ error }: { readonly error?: unknown }): string {
  const { message } = (error ?? {}) as { readonly message?: unknown }
  const text = typeof message === 'string' ? message : JSON.stringify(error)
  return /gas limit/i.test(text) ? `${text}; write fewer rows in one request` : text
}

/** Turns faults of rows into refusals. */
function refusing<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof InvalidRow) throw new RequestRefused(400, error.message)
    throw error
  }
}

function groupsOf(state: ReadableState, table: TableDefinition, rows: RowsRequest['rows']): RowGroup[] {
  const groups = new Map<string, RowGroup>()
  for (const [key, json] of Object.entries(rows)) {
    const at = `/rows/${key}`
    const row = rowFromJson(table, json, at)
    if (state.get(table.rows, key) === undefined) expectComplete(table, row, at)
    const fields = [...row.keys()].sort()
    const name = JSON.stringify(fields)
    const isWhole = table.schema === null || fields.length === table.schema.fields.size
    const group = groups.get(name) ?? { form: isWhole ? 'write' : 'update', fields, rows: [] }
    groups.set(name, group)
    group.rows.push({ key, at, row })
  }
  return [...groups.values()]
}

/**
 * Code that writes the rows. Their values are in the data, as lists: an object could be read as another kind of value.
 * @throws InvalidRow
 */
function programOf(table: string, groups: readonly RowGroup[]): { code: string; data: Record<string, unknown> } {
  const data: Record<string, unknown> = {}
  const forms = groups.map(({ form, fields, rows }, i) => {
    data[`rows${i}`] = rows.map(({ key, at, row }) => {
      return [key, ...fields.map((field) => JSON.parse(readableJson(row.get(field) as Value, `${at}/${field}`)))]
    })
    const object = fields.map((field, n) => `${JSON.stringify(field)}: (at ${n + 1} row)`).join(', ')
    return `(map (lambda (row) (${form} ${table} (at 0 row) { ${object} })) (read-msg "rows${i}"))`
  })
  return { code: forms.join('\n'), data }
}
