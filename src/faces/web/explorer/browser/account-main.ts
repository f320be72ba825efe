/** The page of an account: its coins and guard on all chains, its transfers, and the transactions that it paid for. */
import { exactSum } from '#ground/base/coins.ts'
import type {
  AccountDetails,
  EventPage,
  ListedEvent,
  ListedTransaction,
  TransactionPage,
} from '#ground/schema/lookup.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { tidyCoins } from '../../kit/numbers.ts'
import { askNode } from './ask.ts'
import { listedEventRow } from './event-row.ts'
import { oneAtATime, openFrame, troubleIn } from './frame.ts'
import { PagedList } from './paged-list.ts'
import { accountLink, fragment, pagePlace } from './place.ts'
import { pathWith } from './query.ts'
import type { NodeState } from './state.ts'
import { transactionRow } from './transaction-row.ts'
import { guardText } from './value-text.ts'

/** Items of the first page of a list. */
const LISTED = 20

let account = ''
let state: NodeState | null = null

const transfers = new PagedList<ListedEvent>({
  read: async (next) => {
    const query = { name: 'TRANSFER', account, limit: LISTED, next }
    const { events, ...page } = await askNode<EventPage>(pathWith('/devnet/events', query))
    return { items: events, ...page }
  },
  keyOf: ({ block, index }) => `${block} ${index}`,
  show: (items) => fill(element('transfers'), items, ({ block, index }) => `${block} ${index}`, listedEventRow),
  more: element<HTMLButtonElement>('more-transfers'),
  onStatus: (text) => write('transfers-note', text),
  noun: 'transfer',
})

const transactions = new PagedList<ListedTransaction>({
  read: async (next) => {
    const query = { sender: account, limit: LISTED, next }
    const { transactions: items, ...page } = await askNode<TransactionPage>(pathWith('/devnet/transactions', query))
    return { items, ...page }
  },
  keyOf: ({ requestKey, block }) => `${requestKey} ${block}`,
  show: (items) =>
    fill(element('transactions'), items, (each) => `${each.requestKey} ${each.block} ${each.isOrphan}`, transactionRow),
  more: element<HTMLButtonElement>('more-transactions'),
  onStatus: (text) => write('transactions-note', text),
  noun: 'transaction',
})

const renewLists = oneAtATime(async () => {
  await transfers.renew().catch(troubleIn('transfers-note'))
  await transactions.renew().catch(troubleIn('transactions-note'))
})

function restartLists(): void {
  void transfers.restart().catch(troubleIn('transfers-note'))
  void transactions.restart().catch(troubleIn('transactions-note'))
}

const renewBalances = oneAtATime(async () => {
  const wanted = account
  try {
    const found = await askNode<AccountDetails>(pathWith('/devnet/account', { account: wanted }))
    if (wanted === account) showBalances(found)
  } catch (error) {
    troubleIn('balances-note')(error)
  }
})

function showBalances({ chains }: AccountDetails): void {
  const held = chains.filter(({ balance }) => balance !== null)
  const places = held.length === 1 ? '1 chain' : `${held.length} chains`
  write('total', tidyCoins(exactSum(held.map(({ balance }) => balance ?? '0'))))
  write(
    'balances-note',
    held.length === 0
      ? 'No chain of this network has this account. The first transfer that names its guard creates it.'
      : `on ${places} of ${chains.length}`,
  )
  fill(
    element('balances'),
    chains,
    ({ chain }) => String(chain),
    ({ chain }) => make('li', {}, make('span', {}, `chain ${chain}`), make('span', { class: 'coins' })),
    (row, { balance }) => {
      write(row.children[1], balance === null ? 'none' : tidyCoins(balance))
    },
  )
  showGuards(held)
}

/** Shows each guard once, with its chains unless it is the only one. */
function showGuards(held: AccountDetails['chains']): void {
  const guards = new Map<string, number[]>()
  for (const { chain, guard } of held) {
    const text = guardText(guard)
    guards.set(text, [...(guards.get(text) ?? []), chain])
  }
  const rowOf = ([text, chains]: [string, number[]]) =>
    make(
      'li',
      {},
      make('code', {}, text),
      ...(guards.size === 1 ? [] : [make('span', { class: 'note' }, ` chains ${chains.join(', ')}`)]),
    )
  fill(element('guards'), [...guards], ([text, chains]) => `${text} ${chains.join()}`, rowOf)
  element('guards-none').hidden = held.length > 0
}

/** Opens what the address of the page names. */
function openAccount(): void {
  account = decodeURIComponent(location.hash.slice(1)) || (pagePlace().get('account') ?? '')
  element('known').hidden = account === ''
  element('unknown').hidden = account !== ''
  write('account', account)
  document.title = account === '' ? 'newcut · account' : `newcut · ${account}`
  if (account === '') {
    showChoice()
    return
  }
  element<HTMLAnchorElement>('all-transactions').href = `/explorer/transactions${fragment({ sender: account })}`
  element<HTMLAnchorElement>('pay').href =
    `/explorer/send${fragment({ module: 'coin', function: 'transfer', receiver: account })}`
  renewBalances()
  restartLists()
}

/** Lists the accounts that the node shows. */
function showChoice(): void {
  const accounts = state?.view.accounts ?? []
  fill(
    element('choice'),
    accounts,
    (each) => each.account,
    (each) => make('li', {}, accountLink(each.account)),
  )
}

addEventListener('hashchange', openAccount)
openFrame({
  onStart: (now) => {
    state = now
    openAccount()
  },
  onChange: (now, { heads, blocks }, isReorganised) => {
    state = now
    if (account === '' || (heads === undefined && blocks === undefined && !isReorganised)) return
    renewBalances()
    // Lost blocks take their transfers with them, on older pages too.
    if (isReorganised) restartLists()
    else renewLists()
  },
})
