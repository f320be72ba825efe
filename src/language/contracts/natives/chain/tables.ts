/** Natives that read and write rows. */
import { evalError } from '../../errors.ts'
import type { Run } from '../../machine/ast.ts'
import { createTable, listedDomain, readRow, tableOf, type WriteKind, writeRow } from '../../machine/evaluate/tables.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { asValue, type Callable, type Term } from '../../machine/term.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { requireTopLevel } from './top-level.ts'

/** Work for each row that is read with all others. */
const ROW_WORK = 500

function write(name: WriteKind): Native<Run> {
  return native(name, 3, 3, (args) => {
    writeRow(args.run, args.all[0], args.text(1), args.object(2), name)
    return 'Write succeeded'
  })
}

/** Keys and rows of the table in the first argument, sorted by key. */
function rowsIn({ run, all: [term] }: Arguments<Run>): (readonly [key: string, row: ObjectValue])[] {
  const domain = listedDomain(run, term)
  const found = run.transaction.state.keys(domain)
  run.work(ROW_WORK * found.length)
  return found.map((key) => [key, run.transaction.state.get<ObjectValue>(domain, key) as ObjectValue] as const)
}

/** Selects fields of a row. Skips names that the row does not have. */
function fieldsOf(row: ObjectValue, names: readonly string[]): ObjectValue {
  if (names.length > row.size) {
    // Names are free, so a long list of them is indexed once.
    const named = namesIn(names)
    return new Map([...row].filter(([name]) => named.has(name)))
  }
  const chosen = new Map<string, Value>()
  for (const name of names) {
    const value = row.get(name)
    if (value !== undefined) chosen.set(name, value)
  }
  return chosen
}

const indexes = new WeakMap<readonly string[], ReadonlySet<string>>()

function namesIn(names: readonly string[]): ReadonlySet<string> {
  const before = indexes.get(names)
  if (before !== undefined) return before
  const named = new Set(names)
  indexes.set(names, named)
  return named
}

function isTrue(term: Term): boolean {
  if (typeof term === 'boolean') return term
  throw evalError('a query gives true or false')
}

/** True if a row matches a query. */
function matches(args: Arguments<Run>, query: Callable, row: readonly Value[]): boolean {
  return isTrue(args.run.apply(query, row, args.place))
}

export const tables: readonly Native<Run>[] = [
  write('insert'),
  write('update'),
  write('write'),
  native('create-table', 1, 1, (args) => {
    requireTopLevel(args)
    createTable(args.run, args.all[0])
    return 'TableCreated'
  }),
  native('read', 2, 3, (args) => {
    const row = readRow(args.run, args.all[0], args.text(1))
    const names = args.has(2) ? args.texts(2) : []
    // An empty list of columns selects all of them.
    return names.length === 0 ? row : fieldsOf(row, names)
  }),
  native('keys', 1, 1, (args) => rowsIn(args).map(([key]) => key)),
  native('select', 2, 3, (args) => {
    const names = args.has(2) ? args.texts(1) : null
    const query = args.fn(names === null ? 1 : 2)
    const rows = rowsIn(args).map(([, row]) => row)
    const chosen = rows.filter((row) => matches(args, query, [row]))
    return chosen.map((row): Value => (names === null ? row : fieldsOf(row, names)))
  }),
  native('fold-db', 3, 3, (args) => {
    const [wanted, consume] = [args.fn(1), args.fn(2)]
    const rows = rowsIn(args).filter((row) => matches(args, wanted, row))
    return rows.map((row) => asValue(args.run.apply(consume, row, args.place)))
  }),
  native('describe-table', 1, 1, (args) => {
    requireTopLevel(args)
    const { name, module, schema } = tableOf(args.all[0])
    return new Map<string, Value>([
      ['name', name],
      ['module', module],
      ['type', `table:{${schema?.name ?? ''}}`],
    ])
  }),
]
