/** Links between the pages. The fragment of a page names its content, so that it can be opened again and shared. */
import { make } from '../../kit/dom.ts'
import { hashStart } from '../../kit/numbers.ts'

type Parameters = Readonly<Record<string, string | number | null | undefined>>

/** Parameters in the fragment of this page, or in its query if it has no fragment: other programs write such links. */
export const pagePlace = () => new URLSearchParams(location.hash.slice(1) || location.search)

/** Fragment with those parameters that have a value. */
export function fragment(parameters: Parameters): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** Replaces the fragment without a new entry in the history. */
export function notePlace(parameters: Parameters): void {
  history.replaceState(null, '', location.pathname + fragment(parameters))
}

export const transactionUrl = (requestKey: string) => `/explorer/transaction#${encodeURIComponent(requestKey)}`

export const moduleUrl = (chain: number, module: string, more: Parameters = {}) =>
  `/explorer/contracts${fragment({ chain, module, ...more })}`

/** The page of an account. Other programs may link to it by `?account=NAME`. */
export const accountUrl = (account: string) => `/explorer/account#${encodeURIComponent(account)}`

/** A block opens on the first page. Without a hash, the one of the chain at this height. */
export const blockUrl = (chain: number, height: number, block?: string) => `/${fragment({ chain, height, block })}`

/** The end of a name that a list has cut. */
const CUT = '…'

/** A link to an account that a list names; only its text if the list has cut the name, or names none. */
export function accountLink(account: string, text = account): HTMLElement | string {
  if (account === '') return 'nobody'
  return account.endsWith(CUT) ? text : make('a', { class: 'account', href: accountUrl(account), title: account }, text)
}

/** A name that fits into a column. */
export const shortAccount = (account: string) =>
  account.length > 20 ? `${account.slice(0, 10)}…${account.slice(-4)}` : account

/** A link with the short form of a request key. */
export function transactionLink(requestKey: string): HTMLAnchorElement {
  return make('a', { class: 'hash', href: transactionUrl(requestKey), title: requestKey }, hashStart(requestKey))
}
