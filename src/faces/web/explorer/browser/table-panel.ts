/** Shows the rows of a table in pages, with a search for keys. */
import type { ModuleDetails, RowPage } from '#ground/schema/lookup.ts'
import { make, write } from '../../kit/dom.ts'
import { groupDigits } from '../../kit/numbers.ts'
import { askNode, textOfError } from './ask.ts'
import { accountLink } from './place.ts'
import { pathWith } from './query.ts'
import { briefValue } from './value-text.ts'

const TYPING_MS = 250
const PAGE = 25

type TableRow = RowPage['rows'][number]

export class TablePanel {
  readonly element: HTMLElement
  readonly #chain: number
  readonly #table: string
  readonly #search = make('input', {
    type: 'search',
    placeholder: 'part of a key',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  readonly #exact = make('button', { type: 'submit', class: 'small' }, 'Read this key')
  readonly #head = make('tr')
  readonly #body = make('tbody')
  readonly #status = make('p', { class: 'note', role: 'status' })
  readonly #note = make('p', { class: 'note' })
  readonly #more = make('button', { type: 'button', class: 'small' }, 'More rows')
  #columns: readonly string[] = []
  #next: string | null = null
  #count = 0
  /** Number of the newest search. Pages of an earlier search are dropped. */
  #searchNumber = 0

  constructor(chain: number, module: string, { name, doc, schema, isCreated }: ModuleDetails['tables'][number]) {
    this.#chain = chain
    this.#table = `${module}.${name}`
    const title = make('h3', {}, name, ' ', make('span', { class: 'type' }, schema === null ? '' : `{${schema}}`))
    this.#search.setAttribute('aria-label', `search keys of ${name}`)
    const form = make('form', { class: 'row' }, this.#search, this.#exact)
    const table = make('table', { class: 'rows' }, make('thead', {}, this.#head), this.#body)
    const rows = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `rows of ${name}` }, table)
    const about = doc === null ? [] : [make('p', { class: 'doc' }, doc)]
    this.element = make(
      'section',
      { class: 'table', id: `table-${name}` },
      title,
      ...about,
      form,
      rows,
      this.#status,
      this.#note,
      this.#more,
    )
    let typing: ReturnType<typeof setTimeout> | undefined
    this.#search.addEventListener('input', () => {
      clearTimeout(typing)
      typing = setTimeout(() => void this.#restart(null), TYPING_MS)
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      clearTimeout(typing)
      void this.#restart(this.#search.value)
    })
    this.#more.addEventListener('click', () => void this.#loadPage(this.#searchNumber, null))
    if (isCreated) void this.#restart(null)
    else {
      form.hidden = true
      rows.hidden = true
      this.#more.hidden = true
      write(this.#status, 'The table is not created: (create-table) makes it when its module is deployed.')
    }
  }

  /** @param key reads only the row with this key; null lists rows */
  async #restart(key: string | null): Promise<void> {
    const run = ++this.#searchNumber
    this.#next = null
    this.#count = 0
    await this.#loadPage(run, key)
  }

  async #loadPage(run: number, key: string | null): Promise<void> {
    const after = this.#next
    const search = key === null ? this.#search.value : null
    const query = { chain: this.#chain, name: this.#table, limit: PAGE, search, next: after, key }
    try {
      const page = await askNode<RowPage>(pathWith('/devnet/table', query))
      if (run !== this.#searchNumber) return
      if (after === null) this.#body.replaceChildren()
      this.#showColumns(page)
      this.#body.append(...page.rows.map((row) => this.#rowOf(row)))
      this.#count += page.rows.length
      this.#next = page.next
      this.#more.hidden = page.next === null
      write(this.#status, this.#statusText(page, key))
      write(this.#note, page.note === null ? '' : `Not complete: ${page.note}.`)
    } catch (error) {
      if (run !== this.#searchNumber) return
      this.#more.hidden = true
      write(this.#status, textOfError(error))
    }
  }

  #statusText({ total, height }: RowPage, key: string | null): string {
    if (key !== null)
      return total === 0 ? `No row has the key ${JSON.stringify(key)}, at height ${groupDigits(height)}.` : ''
    if (total === 0) return this.#search.value === '' ? 'No rows.' : 'No key contains this text.'
    return `${groupDigits(this.#count)} of ${groupDigits(total)} rows, at height ${groupDigits(height)}`
  }

  /** Whether the keys are accounts of the coin contract. */
  get #hasAccounts(): boolean {
    return this.#table === 'coin.coin-table'
  }

  /** Shows the fields of the schema as columns, or those of the first rows if there is no schema. */
  #showColumns({ fields, rows }: RowPage): void {
    const found = fields?.map(({ name }) => name) ?? [...new Set(rows.flatMap(({ row }) => Object.keys(row as object)))]
    if (fields === null && this.#columns.length > 0 && this.#next !== null) return
    this.#columns = found
    const types = new Map(fields?.map(({ name, type }) => [name, type]))
    const heads = found.map((name) => {
      const type = types.get(name)
      return make('th', { scope: 'col' }, name, ...(type ? [make('span', { class: 'type' }, `:${type}`)] : []))
    })
    this.#head.replaceChildren(make('th', { scope: 'col' }, 'key'), ...heads)
  }

  #rowOf({ key, row }: TableRow): HTMLElement {
    const fields = row as Readonly<Record<string, unknown>>
    const cells = this.#columns.map((name) => {
      const text = fields[name] === undefined ? '' : briefValue(fields[name])
      return make('td', { title: text }, text)
    })
    const name = key === '' ? '""' : this.#hasAccounts ? accountLink(key) : key
    return make('tr', {}, make('th', { scope: 'row', title: key }, name), ...cells)
  }
}
