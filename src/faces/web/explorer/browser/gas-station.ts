/** Fields of a gas station: a contract that pays for the gas of others by its capability `GAS_PAYER`. */
import type { ModuleDetails } from '#ground/schema/lookup.ts'
import { element, write } from '../../kit/dom.ts'
import { ArgumentField } from './argument-field.ts'
import { askNode, textOfError } from './ask.ts'
import { faultIn, input } from './fields.ts'
import { pathWith } from './query.ts'
import type { DraftSigner } from './signing.ts'

const PAYER = 'GAS_PAYER'

export interface GasStationOptions {
  readonly chain: () => number
  /** Name of the account that signs first: the station pays for it. */
  readonly user: () => string
}

export class GasStation {
  readonly #options: GasStationOptions
  #fields: readonly ArgumentField[] = []
  /** Texts that the fields were filled with; a text of the user stays. */
  #filled: readonly string[] = []
  /** Module whose fields are shown; null if there is none, or if it is not a gas station. */
  #module: string | null = null
  /** Counts requests for modules: answers to earlier ones are dropped. */
  #asked = 0

  constructor(options: GasStationOptions) {
    this.#options = options
    input('station').addEventListener('change', () => void this.open())
    for (const id of ['gas-limit', 'gas-price']) input(id).addEventListener('input', () => this.#fill())
    element('signatures').addEventListener('change', () => this.#fill())
  }

  /** Reads the module that the field names, on the chain of the form. */
  async open(): Promise<void> {
    const number = ++this.#asked
    const name = input('station').value.trim()
    let params: ModuleDetails['capabilities'][number]['params'] = []
    let trouble = ''
    if (name !== '') {
      try {
        const { capabilities } = await askNode<ModuleDetails>(
          pathWith('/devnet/module', { chain: this.#options.chain(), name }),
        )
        const payer = capabilities.find((each) => each.name === PAYER)
        if (payer === undefined) trouble = `${name} has no capability ${PAYER}: a gas station implements gas-payer-v1`
        else params = payer.params
      } catch (error) {
        trouble = textOfError(error)
      }
    }
    if (number !== this.#asked) return
    this.#module = name === '' || trouble !== '' ? null : name
    write('station-fault', trouble)
    this.#fields = params.map((each) => new ArgumentField(each))
    this.#filled = params.map(() => '')
    element('station-arguments').replaceChildren(...this.#fields.map((field) => field.element))
    element('station-note').hidden = this.#module === null
    this.#fill()
  }

  /** Fills the parameters of `gas-payer-v1`: who is paid for, the gas limit and the gas price. */
  #fill(): void {
    const texts = [this.#options.user(), input('gas-limit').value.trim(), input('gas-price').value.trim()]
    this.#filled = this.#fields.map((field, i) => {
      const text = texts[i] ?? ''
      if (field.text === this.#filled[i]) field.text = text
      return field.text === text ? text : this.#filled[i]
    })
  }

  /**
   * The signers of a command that the station pays for.
   * @throws FieldFault
   */
  paying(signers: readonly DraftSigner[]): readonly DraftSigner[] {
    const name = input('station').value.trim()
    if (name === '') return signers
    if (this.#module !== name) throw stationFault('expected the module of a gas station')
    const capability = { name: `${name}.${PAYER}`, args: this.#fields.map((field) => field.read({}).json) }
    const [first, ...others] = signers
    if (first === undefined) throw stationFault('it pays for signers: add a signature')
    return [{ ...first, capabilities: [...first.capabilities, capability] }, ...others]
  }
}

const stationFault = (text: string) => faultIn('station', `gas station: ${text}`)
