/** Rows of lists of transactions: in a block, or in a mempool. */
import type { ListedTransaction, PendingView } from '#ground/schema/lookup.ts'
import { make } from '../../kit/dom.ts'
import { groupDigits, timeOfDay } from '../../kit/numbers.ts'
import { accountLink, transactionLink } from './place.ts'

export function transactionRow(each: ListedTransaction): HTMLElement {
  const outcome = each.isOrphan ? 'orphaned' : each.status
  return make(
    'li',
    { 'data-outcome': outcome },
    transactionLink(each.requestKey),
    make(
      'span',
      { class: 'where' },
      `chain ${each.chain} · height ${groupDigits(each.height)} · ${timeOfDay(each.createdMs)}`,
    ),
    make('b', { class: 'outcome' }, outcome),
    make('code', { class: 'what', title: each.what }, each.what),
    make('span', { class: 'note' }, accountLink(each.sender), ` · ${groupDigits(each.gas)} gas`),
    ...(each.fault === undefined ? [] : [make('span', { class: 'fault' }, each.fault)]),
  )
}

export function pendingRow({ key, chain, sender, what, gasPrice, gasLimit, sinceMs }: PendingView): HTMLElement {
  return make(
    'li',
    { 'data-outcome': 'pending' },
    transactionLink(key),
    make('span', { class: 'where' }, `chain ${chain} · since ${timeOfDay(sinceMs)}`),
    make('b', { class: 'outcome' }, 'pending'),
    make('code', { class: 'what', title: what }, what),
    make('span', { class: 'note' }, accountLink(sender), ` · ${gasPrice} a gas, at most ${groupDigits(gasLimit)}`),
  )
}
