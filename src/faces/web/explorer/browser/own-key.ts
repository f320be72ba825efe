/** The field for a secret key that only this page gets to know, and the list of such keys. */
import { element, fill, make, write } from '../../kit/dom.ts'
import { textOfError } from './ask.ts'
import type { Keyring } from './keyring.ts'
import type { PageSigner } from './signing.ts'

export class OwnKeys {
  readonly #keyring: Keyring

  /** @param onAdd called with the signer of a new key */
  constructor(keyring: Keyring, onAdd: (signer: PageSigner) => void) {
    this.#keyring = keyring
    element('key-form').addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#add(onAdd)
    })
  }

  /** Shows the keys that there are. */
  show(): void {
    fill(
      element('own-keys'),
      this.#keyring.added,
      ({ name }) => name,
      ({ name }) => {
        const forget = make(
          'button',
          { type: 'button', class: 'small forget', 'aria-label': `forget ${name}` },
          'Forget',
        )
        forget.addEventListener('click', () => {
          this.#keyring.forget(name)
          element('secret-key').focus()
        })
        return make('li', {}, make('code', { class: 'hash', title: name }, name), forget)
      },
    )
  }

  async #add(onAdd: (signer: PageSigner) => void): Promise<void> {
    const field = element<HTMLInputElement>('secret-key')
    const { value } = field
    write('key-fault', '')
    field.removeAttribute('aria-invalid')
    // The field keeps no key, not even a wrong one.
    field.value = ''
    try {
      onAdd(await this.#keyring.add(value))
    } catch (error) {
      write('key-fault', textOfError(error))
      field.setAttribute('aria-invalid', 'true')
      field.focus()
    }
  }
}
