/** Fetches the values of the constants of a module: its text may have read the message of the command that deployed it. */
import type { ExactJson } from '#ground/base/json.ts'
import { encodeStoredValue } from '../contracts/values/keep.ts'
import type { Value } from '../contracts/values/value.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import type { EntrySource } from './entries.ts'
import { exactly, exactValue, exactWithin, type InexactShape, printCode, shapeOf } from './exact-values.ts'
import { membersOf } from './module-text.ts'
import { type PinnedQuery, wrongFormError } from './question.ts'

interface FetchedConstant {
  readonly name: string
  readonly value: Value
  /** Where lists and objects in it hold decimals or times; null for nowhere. */
  readonly shape: InexactShape | null
}

export class ConstantsFetch {
  readonly #source: EntrySource
  readonly #module: string
  readonly #names: readonly string[]
  #found: readonly FetchedConstant[] = []

  /** @param code text of the module */
  constructor(source: EntrySource, module: string, code: string) {
    this.#source = source
    this.#module = module
    this.#names = membersOf(code, 'defconst')
  }

  /** Asks for the values. */
  get questions(): readonly PinnedQuery[] {
    if (this.#names.length === 0) return []
    const code = exactly(this.#names.map((name) => `${this.#module}.${name}`))
    return [{ code, take: (answer) => this.#take(answer) }]
  }

  #take(answer: ExactJson): void {
    const [values, printed] = listIn(answer)
    const texts = listIn(printed)
    if (!Array.isArray(values) || values.length !== this.#names.length)
      throw wrongFormError(this.#source.caller, answer)
    this.#found = this.#names.map((name, i) => {
      const value = exactValue(valueFromJson(values[i] as ExactJson), texts[i] ?? '')
      const shape = shapeOf(value)
      // A decimal or a time that is the value itself is exact now.
      return { name, value, shape: shape?.isLeaf === true ? null : shape }
    })
  }

  /** Asks for the digits within lists and objects, after the values are known. */
  get nested(): readonly PinnedQuery[] {
    const codes = this.#found.map(({ name, shape }) => {
      const print = shape === null ? null : printCode(shape)
      return print === null ? '""' : `(let ((v ${this.#module}.${name})) ${print})`
    })
    if (codes.every((code) => code === '""')) return []
    const take = (answer: ExactJson) => {
      const texts = listIn(answer)
      this.#found = this.#found.map((constant, i) => {
        const { value, shape } = constant
        return shape === null ? constant : { ...constant, value: exactWithin(value, shape, texts[i]) }
      })
    }
    return [{ code: `[${codes.join(' ')}]`, take }]
  }

  /** Caches the constants. */
  cacheConstants(): void {
    const pairs = this.#found.map(({ name, value }) => [name, encodeStoredValue(value)] as const)
    this.#source.entries.constants.put(this.#module, pairs)
  }
}

const listIn = (json: ExactJson | undefined) => (Array.isArray(json) ? (json as readonly ExactJson[]) : [])
