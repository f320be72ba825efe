/** Shows an event: its name with a link to its capability, and its parameters. */
import type { ListedEvent } from '#ground/schema/lookup.ts'
import { make } from '../../kit/dom.ts'
import { groupDigits, timeOfDay } from '../../kit/numbers.ts'
import { accountLink, transactionLink } from './place.ts'
import { briefValue } from './value-text.ts'

/** Events of tokens whose first two parameters are accounts. */
const TRANSFERS: readonly string[] = ['TRANSFER', 'TRANSFER_XCHAIN']
const ACCOUNTS = 2

/** An event as results have it. */
export interface ResultEvent {
  readonly name: string
  readonly params: readonly unknown[]
  readonly module: { readonly namespace: string | null; readonly name: string }
}

export function eventRow({ name, params, module: { namespace, name: bare } }: ResultEvent): HTMLElement {
  const module = namespace === null ? bare : `${namespace}.${bare}`
  return make('li', {}, ...eventText({ module, name, params }))
}

/** `coin.TRANSFER "a" "b" 1.5`, whose name links to events of this name. */
function eventText({ module, name, params }: { module: string; name: string; params: readonly unknown[] }) {
  const qualified = `${module}.${name}`
  const href = `/explorer/events#${new URLSearchParams({ name: qualified })}`
  return [
    make('a', { class: 'event-name', href }, qualified),
    ' ',
    make(
      'code',
      { class: 'params' },
      ...params.flatMap((value, i) => [...(i === 0 ? [] : [' ']), valuePart(name, value, i)]),
    ),
  ]
}

function valuePart(event: string, value: unknown, place: number): HTMLElement | string {
  const text = briefValue(value)
  const isAccount = TRANSFERS.includes(event) && place < ACCOUNTS && typeof value === 'string' && value !== ''
  return isAccount ? accountLink(value, text) : text
}

/** An event of a list, with its place. */
export function listedEventRow(each: ListedEvent): HTMLElement {
  const { requestKey, chain, height, createdMs } = each
  return make(
    'li',
    {},
    transactionLink(requestKey),
    make('span', { class: 'where' }, `chain ${chain} · height ${groupDigits(height)} · ${timeOfDay(createdMs)}`),
    make('span', { class: 'event' }, ...eventText(each)),
  )
}
