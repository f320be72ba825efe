/** Natives of tables, capabilities, guards, modules, namespaces and pacts (CoreBuiltin.hs). */

import { asValue, type Env } from './env.ts'
import { acquireAdmin, enforceGuard, enforceKeyset, enforceNamedKeyset, findKeyset, withMagic } from './guards.ts'
import type { Machine } from './machine.ts'
import { as, type Code, closureOf, fieldsOf, guardOf, is, itemsOf, lengthOf, textOf } from './native-args.ts'
import { CAPABILITIES } from './natives-capabilities.ts'
import { readKeyset } from './natives-data.ts'
import { CodeSizes, sizeOfFields, sizeOfKeyset, sizeOfNamespace } from './sizes.ts'
import { Fatal, Recoverable, type Row, type State } from './state.ts'
import { dec, guard, int, list, objectOf, str, type Table, UNIT, type Value } from './terms.ts'
import { checkFields, checkSomeFields } from './typecheck.ts'

const READ_COST = 100
const WRITE_COST = 200

const tableKey = ({ module, name }: Table): string => `${module}.${name}`

function topLevelOnly({ stack }: State): void {
  if (stack.length > 0) throw new Fatal('top level only')
}

/** The module of a table is looked up alone, and the version that named the table has to be the current one (guardTable). */
function guardTable(state: State, table: Table): void {
  state.guardForModuleCall(table.module)
  const { hash } = state.getModule(table.module, 'table')
  if (hash !== table.hash) throw new Fatal('hash not blessed')
}

function rowsOf(state: State, env: Env, table: Table): Map<string, Row> {
  if (env.purity === 'sys-only') throw new Fatal('tables are not allowed here')
  const rows = state.db.tables.get(tableKey(table))
  if (rows === undefined) throw new Fatal('no such table')
  return rows
}

/** A row, paid by its size. */
function readRow(state: State, env: Env, table: Table, key: string): Row | null {
  guardTable(state, table)
  const row = rowsOf(state, env, table).get(key) ?? null
  if (row !== null) state.charge(READ_COST * sizeOfFields(row))
  return row
}

function existingRow(state: State, env: Env, table: Table, key: string): Row {
  const row = readRow(state, env, table, key)
  if (row === null) throw new Recoverable()
  return row
}

const only = (row: Row, names: readonly string[]): Value =>
  objectOf([...row].filter(([field]) => names.includes(field)))

const read: Code = ({ state }, env, [table, key, fields]) => {
  const row = existingRow(state, env, as(table, 'table'), textOf(key))
  const names = fields === undefined ? [] : itemsOf(fields).map(textOf)
  return names.length === 0 ? { v: 'object', fields: row } : only(row, names)
}

const withRead: Code = (machine, env, [table, key, fn]) => {
  const row = existingRow(machine.state, env, as(table, 'table'), textOf(key))
  return machine.apply(closureOf(fn), [{ v: 'object', fields: row }])
}

const withDefaultRead: Code = (machine, env, [table, key, otherwise, fn]) => {
  const row = readRow(machine.state, env, as(table, 'table'), textOf(key)) ?? fieldsOf(otherwise)
  return machine.apply(closureOf(fn), [{ v: 'object', fields: row }])
}

const write =
  (how: 'write' | 'insert' | 'update'): Code =>
  ({ state }, env, [given, keyText, object]) => {
    const table = as(given, 'table')
    const [key, fields] = [textOf(keyText), fieldsOf(object)]
    guardTable(state, table)
    const fits = how === 'update' ? checkSomeFields : checkFields
    if (!fits(state, fields, table.schema)) throw new Fatal('row does not fit the schema')
    state.charge(WRITE_COST * sizeOfFields(fields))
    if (env.purity !== 'impure') throw new Fatal('writing is not allowed here')
    const rows = rowsOf(state, env, table)
    const before = rows.get(key)
    if (how === 'insert' && before !== undefined) throw new Fatal('row found')
    if (how === 'update' && before === undefined) throw new Fatal('no row found')
    rows.set(key, how === 'update' ? fieldsOf(objectOf([...(before ?? []), ...fields])) : fields)
    return str('Write succeeded')
  }

