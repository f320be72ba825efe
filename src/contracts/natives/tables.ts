/** Reading and writing rows. */
import { evalError } from '../errors.ts'
import { asValue, type MachineCall } from '../machine/machine.ts'
import {
  createdTable,
  createTable,
  mayAccess,
  readRow,
  rowsOf,
  tableOf,
  type WriteKind,
  writeRow,
} from '../machine/tables.ts'
import type { Term } from '../machine/term.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { callableArg, objectArg, textArg, textsArg } from './arguments-of.ts'
import type { Native } from './native.ts'
import { topLevelOnly } from './top-level.ts'

/** Thousandths of gas: reading whole tables costs more than any command may. */
const COSTS = { createTable: 250_000, list: 40_000_000, row: 500 }

function write(name: WriteKind): Native<MachineCall> {
  return {
    name,
    arity: [3, 3],
    run: ([table, key, row], { machine }) => {
      writeRow(machine, table, textArg(name, key), objectArg(name, row), name)
      return 'Write succeeded'
    },
  }
}

/** Keys of a table and its rows, by key. */
function rowsIn(term: Term, call: MachineCall): (readonly [key: string, row: ObjectValue])[] {
  const { machine } = call
  const table = createdTable(machine, term)
  mayAccess(machine, table, false)
  call.charge(machine.environment.rules.isLocal ? 0 : COSTS.list)
  const domain = rowsOf(table)
  const found = machine.state.keys(domain)
  call.charge(COSTS.row * found.length)
  return found.map((key) => [key, machine.state.get<ObjectValue>(domain, key) as ObjectValue] as const)
}

/** Some fields of a row. Throws EvalError for one that it does not have. */
function fieldsOf(row: ObjectValue, names: readonly string[]): ObjectValue {
  return new Map(
    names.map((name) => {
      const value = row.get(name)
      if (value === undefined) throw evalError(`Key ${name} not found in object.`)
      return [name, value] as const
    }),
  )
}

function isTrue(term: Term): boolean {
  if (typeof term === 'boolean') return term
  throw evalError('a query gives true or false')
}

export const tables: readonly Native<MachineCall>[] = [
  write('insert'),
  write('update'),
  write('write'),
  {
    name: 'create-table',
    arity: [1, 1],
    run: ([table], call) => {
      topLevelOnly(call.machine, 'create-table')
      call.charge(COSTS.createTable)
      createTable(call.machine, table)
      return 'TableCreated'
    },
  },
  {
    name: 'read',
    arity: [2, 3],
    run: ([table, key, names], { machine }) => {
      const row = readRow(machine, table, textArg('read', key))
      return names === undefined ? row : fieldsOf(row, textsArg('read', names))
    },
  },
  { name: 'keys', arity: [1, 1], run: ([table], call) => rowsIn(table, call).map(([key]) => key) },
  {
    name: 'select',
    arity: [2, 3],
    run: (args, call) => {
      const [table] = args
      const names = args.length === 3 ? textsArg('select', args[1]) : null
      const query = callableArg('select', args.at(-1))
      const rows = rowsIn(table, call).map(([, row]) => row)
      const chosen = rows.filter((row) => isTrue(call.apply(query, [row])))
      return chosen.map((row): Value => (names === null ? row : fieldsOf(row, names)))
    },
  },
  {
    name: 'fold-db',
    arity: [3, 3],
    run: ([table, query, consumer], call) => {
      const [wanted, consume] = [callableArg('fold-db', query), callableArg('fold-db', consumer)]
      const rows = rowsIn(table, call).filter((row) => isTrue(call.apply(wanted, row)))
      return rows.map((row) => asValue(call.apply(consume, row)))
    },
  },
  {
    name: 'describe-table',
    arity: [1, 1],
    run: ([term], { machine }) => {
      topLevelOnly(machine, 'describe-table')
      const { name, module, schema } = tableOf(term)
      return new Map<string, Value>([
        ['name', name],
        ['module', module],
        ['type', `table:{${schema?.name ?? ''}}`],
      ])
    },
  },
]
