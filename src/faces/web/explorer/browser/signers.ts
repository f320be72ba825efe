/** The accounts that may sign, in pages that send commands. */
import type { NodeView } from '#ground/schema/view.ts'
import { element, make } from '../../kit/dom.ts'
import { troubleIn } from './frame.ts'
import type { Keyring } from './keyring.ts'
import { publishedAccounts } from './node-calls.ts'

/** Lists the signers as suggestions for fields. */
export function suggestSigners({ signers }: Keyring): void {
  element('known-accounts').replaceChildren(...signers.map(({ name }) => make('option', { value: name })))
}

/**
 * Takes the accounts that the node funded. Only browsers on its machine get them.
 * @param trouble id of the element that says why there are none
 */
export function takeAccounts(keyring: Keyring, { status }: NodeView, trouble: string): void {
  if (status !== undefined) publishedAccounts().then((known) => keyring.publish(known), troubleIn(trouble))
}

/** Shows whether the browser may sign here, and takes the keys that the node does not check. */
export function showSigning(keyring: Keyring, status: NodeView['status']): void {
  element('not-here').hidden = status !== undefined
  keyring.impersonate(status?.impersonated ?? [])
}
