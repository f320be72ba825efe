/** Form fields for the arguments of a call, by their declared types. */

import { quoteForCode } from '#client/wallet/capability.ts'
import { developmentAccounts } from '#ground/chain/development-accounts.ts'
import { make, write } from '../../kit/dom.ts'
import { argumentOf } from './argument.ts'
import { FieldFault } from './field-fault.ts'
import type { Argument } from './literal.ts'

export interface FieldParameter {
  readonly name: string
  /** As written; null for a value of any type. */
  readonly type: string | null
}

/** Data of a message: the keysets that fields describe. */
export type MessageData = Record<string, unknown>

/** Id of the list of known accounts in the page. */
const ACCOUNTS = 'known-accounts'

/** Names of parameters that take an account. */
const ACCOUNT_NAME = /account|sender|receiver|owner|payer|^to$|^from$/i

/** Placeholders by type. */
const EXAMPLES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: '12',
  decimal: '1.5',
  time: '2027-01-31T12:00:00Z',
}

let fields = 0

/** A labelled field with its own complaint. */
export class ArgumentField {
  readonly element: HTMLElement
  readonly #name: string
  readonly #type: string
  readonly #input: HTMLInputElement | HTMLSelectElement
  readonly #keyset: KeysetFields | null
  readonly #fault = make('span', { class: 'fault' })

  constructor({ name, type }: FieldParameter) {
    this.#name = name
    this.#type = type ?? ''
    this.#keyset = type === 'guard' || type === 'keyset' ? new KeysetFields(type) : null
    this.#input = this.#keyset?.choice ?? inputFor(name, this.#type)
    const id = `argument-${++fields}`
    this.#fault.id = `${id}-fault`
    this.#input.setAttribute('aria-describedby', this.#fault.id)
    this.#input.setAttribute('name', name)
    const label = make('span', {}, name, ' ', make('span', { class: 'type' }, type === null ? 'any literal' : type))
    this.element = make(
      'div',
      { class: 'argument', 'data-name': name },
      make('label', {}, label, this.#input),
      ...(this.#keyset === null ? [] : [this.#keyset.element]),
      this.#fault,
    )
  }

  get name(): string {
    return this.#name
  }

  /** Whether the field takes the name of an account, which is never empty. */
  get #isAccount(): boolean {
    return this.#input.hasAttribute('list')
  }

  set text(text: string) {
    this.#input.value = text
  }

  get text(): string {
    return this.#input.value
  }

  /**
   * Reads the field, and shows what is wrong with it.
   * @param data takes keysets
   * @throws FieldFault if the value does not have the type of the argument
   */
  read(data: MessageData): Argument {
    try {
      if (this.#isAccount && this.#input.value === '') throw new FieldFault('the name of an account, such as sender00')
      const argument =
        this.#keyset === null ? argumentOf(this.#type, this.#input.value) : this.#keyset.read(this.#name, data)
      this.#complain('')
      return argument
    } catch (error) {
      if (!(error instanceof FieldFault)) throw error
      this.#complain(`expected ${error.message}`)
      throw new FieldFault(`${this.#name}: expected ${error.message}`, { cause: this.#input })
    }
  }

  #complain(text: string): void {
    write(this.#fault, text)
    this.#input.toggleAttribute('aria-invalid', false)
    if (text !== '') this.#input.setAttribute('aria-invalid', 'true')
  }
}

function inputFor(name: string, type: string): HTMLInputElement | HTMLSelectElement {
  if (type === 'bool') return make('select', {}, make('option', {}, 'true'), make('option', {}, 'false'))
  const isNumber = type === 'integer' || type === 'decimal'
  const isAccount = type === 'string' && ACCOUNT_NAME.test(name)
  return make('input', {
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder:
      (isAccount ? 'account' : EXAMPLES[type]) ??
      (type.startsWith('module') ? 'free.token' : type.startsWith('[') ? '["a" "b"]' : '{"field": 1}'),
    ...(isNumber && { inputmode: type === 'integer' ? 'numeric' : 'decimal' }),
    ...(isAccount && { list: ACCOUNTS }),
  })
}

const OTHER_KEYS = 'keys'
const NAMED = 'named'

/** Fields of a guard: the key of a known account, other keys, or a keyset of the network. */
class KeysetFields {
  readonly choice: HTMLSelectElement
  readonly element = make('div', { class: 'keyset' })
  readonly #type: string
  readonly #keys = make('textarea', {
    rows: '2',
    spellcheck: 'false',
    placeholder: 'public keys, one a line',
    'aria-label': 'public keys',
  })
  readonly #predicate = make(
    'select',
    { 'aria-label': 'predicate' },
    ...['keys-all', 'keys-any', 'keys-2'].map((each) => make('option', {}, each)),
  )
  readonly #name = make('input', { spellcheck: 'false', placeholder: 'free.admin', 'aria-label': 'name of the keyset' })

  constructor(type: string) {
    this.#type = type
    const accounts = developmentAccounts.map(({ account }) => make('option', { value: account }, `key of ${account}`))
    const others = [
      make('option', { value: OTHER_KEYS }, 'other keys'),
      make('option', { value: NAMED }, 'a named keyset'),
    ]
    this.choice = make('select', {}, ...accounts, ...(type === 'guard' ? others : others.slice(0, 1)))
    this.choice.addEventListener('change', () => this.#show())
  }

  #show(): void {
    const { value } = this.choice
    const shown = value === OTHER_KEYS ? [this.#keys, this.#predicate] : value === NAMED ? [this.#name] : []
    this.element.replaceChildren(...shown)
  }

  /** @param data gets the keyset under the name of the parameter */
  read(parameter: string, data: MessageData): Argument {
    const { value } = this.choice
    if (value === NAMED && this.#type === 'guard') {
      const name = this.#name.value.trim()
      if (name === '') throw new FieldFault('the name of a keyset, such as free.admin')
      const [first, second] = name.split('.')
      const ref = second === undefined ? { ns: null, ksn: first } : { ns: first, ksn: second }
      return { code: `(keyset-ref-guard ${quoteForCode(name)})`, json: { keysetref: ref } }
    }
    const known = developmentAccounts.find(({ account }) => account === value)
    const keys = known === undefined ? keysIn(this.#keys.value) : [known.publicKey]
    const keyset = { keys, pred: known === undefined ? this.#predicate.value : 'keys-all' }
    data[parameter] = keyset
    return { code: `(read-keyset ${quoteForCode(parameter)})`, json: keyset }
  }
}

function keysIn(text: string): string[] {
  const keys = text.split(/[\s,]+/).filter((key) => key !== '')
  const wrong = keys.find((key) => !/^[0-9a-f]{64}$/i.test(key))
  if (wrong !== undefined) throw new FieldFault(`public keys of 64 hex digits: ${wrong.slice(0, 20)} is none`)
  if (keys.length === 0) throw new FieldFault('at least one public key of 64 hex digits')
  return keys
}
