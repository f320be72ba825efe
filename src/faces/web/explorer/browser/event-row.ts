/** Shows an event: its name with a link to its capability, and its parameters. */
import { make } from '../../kit/dom.ts'
import { briefValue } from './value-text.ts'

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
export function eventText({ module, name, params }: { module: string; name: string; params: readonly unknown[] }) {
  const qualified = `${module}.${name}`
  const href = `/explorer/events#${new URLSearchParams({ name: qualified })}`
  return [
    make('a', { class: 'event-name', href }, qualified),
    ' ',
    make('code', { class: 'params' }, params.map(briefValue).join(' ')),
  ]
}
