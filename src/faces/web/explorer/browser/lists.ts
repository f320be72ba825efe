/** Shows the lists: pending and executed transactions, accounts, requests. */
import { exactSum } from '#ground/base/coins.ts'
import { formatDuration } from '#ground/base/units.ts'
import type { PendingView } from '#ground/schema/lookup.ts'
import type { AccountView, ExecutedView, RequestView } from '#ground/schema/view.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { groupDigits, hashStart, tidyCoins, timeOfDay } from '../../kit/numbers.ts'
import { accountLink, accountUrl, shortAccount } from './place.ts'
import type { NodeState } from './state.ts'

export interface ListOptions {
  readonly openTransaction: (chain: number, key: string) => void
}

/** Limit of listed requests, and of printed texts. */
export const SHOWN_LINES = 60

export function showPool({ view: { pool } }: NodeState, nowMs: number, { openTransaction }: ListOptions): void {
  const size = pool.sizes.reduce((a, b) => a + b, 0)
  const chains = pool.sizes.flatMap((each, chain) => (each === 0 ? [] : [`chain ${chain}: ${groupDigits(each)}`]))
  write('pool-size', size === 0 ? 'empty' : `${groupDigits(size)} waiting`)
  write('pool-chains', chains.join(' · '))
  element('pool-none').hidden = size > 0
  const rowOf = (each: PendingView) => {
    const price = `${each.gasPrice} a gas, at most ${groupDigits(each.gasLimit)}`
    return make(
      'li',
      {},
      keyButton(each.key, () => openTransaction(each.chain, each.key)),
      make('span', { class: 'where' }, `chain ${each.chain}`),
      make('span', { class: 'age' }),
      make('code', { class: 'what', title: each.what }, each.what),
      make('span', { class: 'note' }, accountLink(each.sender), ` · ${price}`),
    )
  }
  const list = element('pool')
  fill(list, pool.newest, ({ key, sinceMs }) => `${key}${sinceMs}`, rowOf)
  for (const [i, { sinceMs }] of pool.newest.entries()) {
    const age = list.children[i].querySelector('.age')
    if (age !== null) write(age, formatDuration(Math.max(0, 1000 * Math.floor((nowMs - sinceMs) / 1000))))
  }
}

export function showExecuted({ view: { transactions } }: NodeState, { openTransaction }: ListOptions): void {
  element('executed-none').hidden = transactions.length > 0
  const rowOf = (each: ExecutedView) => {
    const outcome = each.isOrphan ? 'orphaned' : each.status
    return make(
      'li',
      { 'data-outcome': outcome },
      keyButton(each.key, () => openTransaction(each.chain, each.key)),
      make('span', { class: 'where' }, `chain ${each.chain} · height ${groupDigits(each.height)}`),
      make('b', { class: 'outcome' }, outcome),
      make('code', { class: 'what', title: each.what }, each.what),
      make('span', { class: 'note' }, accountLink(each.sender), ` · ${groupDigits(each.gas)} gas`),
      ...(each.fault === undefined ? [] : [make('span', { class: 'fault' }, each.fault)]),
    )
  }
  fill(element('executed'), transactions, ({ key, block, isOrphan }) => `${key}${block}${isOrphan}`, rowOf)
}

function keyButton(key: string, open: () => void): HTMLElement {
  const button = make('button', { type: 'button', class: 'hash', title: key }, hashStart(key))
  button.addEventListener('click', open)
  return button
}

export function showAccounts({ view: { accounts, heads } }: NodeState): void {
  const body = element('accounts')
  element('accounts-none').hidden = accounts.length > 0
  const rowOf = ({ account }: AccountView) => {
    const chains = make('ol', { class: 'balances' })
    const summary = make(
      'summary',
      {},
      make('span', { class: 'name', title: account }, shortAccount(account)),
      make('span', { class: 'coins' }),
    )
    const link = make('a', { href: accountUrl(account) }, 'Its transfers and guard')
    return make('li', {}, make('details', {}, summary, chains, make('p', { class: 'note more' }, link)))
  }
  fill(body, accounts, ({ account }) => account, rowOf)
  for (const [i, { balances }] of accounts.entries()) {
    const row = body.children[i]
    const total = row.querySelector('.coins')
    if (total !== null) write(total, tidyCoins(exactSum(balances.filter((each) => each !== null))))
    const list = row.querySelector<HTMLElement>('.balances')
    if (list === null) continue
    const chains = heads.map(({ chain }) => chain)
    fill(list, chains, String, (chain) => {
      return make('li', {}, make('span', {}, `chain ${chain}`), make('span', { class: 'coins' }))
    })
    for (const [chain, balance] of balances.entries()) {
      const coins = list.children[chain]?.querySelector('.coins')
      if (coins) write(coins, balance === null ? 'no account' : tidyCoins(balance))
    }
  }
}

export function showRequests({ requests, view }: NodeState): void {
  element('requests-section').hidden = view.status === undefined
  element('requests-none').hidden = requests.length > 0
  const prefix = `/${view.network.product}/0.0/${view.network.name}`
  const rowOf = ({ atMs, method, path, status, ms }: RequestView) =>
    make(
      'tr',
      { 'data-class': String(Math.floor(status / 100)) },
      make('td', {}, timeOfDay(atMs)),
      make('td', {}, method),
      make('td', { class: 'path', title: path }, path.replace(prefix, '…')),
      make('td', { class: 'number status' }, String(status)),
      make('td', { class: 'number' }, ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : formatDuration(ms)),
    )
  fill(element('requests'), requests.slice(-SHOWN_LINES).toReversed(), ({ id }) => String(id), rowOf)
}