function sortedRows(state: State, env: Env, table: Table): (readonly [string, Row])[] {
  guardTable(state, table)
  if (env.purity !== 'impure') throw new Fatal('keys are not allowed here')
  return [...rowsOf(state, env, table)].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

const select: Code = (machine, env, args) => {
  const fn = closureOf(args.at(-1))
  const names = args.length === 3 ? itemsOf(args[1]).map(textOf) : null
  const rows = sortedRows(machine.state, env, as(args[0], 'table')).map(([, row]) => row)
  const chosen = rows.filter((fields) => machine.bool(machine.apply(fn, [{ v: 'object', fields }])))
  return list(chosen.map((fields) => (names === null ? { v: 'object', fields } : only(fields, names))))
}

const foldDb: Code = (machine, env, [table, query, consume]) => {
  const rows = sortedRows(machine.state, env, as(table, 'table'))
  const chosen = rows.filter(([key, fields]) =>
    machine.bool(machine.apply(closureOf(query), [str(key), { v: 'object', fields }])),
  )
  // The rows that fit come last first, and the results are turned again but for the last.
  const results = chosen
    .reverse()
    .map(([key, fields]) => asValue(machine.apply(closureOf(consume), [str(key), { v: 'object', fields }])))
  return list(results.reverse())
}

const createTable: Code = ({ state }, _, [given]) => {
  const table = as(given, 'table')
  topLevelOnly(state)
  guardTable(state, table)
  if (state.db.tables.has(tableKey(table))) throw new Fatal('table exists')
  state.db.tables.set(tableKey(table), new Map())
  return str('TableCreated')
}

function defineKeyset(
  machine: Machine,
  env: Env,
  name: string,
  keyset: { readonly keys: readonly string[]; readonly pred: string },
): Value {
  const { state } = machine
  const before = state.db.keysets.get(name)
  if (before !== undefined) withMagic(state, 'DEFINE_KEYSET', name, () => enforceKeyset(machine, env, before))
  state.charge(WRITE_COST * sizeOfKeyset(keyset.keys, keyset.pred))
  if (env.purity !== 'impure') throw new Fatal('writing is not allowed here')
  state.db.keysets.set(name, keyset)
  return str('Keyset write success')
}

const parseCost = (state: State, text: string): void => {
  state.charge(lengthOf(text) * 5 + 1)
}

const enforce: Code = (machine, env, [given]) => {
  if (is(given, 'guard')) return enforceGuard(machine, env, given.g)
  parseCost(machine.state, textOf(given))
  machine.state.note('guard: keyset by its name')
  return enforceNamedKeyset(machine, env, textOf(given))
}

function findNamespace(state: State, name: string) {
  state.charge(READ_COST * lengthOf(name))
  const namespace = state.db.namespaces.get(name)
  if (namespace !== undefined) state.charge(READ_COST * sizeOfNamespace(namespace))
  return namespace
}

const defineNamespace: Code = (machine, env, [text, user, admin]) => {
  const { state } = machine
  topLevelOnly(state)
  const namespace = { name: textOf(text), user: guardOf(user), admin: guardOf(admin) }
  const before = findNamespace(state, namespace.name)
  if (before !== undefined) {
    withMagic(state, 'DEFINE_NAMESPACE', namespace.name, () => enforceGuard(machine, env, before.admin))
  }
  state.charge(WRITE_COST * sizeOfNamespace(namespace))
  state.db.namespaces.set(namespace.name, namespace)
  return str(`Namespace defined: ${namespace.name}`)
}

const enterNamespace: Code = ({ state }, _, [text]) => {
  topLevelOnly(state)
  const name = textOf(text)
  if (name === '') {
    state.namespace = null
    return str('Namespace reset to root')
  }
  const namespace = findNamespace(state, name)
  if (namespace === undefined) throw new Fatal('no such namespace')
  state.namespace = namespace
  return str(`Namespace set to ${name}`)
}

const describeNamespace: Code = ({ state }, _, [text]) => {
  const namespace = findNamespace(state, textOf(text))
  if (namespace === undefined) throw new Fatal('no such namespace')
  return objectOf([
    ['user-guard', guard(namespace.user)],
    ['admin-guard', guard(namespace.admin)],
    ['namespace-name', str(namespace.name)],
  ])
}

/** The stored module is looked up by its name, and its code is not charged. */
const describeModule: Code = ({ state }, _, [name]) => {
  topLevelOnly(state)
  const { module } = state.getModuleData(textOf(name))
  return objectOf([
    ['name', str(module.name)],
    ['hash', str(module.hash)],
    ['tx_hash', str(module.txHash)],
    ['code', str('')],
    ...(module.is === 'module' ? [['interfaces', list(module.faces.map(str))] as const] : []),
  ])
}

/** Writes the module again as it is. The code is stored elsewhere. */
const redeploy: Code = ({ state }, _, [name]) => {
  topLevelOnly(state)
  const data = state.getModuleData(textOf(name))
  state.charge(WRITE_COST * new CodeSizes('line').moduleData(data))
  return UNIT
}

const describeTable: Code = ({ state }, _, [table]) => {
  topLevelOnly(state)
  const { name, module } = as(table, 'table')
  return objectOf([
    ['name', str(name)],
    ['module', str(module)],
    ['type', str('')],
  ])
}

const chainData: Code = () =>
  objectOf([
    ['chain-id', str('0')],
    ['block-height', int(7)],
    ['block-time', { v: 'time', micros: 0n }],
    ['prev-block-hash', str('')],
    ['sender', str('alice')],
    ['gas-limit', int(150_000)],
    ['gas-price', dec({ m: 0n, p: 0 })],
  ])

export const CHAIN: readonly (readonly [string, Code])[] = [
  ...CAPABILITIES,
  ['read', read],
  ['read-with-fields', read],
  ['with-read', withRead],
  ['with-default-read', withDefaultRead],
  ['write', write('write')],
  ['insert', write('insert')],
  ['update', write('update')],
  ['keys', ({ state }, env, [table]) => list(sortedRows(state, env, as(table, 'table')).map(([key]) => str(key)))],
  ['select', select],
  ['select-with-fields', select],
  ['fold-db', foldDb],
  ['create-table', createTable],
  ['describe-table', describeTable],
  [
    'define-keyset',
    (machine, env, [name, keyset]) => {
      topLevelOnly(machine.state)
      const g = guardOf(keyset)
      if (g.g !== 'keyset') throw new Fatal('expected a keyset')
      return defineKeyset(machine, env, textOf(name), g)
    },
  ],
  [
    'define-read-keyset',
    (machine, env, [name]) => {
      topLevelOnly(machine.state)
      return defineKeyset(machine, env, textOf(name), readKeyset(machine.state, textOf(name)))
    },
  ],
  ['describe-keyset', ({ state }, _, [name]) => guard({ g: 'keyset', ...findKeyset(state, textOf(name)) })],
  ['enforce-guard', enforce],
  ['enforce-keyset', enforce],
  [
    'keyset-ref-guard',
    ({ state }, _, [name]) => {
      parseCost(state, textOf(name))
      findKeyset(state, textOf(name))
      return guard({ g: 'keyset-ref', name: textOf(name) })
    },
  ],
  ['namespace', enterNamespace],
  ['define-namespace', defineNamespace],
  ['describe-namespace', describeNamespace],
  ['describe-module', describeModule],
  ['static-redeploy', redeploy],
  [
    'list-modules',
    ({ state }, { purity }) => {
      if (purity !== 'impure') throw new Fatal('keys are not allowed here')
      return list([...state.db.modules.keys()].sort().map(str))
    },
  ],
  ['chain-data', chainData],
  ['tx-hash', ({ state }) => str(state.message.hash)],
  [
    'acquire-module-admin',
    (machine, env, [reference]) => {
      const { module } = as(reference, 'modref')
      acquireAdmin(machine, env, machine.state.getModule(module, 'module admin'))
      return str(`Module admin for module ${module} acquired`)
    },
  ],
]
