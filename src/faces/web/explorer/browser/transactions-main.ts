/** The list of all transactions, newest first: those in blocks, or those that wait for one. */
import type { ListedTransaction, PendingView, TransactionPage } from '#ground/schema/lookup.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { askNode } from './ask.ts'
import { fillChains, oneAtATime, openFrame, troubleIn } from './frame.ts'
import { PagedList } from './paged-list.ts'
import { notePlace, pagePlace } from './place.ts'
import { pathWith } from './query.ts'
import { pendingRow, transactionRow } from './transaction-row.ts'

const PATH = '/devnet/transactions'
const PENDING = 'pending'
/** Maximum number of pending ones that the node lists. */
const MAX_PENDING = 200
/** Time between the last letter of a filter and the request. */
const TYPING_MS = 250

type Item = ListedTransaction | PendingView

const chain = () => element<HTMLSelectElement>('chain').value
const status = () => element<HTMLSelectElement>('status').value
const sender = () => element<HTMLInputElement>('sender').value.trim()
const isPending = (item: Item): item is PendingView => 'sinceMs' in item

const versionOf = (item: Item) =>
  isPending(item) ? `${item.key} ${item.sinceMs}` : `${item.requestKey} ${item.block} ${item.isOrphan}`

const list = new PagedList<Item>({
  read: async (next) => {
    const query = { chain: chain(), sender: sender(), status: status(), next }
    const limit = status() === PENDING ? MAX_PENDING : null
    const { transactions, pending = [], ...page } = await askNode<TransactionPage>(pathWith(PATH, { ...query, limit }))
    return { items: [...pending, ...transactions], ...page }
  },
  keyOf: (item) => (isPending(item) ? item.key : `${item.requestKey} ${item.block}`),
  show: (items) =>
    fill(element('transactions'), items, versionOf, (each) =>
      isPending(each) ? pendingRow(each) : transactionRow(each),
    ),
  more: element<HTMLButtonElement>('more'),
  onStatus: (text) => write('told', text),
  noun: 'transaction',
  describeNone: () => (status() + sender() === '' ? 'No transaction yet.' : 'No such transaction.'),
})

const showTrouble = troubleIn('told')
const restart = () => void list.restart().catch(showTrouble)
const renew = oneAtATime(() => list.renew().catch(showTrouble))

let typing: ReturnType<typeof setTimeout> | undefined
const restartFiltered = () => {
  clearTimeout(typing)
  notePlace({ chain: chain(), sender: sender(), status: status() })
  restart()
}
element('filter-form').addEventListener('submit', (event) => {
  event.preventDefault()
  restartFiltered()
})
element('sender').addEventListener('input', () => {
  clearTimeout(typing)
  typing = setTimeout(restartFiltered, TYPING_MS)
})
for (const id of ['chain', 'status']) element(id).addEventListener('change', restartFiltered)
addEventListener('hashchange', () => {
  fromPlace()
  restart()
})

function fromPlace(): void {
  const place = pagePlace()
  element<HTMLInputElement>('sender').value = place.get('sender') ?? ''
  for (const id of ['chain', 'status']) {
    const choice = element<HTMLSelectElement>(id)
    choice.value = place.get(id) ?? ''
    if (choice.selectedIndex < 0) choice.selectedIndex = 0
  }
}

openFrame({
  onStart: ({ view }) => {
    fillChains('chain', view.heads.length, '', 'all chains')
    element('known-accounts').replaceChildren(...view.accounts.map(({ account }) => make('option', { value: account })))
    fromPlace()
    restart()
  },
  onChange: (_state, { heads, blocks, pool }, isReorganised) => {
    // Transactions of lost blocks are orphaned, on older pages too.
    if (isReorganised) restart()
    else if (heads !== undefined || blocks !== undefined || (pool !== undefined && status() === PENDING)) renew()
  },
})
