/** Converts a command result to printable texts of limited length. */
import { type ExactJson, parseExactJson } from '#ground/base/json.ts'
import { printable } from '#ground/base/printable.ts'
import type { IncludedTransaction } from '#ground/schema/devnet-events.ts'
import { showValue } from '#language/contracts/values/print.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'

const MAX_VALUE_LENGTH = 200
/** Results hold at most 256 characters of a message. */
const MAX_MESSAGE_LENGTH = 512
const MAX_EVENTS = 20
const MAX_EVENT_NAME_LENGTH = 200
/** The value of a longer result is shown as plain JSON: exact parsing takes time, and only the beginning is shown. */
const MAX_EXACT_RESULT_LENGTH = 16 * 1024

type ExecutionOutcome = Pick<IncludedTransaction, 'status' | 'gas' | 'result' | 'place' | 'events'>

interface ResultFields {
  readonly gas: number
  readonly result: {
    readonly data?: unknown
    readonly error?: { readonly message: string; readonly info: string }
  }
  readonly events?: readonly EventFields[]
}

interface EventFields {
  readonly name: string
  readonly module: { readonly namespace: string | null; readonly name: string }
}

const decoder = new TextDecoder()

/** @param output JSON text of a result of the ledger */
export function outcomeOf(output: Uint8Array): ExecutionOutcome {
  const text = decoder.decode(output)
  const { gas, result, events = [] } = JSON.parse(text) as ResultFields
  const names = events.slice(0, MAX_EVENTS).map(eventName)
  const { error } = result
  if (error === undefined) {
    return {
      status: 'success',
      gas,
      result: printable(valueIn(text, result.data), MAX_VALUE_LENGTH),
      place: null,
      events: names,
    }
  }
  const place = NO_PLACES.includes(error.info) ? null : printable(error.info, MAX_EVENT_NAME_LENGTH)
  return { status: 'failure', gas, result: printable(error.message, MAX_MESSAGE_LENGTH), place, events: names }
}

/** Places of errors that have none. */
const NO_PLACES: readonly string[] = ['', '<toplevel>:0']

/** The value in the syntax of the language. */
function valueIn(text: string, data: unknown): string {
  if (text.length > MAX_EXACT_RESULT_LENGTH) return JSON.stringify(data)
  const { result } = parseExactJson(text) as { readonly result: { readonly data: ExactJson } }
  return showValue(valueFromJson(result.data))
}

function eventName({ name, module }: EventFields): string {
  const qualified = module.namespace === null ? module.name : `${module.namespace}.${module.name}`
  return printable(`${qualified}.${name}`, MAX_EVENT_NAME_LENGTH)
}
