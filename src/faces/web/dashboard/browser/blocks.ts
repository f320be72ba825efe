/** Shows the latest solutions and their progress. */
import { element, fill, make, write } from '../../kit/dom.ts'
import { briefCoins, dayAndTime, groupDigits, NONE } from '../../kit/numbers.ts'
import type { ShownBlock } from '../state.ts'

/** Limit of rows. */
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
  /** Shows these blocks, newest first. */
  show(blocks: readonly ShownBlock[], nowMs: number): void {
    element('no-blocks').hidden = blocks.length > 0
    element('blocks-table').hidden = blocks.length === 0
    fill(
      element('blocks'),
      blocks.slice(0, MAX_ROWS),
      ({ hash }) => hash,
      makeRow,
      (row, block) => update(row, block, nowMs),
    )
  }
}

function makeRow({ hash }: ShownBlock): HTMLTableRowElement {
  const time = make('td', {}, make('time'))
  const state = make('td', { class: 'state' }, make('b'), make('small'))
  const numbers = ['number', 'number', 'number', 'wide', 'wide number'].map((name) => make('td', { class: name }))
  return make('tr', { title: `block hash ${hash}`, 'data-hash': hash }, time, state, ...numbers)
}

function update(row: HTMLTableRowElement, block: ShownBlock, nowMs: number): void {
  const { chain, height, device, effort, foundAtMs, state, depth, reward, message } = block
  const [time, became, ...rest] = row.children
  row.dataset.kind = KINDS[state]
  write(time.children[0], dayAndTime(foundAtMs, nowMs))
  time.children[0].setAttribute('datetime', new Date(foundAtMs).toISOString())
  write(became.children[0], state === 'confirmed' ? 'accepted' : state)
  write(became.children[1], depth === null ? (message ?? '') : depth === 1 ? 'at the head' : `${depth} deep`)
  const texts = [
    String(chain),
    groupDigits(height),
    briefCoins(reward),
    device || NONE,
    `${Math.round(effort * 100)} %`,
  ]
  for (const [i, text] of texts.entries()) write(rest[i], text)
}
