/** What the tests reached, by room of src/. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../coverage/', import.meta.url))

const kinds = ['lines', 'functions', 'branches'] as const
type Counts = Readonly<Record<(typeof kinds)[number], { readonly total: number; readonly covered: number }>>

/** A table of percentages for people, and where the rest is. Throws where vitest has left no report. */
export function coverageLines(): string[] {
  const summary = JSON.parse(readFileSync(`${folder}coverage-summary.json`, 'utf8')) as Record<string, Counts>
  const rooms = new Map<string, Counts[]>()
  for (const [file, counts] of Object.entries(summary)) {
    if (file === 'total') continue
    const [, room] = /\/src\/(?:([^/]+)\/)?[^/]+/.exec(file) ?? []
    rooms.set(room ?? '(main)', [...(rooms.get(room ?? '(main)') ?? []), counts])
  }
  const rows = [...rooms].toSorted().map(([room, files]) => {
    const shares = kinds.map((kind) => {
      const [total, covered] = (['total', 'covered'] as const).map((of) =>
        files.reduce((sum, counts) => sum + counts[kind][of], 0),
      )
      return total === 0 ? '' : `${((100 * covered) / total).toFixed(1)} %`
    })
    return [room, ...shares]
  })
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(12) : cell.padStart(10))).join('')
  return [line(['room', ...kinds]), ...rows.map(line), `each line: ${folder}index.html`]
}
