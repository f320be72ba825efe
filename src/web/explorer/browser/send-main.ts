/** The page that sends a command: fields, a trial, and the way into a block. */
import { element, make, write } from '../../kit/dom.ts'
import { textOfError } from './ask.ts'
import { fillChains, once, openFrame } from './frame.ts'
import { Keyring } from './keyring.ts'
import { FieldFault } from './literal.ts'
import { chainPath, creationSeconds, publishedAccounts } from './node-calls.ts'
import { OwnKeys } from './own-key.ts'
import { placeOf } from './place.ts'
import { SendForm } from './send-form.ts'
import { signedDraft } from './signing.ts'
import type { NodeState } from './state.ts'
import { SendTrial } from './trial.ts'

let state: NodeState | null = null
const keyring: Keyring = new Keyring(() => {
  form.signatures.relist()
  ownKeys.show()
  showAccounts()
  trial.reset()
})
const form = new SendForm(keyring, { network: () => state?.view.network ?? null, onChange: () => trial.reset() })
const ownKeys = new OwnKeys(keyring, (signer) => form.signatures.add(signer.name).account.focus())
const trial = new SendTrial({
  chainPath: (chain) => chainPath(state?.view.network ?? { product: '', name: '' }, chain),
  onSuggest: (account, capability) => {
    form.signatures.addCapability(account, capability)
    void tryOut()
  },
})

async function tryOut(): Promise<void> {
  write('form-fault', '')
  trial.reset()
  try {
    const read = form.read(state?.view.network.name ?? '')
    const draft = { ...read, creationTime: await creationSeconds() }
    await trial.run(draft, await signedDraft(draft))
  } catch (error) {
    if (error instanceof FieldFault && error.cause instanceof HTMLElement) error.cause.focus()
    write('form-fault', textOfError(error))
  }
}

const follow = once(() => trial.follow().catch(() => undefined))

function showAccounts(): void {
  element('known-accounts').replaceChildren(...keyring.signers.map(({ name }) => make('option', { value: name })))
}

/** Shows the part of the state that only browsers on the machine of the node get. */
function showStatus(): void {
  const { status } = state?.view ?? {}
  element('not-here').hidden = status !== undefined
  keyring.impersonate(status?.impersonated ?? [])
  element('unchecked').hidden = !keyring.isUnchecked
}

showAccounts()
element('send-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void tryOut()
})
element('send-form').addEventListener('input', () => trial.reset())

openFrame({
  onStart: (now) => {
    state = now
    const place = placeOf()
    fillChains('chain', now.view.heads.length, place.get('chain') ?? '0')
    form.open(place, now.view.heads.length)
    showStatus()
    const showTrouble = (error: unknown) => write('module-fault', textOfError(error))
    if (now.view.status !== undefined) publishedAccounts().then((known) => keyring.publish(known), showTrouble)
    form.listModules().catch(showTrouble)
    void form.openModule(place.get('function') ?? 'transfer')
  },
  onChange: (now, { heads }) => {
    state = now
    showStatus()
    if (heads !== undefined) follow()
  },
})
