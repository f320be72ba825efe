/** The table of workers. It polls them every ten seconds: they are too many for the event stream. */
import type { WorkerRow, WorkerTable } from '#mining/accounts/rig-rows.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { ageText, difficultyText, groupDigits, NONE, rateText } from '../../kit/numbers.ts'

const REFRESH_MS = 10_000
/** Limit of rows, in the order of the node: workers in trouble first, then the fastest. */
const MAX_SHOWN = 100
/** Pause after the last key of the filter. */
const TYPING_MS = 250
/** Where the browser keeps the names of the chosen columns. */
const STORED = 'newcut.rig-columns'

interface Column {
  readonly name: string
  readonly text: (row: WorkerRow, nowMs: number) => string
  readonly isNumber?: true
  /** Its cells are cut, with the whole text as their title. */
  readonly isLong?: true
  /** Shown until people choose other columns: always, or where there is room. */
  readonly isUsual?: 'always' | 'wide'
}

const COLUMNS: readonly Column[] = [
  { name: 'worker', text: ({ worker }) => worker || NONE, isUsual: 'always' },
  { name: 'user', text: ({ user }) => user, isLong: true, isUsual: 'wide' },
  { name: 'program', text: ({ agent }) => agent || NONE, isLong: true },
  { name: 'address', text: ({ address }) => address },
  { name: 'now', text: ({ hashrates: { now } }) => rateOrNone(now), isNumber: true },
  { name: 'reported', text: ({ hashrates: { announced } }) => rateOrNone(announced), isNumber: true },
  { name: 'over an hour', text: ({ hashrates }) => rateOrNone(hashrates['1h']), isNumber: true, isUsual: 'always' },
  { name: 'over a day', text: ({ hashrates }) => rateOrNone(hashrates['1d']), isNumber: true },
  { name: 'accepted', text: ({ accepted }) => groupDigits(accepted), isNumber: true, isUsual: 'always' },
  { name: 'refused', text: refusedText, isUsual: 'wide' },
  { name: 'last share', text: lastShareText, isNumber: true, isUsual: 'wide' },
  {
    name: 'difficulty',
    text: ({ difficulty }) => (difficulty === null ? NONE : difficultyText(difficulty)),
    isNumber: true,
  },
  { name: 'state', text: stateText, isUsual: 'always' },
]

export class RigTableView {
  #askedAtMs = Number.NEGATIVE_INFINITY
  #shown = chosenColumns()
  #last: WorkerTable | null = null
  #typing: ReturnType<typeof setTimeout> | undefined
  readonly #filter = element<HTMLInputElement>('rig-filter')

  constructor() {
    element('rig-form').addEventListener('submit', (event) => event.preventDefault())
    this.#filter.addEventListener('input', () => {
      clearTimeout(this.#typing)
      this.#typing = setTimeout(() => void this.#refresh(), TYPING_MS)
    })
    // Without a stop in the table, the keyboard could not scroll it.
    const box = element('rig-rows')
    box.tabIndex = 0
    box.role = 'region'
    box.ariaLabel = 'Table of rigs'
    element('rig-columns').append(...COLUMNS.map(({ name }) => this.#choiceOf(name)))
  }

  /** Polls if the interval is over. Call it often. */
  look(): void {
    const nowMs = performance.now()
    if (document.hidden || nowMs - this.#askedAtMs < REFRESH_MS) return
    void this.#refresh()
  }

  /** A box that shows or hides a column. */
  #choiceOf(name: string): HTMLLabelElement {
    const box = make('input', { type: 'checkbox' })
    box.checked = this.#shown.has(name)
    box.addEventListener('change', () => {
      if (box.checked) this.#shown.add(name)
      else this.#shown.delete(name)
      localStorage.setItem(STORED, [...this.#shown].join(','))
      if (this.#last !== null) this.#show(this.#last)
    })
    return make('label', {}, box, name)
  }

  async #refresh(): Promise<void> {
    this.#askedAtMs = performance.now()
    const search = this.#filter.value.trim()
    const query = new URLSearchParams({ limit: String(MAX_SHOWN), search })
    const response = await fetch(`/api/rigs?${query}`).catch(() => null)
    // The page already says that the miner is unreachable. An answer to an earlier filter is late.
    if (response?.ok !== true || search !== this.#filter.value.trim()) return
    this.#show((await response.json()) as WorkerTable)
  }

  #show(table: WorkerTable): void {
    this.#last = table
    const { rigs, total, nowMs, isLogWell } = table
    const columns = COLUMNS.filter(({ name }) => this.#shown.has(name))
    const heads = columns.map(({ name, isNumber }) =>
      make('th', { scope: 'col', ...(isNumber && { class: 'number' }) }, name),
    )
    element('rig-heads').replaceChildren(...heads)
    fill(
      element('rig-workers'),
      rigs,
      ({ user, worker }) => `${columns.map(({ name }) => name)}\n${user}\n${worker}`,
      () => make('tr', {}, ...columns.map(({ isNumber, isLong }) => make('td', { class: classOf(isNumber, isLong) }))),
      (row, rig) => {
        row.dataset.state = rig.warning !== null ? 'troubled' : rig.connections > 0 ? 'active' : 'away'
        for (const [i, { text, isLong }] of columns.entries()) {
          const cell = row.children[i] as HTMLElement
          write(cell, text(rig, nowMs))
          if (isLong) cell.title = text(rig, nowMs)
        }
      },
    )
    write('rig-others', noteOf(rigs.length, total, this.#filter.value.trim()))
    if (isLogWell === false)
      write('rig-others', 'The share log cannot be written, so shares are refused. Check the disk.')
  }
}

const classOf = (isNumber?: true, isLong?: true) => (isNumber ? 'number' : isLong ? 'long' : '')

/** The columns that people chose in this browser, or the usual ones. */
function chosenColumns(): Set<string> {
  const isWide = !matchMedia('(max-width: 44rem)').matches
  const usual = COLUMNS.flatMap(({ name, isUsual }) => (isUsual === 'always' || (isUsual && isWide) ? [name] : []))
  const stored = localStorage.getItem(STORED)
  if (stored === null) return new Set(usual)
  const known = COLUMNS.map(({ name }) => name)
  return new Set(stored.split(',').filter((name) => known.includes(name)))
}

function noteOf(shown: number, total: number, search: string): string {
  if (total === 0) return search === '' ? 'No rig has connected yet.' : `No rig matches ${search}.`
  return total > shown ? `and ${groupDigits(total - shown)} more; newcut rigs lists all` : ''
}

const rateOrNone = (rate: number | null) => (rate === null ? NONE : rateText(rate))

function refusedText({ refused }: WorkerRow): string {
  const parts = Object.entries(refused).map(([reason, count]) => `${groupDigits(count)} ${reason}`)
  return parts.length === 0 ? NONE : parts.join(' · ')
}

function lastShareText({ lastShareMs }: WorkerRow, nowMs: number): string {
  return lastShareMs === null ? NONE : ageText(Math.max(0, nowMs - lastShareMs))
}

function stateText({ warning, connections }: WorkerRow): string {
  if (warning !== null) return `too many shares refused, mostly ${warning.reason}`
  return connections > 0 ? 'mining' : 'gone'
}
