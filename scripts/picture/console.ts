/** Converts terminal cells to HTML with colours. */

/** A cell of the terminal emulator. */
export interface Cell {
  getChars(): string
  isFgDefault(): boolean
  isFgPalette(): boolean
  getFgColor(): number
  isBold(): number
  isDim(): number
}

/** The sixteen terminal colours. */
const PALETTE = [
  ...['#3b4644', '#f08a76', '#4fd08b', '#e3b45c', '#8fb1e3', '#c9a5e0', '#5cc8d8', '#c3ccc8'],
  ...['#66726e', '#ff9f8c', '#6fe3a4', '#f2c877', '#a9c6f2', '#dabcf0', '#7fdcea', '#f2f5f3'],
]
/** Colours of the palette; newcut uses no others. */
const colourOf = (cell: Cell) =>
  cell.isFgDefault() || !cell.isFgPalette() ? null : (PALETTE[cell.getFgColor()] ?? null)

const styleOf = (cell: Cell) => {
  const colour = colourOf(cell)
  return [
    ...(colour === null ? [] : [`color:${colour}`]),
    ...(cell.isBold() === 0 ? [] : ['font-weight:700']),
    ...(cell.isDim() === 0 ? [] : ['opacity:.62']),
  ].join(';')
}

/** Lines for a `<pre>`; adjacent cells of one style share an element. */
export function consoleHtml(rows: readonly (readonly Cell[])[]): string {
  return rows.map(lineHtml).join('\n')
}

function lineHtml(cells: readonly Cell[]): string {
  const runs: { readonly style: string; text: string }[] = []
  for (const cell of cells) {
    const style = styleOf(cell)
    const last = runs.at(-1)
    const text = cell.getChars() || ' '
    if (last?.style === style) last.text += text
    else runs.push({ style, text })
  }
  return runs
    .map(({ style, text }) => (style === '' ? escaped(text) : `<span style="${style}">${escaped(text)}</span>`))
    .join('')
    .trimEnd()
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string) => text.replace(/[&<>]/g, (character) => ENTITIES[character])
