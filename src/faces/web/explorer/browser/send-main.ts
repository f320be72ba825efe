/** The page that sends a command: fields, a trial, and the way into a block. */
import { element, write } from '../../kit/dom.ts'
import { textOfError } from './ask.ts'
import { FieldFault } from './field-fault.ts'
import { fillChains, oneAtATime, openFrame, troubleIn } from './frame.ts'
import { Keyring } from './keyring.ts'
import { chainPath, creationSeconds } from './node-calls.ts'
import { OwnKeys } from './own-key.ts'
import { pagePlace } from './place.ts'
import { SendForm } from './send-form.ts'
import { showSigning, suggestSigners, takeAccounts } from './signers.ts'
import { signedDraft } from './signing.ts'
import type { NodeState } from './state.ts'
import { SendTrial } from './trial.ts'

let state: NodeState | null = null
const keyring: Keyring = new Keyring(() => {
  form.signatures.relist()
  ownKeys.show()
  suggestSigners(keyring)
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

const follow = oneAtATime(() => trial.follow().catch(() => undefined))

/** Shows the part of the state that only browsers on the machine of the node get. */
function showStatus(): void {
  showSigning(keyring, state?.view.status)
  element('unchecked').hidden = !keyring.isUnchecked
}

suggestSigners(keyring)
element('send-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void tryOut()
})
element('send-form').addEventListener('input', () => trial.reset())

openFrame({
  onStart: (now) => {
    state = now
    const place = pagePlace()
    fillChains('chain', now.view.heads.length, place.get('chain') ?? '0')
    form.open(place, now.view.heads.length)
    showStatus()
    takeAccounts(keyring, now.view, 'module-fault')
    form.listModules().catch(troubleIn('module-fault'))
    void form.openModule(place.get('function') ?? 'transfer')
  },
  onChange: (now, { heads }) => {
    state = now
    showStatus()
    if (heads !== undefined) follow()
  },
})
