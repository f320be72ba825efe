/** The last solutions, and how far each has come. */
import type { ShownBlock } from '../state.ts'
import { element, Items, make, write } from './dom.ts'
import { heightText, NONE, rewardText, timeText } from './numbers.ts'

/** Most that the page shows. */
const MAX_ROWS = 12

const KINDS: Readonly<Record<ShownBlock['state'], 'good' | 'warn' | 'bad' | 'open'>> = {
  found: 'open',
  'handed-in': 'open',
  acknowledged: 'open',
  credited: 'good',
  confirmed: 'good',
  unconfirmed: 'warn',
  stale: 'warn',
  orphaned: 'warn',
  rejected: 'bad',
  lost: 'bad',
}

export class BlockTable {
  readonly #rows = new Items(element('blocks'), makeRow)

  /** Newest first. */
  show(blocks: readonly ShownBlock[], nowMs: number): void {
    element('no-blocks').hidden = blocks.length > 0
    element('blocks-table').hidden = blocks.length === 0
    this.#rows.show(
      blocks.slice(0, MAX_ROWS),
      ({ hash }) => hash,
      (row, block) => fill(row, block, nowMs),
    )
  }
}

function makeRow(hash: string): HTMLTableRowElement {
  const row = make('tr', '', { title: `block hash ${hash}`, 'data-hash': hash })
  const time = make('td')
  time.append(make('time'))
  const state = make('td', '', { class: 'state' })
  state.append(make('b'), make('small'))
  const numbers = ['number', 'number', 'number', 'wide', 'wide number']
  row.append(time, state, ...numbers.map((name) => make('td', '', { class: name })))
  return row
}

function fill(row: HTMLTableRowElement, block: ShownBlock, nowMs: number): void {
  const { chain, height, device, effort, foundAtMs, state, depth, reward, message } = block
  const [time, became, ...rest] = row.children
  row.dataset.kind = KINDS[state]
  write(time.children[0], timeText(foundAtMs, nowMs))
  time.children[0].setAttribute('datetime', new Date(foundAtMs).toISOString())
  write(became.children[0], state === 'confirmed' ? 'accepted' : state)
  write(became.children[1], depth === null ? (message ?? '') : depth === 1 ? 'at the head' : `${depth} deep`)
  const texts = [String(chain), heightText(height), rewardText(reward), device || NONE, `${Math.round(effort * 100)} %`]
  for (const [i, text] of texts.entries()) write(rest[i], text)
}
