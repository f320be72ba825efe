/** Form rows for signatures: who signs, and what each signature covers. */

import type { Capability } from '#client/wallet/capability.ts'
import type { ExactJson } from '#ground/base/json.ts'
import type { CallableFunction } from '#ground/schema/lookup.ts'
import { make, write } from '../../kit/dom.ts'
import { capabilityOf } from './argument.ts'
import { ArgumentField } from './argument-field.ts'
import { FieldFault, FieldReader, FormFault } from './field-fault.ts'
import { type Keyring, uncheckedSigner } from './keyring.ts'
import type { DraftSigner, PageSigner } from './signing.ts'

/** A capability that a row offers. */
export interface OfferedCapability {
  /** With its module. */
  readonly name: string
  readonly params: CallableFunction['params']
}

const ALL = ''
const OTHER = 'other'
const GAS = 'coin.GAS'
/** Signer of a row whose public key is in a field. No account has an empty name. */
const ANY_KEY = ''
const PUBLIC_KEY = /^(?:k:)?([0-9a-f]{64})$/i

/** A row: one signer, and everything or one capability. */
class SignatureRow {
  readonly element: HTMLElement
  readonly account = make('select', { 'aria-label': 'account that signs' })
  readonly #keyPart = make('div')
  readonly #key = make('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: 'public key that signs, 64 hex digits',
    'aria-label': 'public key',
  })
  readonly scope = make('select', { 'aria-label': 'what the signature covers' })
  readonly #args = make('div', { class: 'arguments' })
  readonly #other = make('input', {
    spellcheck: 'false',
    placeholder: '(coin.TRANSFER "alice" "bob" 1.5)',
    'aria-label': 'capability',
  })
  readonly #fault = make('span', { class: 'fault' })
  #fields: readonly ArgumentField[] = []

  constructor(onScope: (row: SignatureRow) => void, onRemove: (row: SignatureRow) => void) {
    const remove = make('button', { type: 'button', class: 'small', 'aria-label': 'remove this signature' }, 'Remove')
    remove.addEventListener('click', () => onRemove(this))
    this.scope.addEventListener('change', () => onScope(this))
    this.account.addEventListener('change', () => this.#showKey())
    this.element = make(
      'li',
      {},
      make('div', { class: 'row' }, this.account, this.scope, remove),
      this.#keyPart,
      this.#args,
      this.#fault,
    )
  }

  /** Lists the signers. @param chosen name of the one to choose; default: the current one, if it is still there */
  list({ signers, isUnchecked }: Keyring, chosen = this.account.value): void {
    const groups = new Map<string, HTMLOptGroupElement>()
    for (const { name, group } of signers) {
      const known = groups.get(group) ?? make('optgroup', { label: group })
      known.append(make('option', { value: name }, shortName(name)))
      groups.set(group, known)
    }
    const any = isUnchecked ? [make('option', { value: ANY_KEY }, 'any key, not checked')] : []
    this.account.replaceChildren(...groups.values(), ...any)
    this.account.value = chosen
    if (this.account.selectedIndex < 0) this.account.selectedIndex = 0
    this.#showKey()
  }

  #showKey(): void {
    this.#keyPart.replaceChildren(...(this.account.value === ANY_KEY ? [this.#key] : []))
  }

  /** @throws FieldFault for a public key that is none */
  signer(keyring: Keyring): PageSigner {
    const { value } = this.account
    const known = value === ANY_KEY ? undefined : keyring.find(value)
    if (known !== undefined) return known
    const key = PUBLIC_KEY.exec(this.#key.value.trim())?.[1]
    if (key !== undefined) return uncheckedSigner(key.toLowerCase())
    write(this.#fault, 'expected a public key of 64 hex digits')
    throw new FieldFault('signature: expected a public key of 64 hex digits', { cause: this.#key })
  }

  /** @param chosen capability to choose; default: the current one, if it is still offered */
  offer(offered: readonly OfferedCapability[], chosen = this.scope.value): void {
    const options = offered.map(({ name }) => make('option', { value: name }, name))
    const first = make('option', { value: ALL }, 'signs everything')
    this.scope.replaceChildren(first, ...options, make('option', { value: OTHER }, 'another capability'))
    this.scope.value = chosen
    if (this.scope.selectedIndex < 0) this.scope.value = ALL
    this.show(offered)
  }

  /** Shows the fields of the chosen capability. */
  show(offered: readonly OfferedCapability[]): void {
    const { value } = this.scope
    const params = offered.find(({ name }) => name === value)?.params ?? []
    this.#fields = params.map((each) => new ArgumentField(each))
    this.#args.replaceChildren(...(value === OTHER ? [this.#other] : this.#fields.map(({ element }) => element)))
  }

  /** Chooses a capability in source form: in its fields where it is offered, else as text. */
  write(account: string, text: string, offered: readonly OfferedCapability[]): void {
    const { name, args } = capabilityOf(text)
    const texts = args.map(fieldText)
    const params = offered.find((each) => each.name === name)?.params
    const isOffered = params?.length === texts.length && texts.every((each) => each !== null)
    this.account.value = account
    this.#showKey()
    this.scope.value = isOffered ? name : OTHER
    this.show(offered)
    this.#other.value = text
    if (isOffered) for (const [i, field] of this.#fields.entries()) field.text = texts[i] ?? ''
  }

  /**
   * @returns null for a signature that covers everything.
   * @throws FieldFault
   */
  read(): Capability | null {
    write(this.#fault, '')
    try {
      const { value } = this.scope
      if (value === ALL) return null
      if (value === OTHER) return capabilityOf(this.#other.value)
      // Capabilities take values themselves: nothing is read from the message.
      const reader = new FieldReader()
      const args = this.#fields.map((field) => reader.take<ExactJson>(() => field.read({}).json, null))
      reader.finish()
      return { name: value, args }
    } catch (error) {
      if (!(error instanceof FieldFault)) throw error
      const of = `signature of ${shortName(this.account.value)}`
      if (this.scope.value === OTHER) {
        write(this.#fault, `expected ${error.message}`)
        throw new FieldFault(`${of}: expected ${error.message}`, { cause: this.#other })
      }
      const faults = error instanceof FormFault ? error.faults : [error]
      const named = faults.map(({ message, cause }) => new FieldFault(`${of}: ${message}`, { cause }))
      throw named.length === 1 ? named[0] : new FormFault(named)
    }
  }
}

/** A name that fits into a list. */
const shortName = (name: string) => (name.length > 24 ? `${name.slice(0, 12)}…${name.slice(-4)}` : name)

/** Text of a field for a string, a number or a boolean; null for other values. */
function fieldText(json: unknown): string | null {
  if (typeof json === 'string') return json
  if (typeof json === 'boolean') return String(json)
  const { int, decimal } = json as { readonly int?: unknown; readonly decimal?: unknown }
  return int === undefined && decimal === undefined ? null : String(int ?? decimal)
}

export class Signatures {
  readonly #list: HTMLElement
  readonly #sender: () => string
  readonly #keyring: Keyring
  #rows: readonly SignatureRow[] = []
  #offered: readonly OfferedCapability[] = []

  /** @param sender account that pays for gas */
  constructor(list: HTMLElement, keyring: Keyring, sender: () => string) {
    this.#list = list
    this.#sender = sender
    this.#keyring = keyring
    this.add()
  }

  /** Name of the account that signs first; empty if there is none. */
  get firstSigner(): string {
    return this.#rows[0]?.account.value ?? ''
  }

  /** Lists other signers. A row whose signer is gone takes the first one. */
  relist(): void {
    for (const row of this.#rows) row.list(this.#keyring)
  }

  add(account = this.#sender(), chosen = ALL): SignatureRow {
    const onScope = (row: SignatureRow) => {
      row.show(this.#offered)
      this.#addGas(row)
    }
    const onRemove = (row: SignatureRow) => {
      row.element.remove()
      this.#rows = this.#rows.filter((each) => each !== row)
    }
    const row = new SignatureRow(onScope, onRemove)
    row.list(this.#keyring, account)
    row.offer(this.#offered, chosen)
    this.#rows = [...this.#rows, row]
    this.#list.append(row.element)
    return row
  }

  /**
   * Signs with a capability in source form. Rows of the signer that cover everything give way.
   * @param sender who pays; without a key of that name, the first row's signer signs
   */
  addCapability(sender: string, text: string): void {
    const isKnown = this.#keyring.find(sender) !== undefined
    const account = isKnown ? sender : (this.#rows[0]?.account.value ?? sender)
    const [free] = this.#rows.filter((row) => row.account.value === account && row.scope.value === ALL)
    const row = free ?? this.add(account)
    row.write(account, text, this.#offered)
    this.#addGas(row)
  }

  offer(offered: readonly OfferedCapability[]): void {
    this.#offered = offered
    for (const row of this.#rows) row.offer(offered)
  }

  /** A sender whose signature is limited must also sign that it pays for gas. */
  #addGas({ account, scope }: SignatureRow): void {
    const own = this.#rows.filter((row) => row.account.value === account.value)
    const isSender = account.value === this.#sender() && scope.value !== ALL
    const hasGas = own.some(({ scope: { value } }) => value === GAS || value === ALL)
    if (isSender && !hasGas) this.add(account.value, GAS)
  }

  /**
   * The signers of a command.
   * @throws FieldFault
   */
  read(): DraftSigner[] {
    const signers = new Map<string, { readonly key: PageSigner; readonly capabilities: Capability[] | null }>()
    const reader = new FieldReader()
    const read = this.#rows.flatMap((row) =>
      reader.take(() => [{ capability: row.read(), signer: row.signer(this.#keyring) }], []),
    )
    reader.finish()
    for (const { capability, signer } of read) {
      const known = signers.get(signer.publicKey)
      if (known !== undefined && (known.capabilities === null || capability === null)) {
        throw new FieldFault(`${shortName(signer.name)} signs everything already: remove its other signatures`)
      }
      const capabilities = capability === null ? null : [...(known?.capabilities ?? []), capability]
      signers.set(signer.publicKey, { key: known?.key ?? signer, capabilities })
    }
    return [...signers.values()].map(({ key, capabilities }) => ({ key, capabilities: capabilities ?? [] }))
  }
}
