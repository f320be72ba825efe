/** Tables that a user names. */
import { suggestName } from '#ground/base/similar-names.ts'
import { type Module, TableDefinition } from '#language/contracts/machine/ast.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import { InvalidRow } from './row-json.ts'

/** Maximum names of tables in a refusal. */
const MAX_LISTED_TABLES = 20

/**
 * Finds a table by its name, such as coin.coin-table.
 * @param at place of the name in the order
 * @throws InvalidRow if there is no such table
 */
export function findTable(state: ReadableState, name: string, at: string): TableDefinition {
  const dot = name.lastIndexOf('.')
  const [owner, member] = [name.slice(0, Math.max(0, dot)), name.slice(dot + 1)]
  if (dot < 1) throw new InvalidRow(`${at}: ${JSON.stringify(name)}: expected MODULE.TABLE, such as coin.coin-table`)
  const module = state.get<Module>('modules', owner)
  if (module === undefined) throw new InvalidRow(`${at}: the chain has no module ${owner}`)
  const table = module.definitions.get(member)
  if (table instanceof TableDefinition) return table
  const tables = [...module.definitions].filter(([, each]) => each instanceof TableDefinition).map(([each]) => each)
  const listed = tables.slice(0, MAX_LISTED_TABLES).join(', ')
  const has = tables.length === 0 ? 'it has none' : `it has ${listed}${suggestName(member, tables)}`
  throw new InvalidRow(`${at}: ${owner} has no table ${member}: ${has}`)
}
