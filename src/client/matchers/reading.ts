/** Reads what tests hand to the assertions: results of commands in all forms that nodes and clients return. */
import { Decimal } from '#language/contracts/values/decimal.ts'

/** An event of a command. */
export interface ReadEvent {
  /** `module.NAME`. */
  readonly name: string
  readonly params: readonly unknown[]
}

/** A result, as the assertions see it. */
export interface ReadResult {
  /** Null for a command that succeeded. */
  readonly error: { readonly type: string; readonly message: string; readonly info: string } | null
  /** Value of a command that succeeded. */
  readonly data: unknown
  readonly gas: unknown
  readonly events: readonly ReadEvent[]
  /** Coins paid for gas; null if the result does not say. */
  readonly fee: Decimal | null
  /** Name of a simulated command, or null. */
  readonly name: string | null
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Reads a result: of `poll`, `listen`, `local`, preflight, `run` and `simulate`, or the error of a command that failed.
 * @returns the results of a simulation in their order, one result for all others, or null if it is none
 */
export function readResults(received: unknown): readonly ReadResult[] | null {
  if (!isObject(received)) return null
  const { commands, preflightResult, result } = received
  if (Array.isArray(commands)) {
    const all = commands.map(readResults)
    return all.every((each) => each !== null) ? all.flat() : null
  }
  if (preflightResult !== undefined) return readResults(preflightResult)
  // CommandFailed of the wallet has the whole result.
  if (isObject(result) && isObject(result.result)) return readResults(result)
  return isObject(result) && (result.status === 'success' || result.status === 'failure')
    ? [readOne(received, result)]
    : null
}

function readOne({ gas, events, fee, name }: Fields, { status, data, error }: Fields): ReadResult {
  const { type, message, info } = isObject(error) ? error : {}
  return {
    error: status === 'success' ? null : { type: textIn(type), message: textIn(message), info: textIn(info) },
    data,
    gas,
    events: Array.isArray(events) ? events.map(readEvent) : [],
    fee: fee === undefined ? null : readDecimal(fee),
    name: typeof name === 'string' ? name : null,
  }
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

function readEvent(event: Fields): ReadEvent {
  const { module, name, params } = event
  const { namespace, name: own } = isObject(module) ? module : {}
  const qualified = [namespace, own, name].filter((part) => typeof part === 'string').join('.')
  return { name: qualified, params: Array.isArray(params) ? params : [] }
}

/**
 * Reads a number in any of its forms: of JavaScript, of exact JSON, of the contract language.
 * @returns null for another value
 */
export function readDecimal(value: unknown): Decimal | null {
  if (typeof value === 'number' || typeof value === 'bigint') return Decimal.parse(String(value))
  if (!isObject(value)) return null
  const { mantissa, places } = value
  // Not by class: a test may load the client and the assertions as two modules.
  if (typeof mantissa === 'bigint' && typeof places === 'number') return new Decimal(mantissa, places)
  const [field, ...others] = Object.keys(value)
  if (others.length > 0 || !['decimal', 'int', 'text'].includes(field ?? '')) return null
  const text = value[field as string]
  return typeof text === 'string' ? Decimal.parse(text) : readDecimal(text)
}
