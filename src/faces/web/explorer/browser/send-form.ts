/** The form of a command: a function with its arguments, code or a step of a pact, who pays, and who signs. */

import type { Payload } from '#client/wallet/command.ts'
import type { ModuleDetails, ModuleList } from '#ground/schema/lookup.ts'
import { element, make, write } from '../../kit/dom.ts'
import { ArgumentField, type MessageData } from './argument-field.ts'
import { askNode, textOfError } from './ask.ts'
import { ContinuationFields, type ContinuationOptions } from './continuation.ts'
import { FieldReader } from './field-fault.ts'
import { faultIn, input, readPayer, select, textarea } from './fields.ts'
import { GasStation } from './gas-station.ts'
import type { Keyring } from './keyring.ts'
import { notePlace } from './place.ts'
import { pathWith } from './query.ts'
import { type OfferedCapability, Signatures } from './signatures.ts'
import { type CommandDraft, pageNonce } from './signing.ts'

/** Capabilities that are offered whatever the module. */
const GAS: OfferedCapability = { name: 'coin.GAS', params: [] }

const CONTINUE = 'continue'

export class SendForm {
  readonly signatures: Signatures
  readonly #continuation: ContinuationFields
  readonly #station: GasStation
  #module: ModuleDetails | null = null
  #known: ReadonlySet<string> = new Set()
  #fields: readonly ArgumentField[] = []
  /** Counts requests for modules: answers to earlier ones are dropped. */
  #asked = 0
  /** Texts for arguments by their names, from the link that opened the page. The first function takes them. */
  #given: URLSearchParams | null = null

