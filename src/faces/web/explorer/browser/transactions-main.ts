/** The list of all transactions in blocks, newest first. */
import type { ListedTransaction, TransactionPage } from '#ground/schema/lookup.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { groupDigits, timeOfDay } from '../../kit/numbers.ts'
import { askNode } from './ask.ts'
import { fillChains, oneAtATime, openFrame, troubleIn } from './frame.ts'
import { PagedList } from './paged-list.ts'
import { notePlace, pagePlace, transactionLink } from './place.ts'
import { pathWith } from './query.ts'

const PATH = '/devnet/transactions'

const list = new PagedList<ListedTransaction>({
  read: async (next) => {
    const { transactions, ...page } = await askNode<TransactionPage>(pathWith(PATH, { chain: chain(), next }))
    return { items: transactions, ...page }
  },
  keyOf: ({ requestKey, block }) => `${requestKey} ${block}`,
  show: (items) =>
    fill(element('transactions'), items, (each) => `${each.requestKey} ${each.block} ${each.isOrphan}`, rowOf),
  more: element<HTMLButtonElement>('more'),
  onStatus: (text) => write('told', text),
  noun: 'transaction',
})

const chain = () => element<HTMLSelectElement>('chain').value

function rowOf(each: ListedTransaction): HTMLElement {
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
    make('span', { class: 'note' }, `${each.sender || 'nobody'} · ${groupDigits(each.gas)} gas`),
    ...(each.fault === undefined ? [] : [make('span', { class: 'fault' }, each.fault)]),
  )
}

const showTrouble = troubleIn('told')
const restart = () => void list.restart().catch(showTrouble)
const renew = oneAtATime(() => list.renew().catch(showTrouble))

openFrame({
  onStart: ({ view }) => {
    fillChains('chain', view.heads.length, pagePlace().get('chain') ?? '', 'all chains').addEventListener(
      'change',
      () => {
        notePlace({ chain: chain() })
        restart()
      },
    )
    restart()
  },
  onChange: (_state, change, isReorganised) => {
    // Transactions of lost blocks are orphaned, on older pages too.
    if (isReorganised) restart()
    else if (change.heads !== undefined || change.blocks !== undefined) renew()
  },
})
