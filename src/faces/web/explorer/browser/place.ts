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

/** A link with the short form of a request key. */
export function transactionLink(requestKey: string): HTMLAnchorElement {
  return make('a', { class: 'hash', href: transactionUrl(requestKey), title: requestKey }, hashStart(requestKey))
}
