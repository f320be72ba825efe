/** The report of `newcut test --gas-report`: gas by function, native, row and module. */
import { type GasCalls, GasReport, type GasRow } from '../contracts/repl/run-observer.ts'

/** Rows of several runs together. */
export function gasRows(runs: readonly (readonly GasCalls[])[]): GasRow[] {
  const report = new GasReport(() => 0)
  for (const calls of runs) report.add(calls)
  return report.rows.filter(({ module }) => module !== '#test')
}

const HEAD = ['calls', 'min', 'mean', 'median', 'max', 'own', 'total']

/** The report as lines of at most about 80 columns, unless names are long. Gas is in units, not in milligas. */
export function gasReportLines(rows: readonly GasRow[]): string[] {
  const rowsOfKind = (kind: GasRow['kind']) =>
    rows.filter((row) => row.kind === kind && (kind === 'function' || row.total > 0))
  const functions = rowsOfKind('function')
  const modules = [...new Set(functions.map(({ module }) => module))]
  return [
    ...modules.flatMap((module) =>
      tableLines(
        module,
        functions.filter((row) => row.module === module),
      ),
    ),
    ...tableLines('natives, without the functions that they call', rowsOfKind('native')),
    ...tableLines('rows', rowsOfKind('row'), ({ module, name }) => `${name.replace(' ', ` ${module}.`)}`),
    ...deployLines(rowsOfKind('deploy')),
  ]
}

/** Gas in at most 7 characters, from milligas. */
export function shortGas(milligas: number): string {
  if (milligas >= 99_999.5) return Math.round(milligas / 1000).toString()
  return (milligas / 1000).toFixed(milligas >= 9_999.5 ? 2 : 3)
}

function tableLines(title: string, rows: readonly GasRow[], nameOf = ({ name }: GasRow) => name): string[] {
  if (rows.length === 0) return []
  const cells = rows.map(({ calls, min, mean, median, max, own, total }) => {
    return [calls.toString(), ...[min, mean, median, max, own, total].map(shortGas)]
  })
  return table(title, HEAD, rows.map(nameOf), cells)
}

/** Gas and sizes are those of a network: test files charge more for loading a module. */
function deployLines(rows: readonly GasRow[]): string[] {
  if (rows.length === 0) return []
  const cells = rows.map(({ calls, max, size: { source, stored, surplus } = { source: 0, stored: 0, surplus: 0 } }) => {
    return [calls.toString(), shortGas(max - surplus), source.toString(), stored.toString()]
  })
  return table(
    'deployment',
    ['times', 'gas', 'bytes', 'stored'],
    rows.map(({ module }) => module),
    cells,
  )
}

function table(
  title: string,
  head: readonly string[],
  names: readonly string[],
  cells: readonly (readonly string[])[],
): string[] {
  const widths = head.map((word, i) => Math.max(word.length, ...cells.map((row) => row[i].length)))
  const first = Math.max(...names.map(({ length }) => length), 12)
  const line = (name: string, row: readonly string[]) =>
    `  ${name.padEnd(first)}  ${row.map((cell, i) => cell.padStart(widths[i])).join('  ')}`
  return [title, line('', head), ...names.map((name, i) => line(name, cells[i]))]
}