  constructor(keyring: Keyring, { network, onChange }: Pick<ContinuationOptions, 'network' | 'onChange'>) {
    this.signatures = new Signatures(element('signatures'), keyring, () => input('sender').value.trim())
    this.#continuation = new ContinuationFields({ network, onChange, chain: () => this.chain })
    this.#station = new GasStation({ chain: () => this.chain, user: () => this.signatures.firstSigner })
    element('continue-part').addEventListener('change', () => this.#noteContinuation())
    select('kind').addEventListener('change', () => this.#showKind())
    input('module').addEventListener('change', () => void this.openModule())
    // A choice from the suggestions is complete before the field is left.
    input('module').addEventListener('input', () => {
      if (this.#known.has(input('module').value)) void this.openModule()
    })
    select('function').addEventListener('change', () => this.#showFunction())
    select('chain').addEventListener('change', () => {
      this.#noteContinuation()
      void this.listModules()
      void this.openModule()
      void this.#station.open()
    })
    element('add-signature').addEventListener('click', () => this.signatures.add())
  }

  get chain(): number {
    return Number(select('chain').value)
  }

  /** Fills the fields from the link that opened the page. @param chains number of chains of the network */
  open(place: URLSearchParams, chains: number): void {
    this.#given = place
    this.#continuation.open(place, chains)
    input('module').value = place.get('module') ?? 'coin'
    if (place.has('pact')) select('kind').value = CONTINUE
    this.#showKind()
  }

  #noteContinuation(): void {
    if (select('kind').value === CONTINUE) notePlace({ chain: this.chain, ...this.#continuation.place })
  }

  /** Lists the modules of the chain as suggestions. */
  async listModules(): Promise<void> {
    const { modules } = await askNode<ModuleList>(pathWith('/devnet/modules', { chain: this.chain }))
    this.#known = new Set(modules.map(({ name }) => name))
    element('known-modules').replaceChildren(...modules.map(({ name }) => make('option', { value: name })))
  }

  /** Reads the module that the form names. @param wanted function to choose */
  async openModule(wanted = select('function').value): Promise<void> {
    const number = ++this.#asked
    const name = input('module').value.trim()
    try {
      const found = await askNode<ModuleDetails>(pathWith('/devnet/module', { chain: this.chain, name }))
      if (number !== this.#asked) return
      // The same module again must not replace the fields, in which somebody may be typing.
      const { name: shown, hash, chain } = this.#module ?? {}
      if (shown === found.name && hash === found.hash && chain === found.chain) return
      this.#module = found
      write(
        'module-fault',
        found.kind === 'interface' ? 'an interface has no code: choose a module that implements it' : '',
      )
    } catch (error) {
      if (number !== this.#asked) return
      this.#module = null
      write('module-fault', name === '' ? 'expected the name of a module' : textOfError(error))
    }
    this.#showFunctions(wanted)
  }

  #showFunctions(wanted: string): void {
    const { functions = [], pacts = [], capabilities = [], name = '' } = this.#module ?? {}
    const all = [...functions, ...pacts].map((each) => each.name)
    select('function').replaceChildren(...all.map((each) => make('option', {}, each)))
    if (all.includes(wanted)) select('function').value = wanted
    const own = capabilities.map((each) => ({ name: `${name}.${each.name}`, params: each.params }))
    this.signatures.offer([GAS, ...own.filter((each) => each.name !== GAS.name)])
    this.#showFunction()
  }

  #showFunction(): void {
    const wanted = select('function').value
    const { functions = [], pacts = [], name = '' } = this.#module ?? {}
    const found = [...functions, ...pacts].find((each) => each.name === wanted)
    // Texts stay where the next function has a parameter of the same name.
    const texts = new Map(this.#fields.map((field) => [field.name, field.text]))
    this.#fields = (found?.params ?? []).map((each) => {
      const field = new ArgumentField(each)
      const text = texts.get(each.name) ?? this.#given?.get(each.name) ?? undefined
      if (text !== undefined && each.type !== 'guard' && each.type !== 'keyset') field.text = text
      return field
    })
    if (found !== undefined) this.#given = null
    element('arguments').replaceChildren(...this.#fields.map((field) => field.element))
    write('function-doc', found?.doc ?? '')
    const isShown = select('kind').value === 'call'
    if (found !== undefined && isShown) notePlace({ chain: this.chain, module: name, function: wanted })
  }

  #showKind(): void {
    const { value } = select('kind')
    element('function-part').hidden = value !== 'call'
    element('code-part').hidden = value !== 'code'
    element('continue-part').hidden = value !== CONTINUE
    element('data-part').hidden = value === 'call'
    this.#noteContinuation()
  }

  /**
   * Reads all fields.
   * @throws FieldFault, with all that are wrong
   */
  read(network: string): Omit<CommandDraft, 'creationTime'> {
    const reader = new FieldReader()
    const payload = reader.take<Payload>(() => this.#payload(), { code: '', data: '{}' })
    const gasLimit = reader.take(() => wholeFrom1('gas-limit', 'gas limit: expected a whole number from 1'), 0)
    const gasPrice = reader.take(readGasPrice, '')
    const ttl = reader.take(() => wholeFrom1('ttl', 'time to live: expected whole seconds from 1'), 0)
    const sender = reader.take(() => readPayer('sender'), '')
    const signatures = reader.take(() => this.signatures.read(), [])
    const signers = reader.take(() => this.#station.paying(signatures), [])
    reader.finish()
    return {
      networkId: network,
      chain: this.chain,
      payload,
      signers,
      sender,
      gasLimit,
      gasPrice,
      ttl,
      nonce: pageNonce(),
    }
  }

  #payload(): Payload {
    const data: MessageData = {}
    const { value } = select('kind')
    if (value === 'call') {
      const code = this.#callIn(data)
      return { code, data: JSON.stringify(data) }
    }
    const code = value === CONTINUE ? '' : textarea('code').value.trim()
    if (value !== CONTINUE && code === '') {
      throw faultIn('code', 'code: expected an expression, such as (coin.get-balance "sender00")')
    }
    readData(data)
    return value === CONTINUE ? this.#continuation.read(data) : { code, data: JSON.stringify(data) }
  }

  #callIn(data: MessageData): string {
    const name = select('function').value
    if (this.#module === null || name === '') throw faultIn('module', 'module: choose a module and a function')
    const reader = new FieldReader()
    const args = this.#fields.map((field) => reader.take(() => field.read(data).code, ''))
    reader.finish()
    return `(${[`${this.#module.name}.${name}`, ...args].join(' ')})`
  }
}

/** @throws FieldFault with this text */
function wholeFrom1(id: string, fault: string): number {
  const number = Number(input(id).value)
  if (!Number.isInteger(number) || number < 1) throw faultIn(id, fault)
  return number
}

/** @throws FieldFault */
function readGasPrice(): string {
  const text = input('gas-price').value.trim()
  if (/^\d+(\.\d+)?(e-?\d+)?$/i.test(text)) return text
  throw faultIn('gas-price', 'gas price: expected coins per unit of gas, such as 0.00000001')
}

/**
 * Reads the field of message data.
 * @throws FieldFault
 */
function readData(data: MessageData): void {
  const text = textarea('data').value.trim()
  if (text === '') return
  try {
    const given: unknown = JSON.parse(text)
    if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new SyntaxError('no object')
    Object.assign(data, given)
  } catch (error) {
    throw faultIn('data', `message data: expected a JSON object (${textOfError(error)})`)
  }
}
