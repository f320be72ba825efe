/** The page that sends a command: fields, a trial, and the way into a block. */
import type { NodeView } from '#ground/schema/view.ts'
import { element, write } from '../../kit/dom.ts'
import { textOfError } from './ask.ts'
import { FieldFault } from './field-fault.ts'
import { markFields, unmarkOnInput } from './fields.ts'
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

const UNKNOWN = { product: '', name: '' }

/**
 * The parts of the page, and what passes between them:
 * 1. The keyring has the keys of the page; a change of it renews the signers that the form offers.
 * 2. The form has the fields. A change of them ends the trial, because the trial was of another command.
 * 3. The trial runs the command, sends it, and follows it into a block.
 */
class SendPage {
  readonly #keyring = new Keyring(() => this.#showKeys())
  readonly #form: SendForm
  readonly #ownKeys: OwnKeys
  readonly #trial: SendTrial
  readonly #follow = oneAtATime(() => this.#trial.follow().catch(() => undefined))
  /** State of the node; null before its first answer. */
  #state: NodeState | null = null

  constructor() {
    this.#form = new SendForm(this.#keyring, {
      network: () => this.#state?.view.network ?? null,
      onChange: () => this.#trial.reset(),
    })
    this.#ownKeys = new OwnKeys(this.#keyring, (signer) => this.#form.signatures.add(signer.name).account.focus())
    this.#trial = new SendTrial({
      chainPath: (chain) => chainPath(this.#state?.view.network ?? UNKNOWN, chain),
      onSuggest: (account, capability) => {
        this.#form.signatures.addCapability(account, capability)
        void this.#tryOut()
      },
    })
    suggestSigners(this.#keyring)
    const fields = element('send-form')
    fields.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#tryOut()
    })
    fields.addEventListener('input', () => this.#trial.reset())
    unmarkOnInput(fields)
  }

  /** Takes the first state of the node, and fills the fields from the address of the page. */
  start(state: NodeState): void {
    const { view } = state
    const place = pagePlace()
    this.#state = state
    fillChains('chain', view.heads.length, place.get('chain') ?? '0')
    this.#form.open(place, view.heads.length)
    this.#showStatus(state)
    takeAccounts(this.#keyring, view, 'module-fault')
    this.#form.listModules().catch(troubleIn('module-fault'))
    void this.#form.openModule(place.get('function') ?? 'transfer')
  }

  /** Takes a later state. New heads may include the command that was sent. */
  update(state: NodeState, { heads }: Partial<NodeView>): void {
    this.#state = state
    this.#showStatus(state)
    if (heads !== undefined) this.#follow()
  }

  /** Tries out the command of the form with the signatures of the page. */
  async #tryOut(): Promise<void> {
    write('form-fault', '')
    for (const each of element('send-form').querySelectorAll('[aria-invalid]')) each.removeAttribute('aria-invalid')
    this.#trial.reset()
    try {
      const read = this.#form.read(this.#state?.view.network.name ?? '')
      const draft = { ...read, creationTime: await creationSeconds() }
      await this.#trial.run(draft, await signedDraft(draft))
    } catch (error) {
      if (error instanceof FieldFault) markFields(error)
      write('form-fault', textOfError(error))
    }
  }

  #showKeys(): void {
    this.#form.signatures.relist()
    this.#ownKeys.show()
    suggestSigners(this.#keyring)
    this.#trial.reset()
  }

  /** Shows the part of the state that only browsers on the machine of the node get. */
  #showStatus({ view }: NodeState): void {
    showSigning(this.#keyring, view.status)
    element('unchecked').hidden = !this.#keyring.isUnchecked
  }
}

const page = new SendPage()
openFrame({
  onStart: (state) => page.start(state),
  onChange: (state, change) => page.update(state, change),
})
