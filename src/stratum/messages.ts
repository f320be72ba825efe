/**
 * Messages of the stratum dialects of these networks (PROTOCOL.md F): one JSON object a line, in the manner of JSON-RPC
 * 1.0. Both ends read them here, and know the same numbers for what is wrong with a share.
 */
import { FormatError } from '../core/errors.ts'
import { parseJson, stringifyJson } from '../core/json.ts'
import { printable } from '../core/printable.ts'

/** Ids are echoed as they came, all digits of large numbers included. */
export type MessageId = number | bigint | string | null

/** Notifications are requests with the id null. */
export interface Request {
  readonly kind: 'request'
  readonly id: MessageId
  readonly method: string
  /** Empty where they are no list. */
  readonly params: readonly unknown[]
  /** What came in place of a list, such as parameters by name, or a text alone; undefined: a list, or nothing. */
  readonly unlisted?: unknown
}

export interface Response {
  readonly kind: 'response'
  readonly id: MessageId
  readonly result: unknown
  readonly error: Failure | null
}

export interface Failure {
  /** 0: the peer named none. */
  readonly code: number
  readonly message: string
}

/** What may be wrong with a request: a closed set. The numbers are those that pools use. */
export const failures = {
  malformed: { code: 20, message: 'the request is not what it should be' },
  stale: { code: 21, message: 'the job is over' },
  duplicate: { code: 22, message: 'the share was handed in before' },
  low: { code: 23, message: 'the hash does not meet the target' },
  unauthorized: { code: 24, message: 'authorize first' },
  unsubscribed: { code: 25, message: 'subscribe first' },
  unavailable: { code: 27, message: 'the share could not be kept' },
  banned: { code: 26, message: 'banned for a while: too many bad shares' },
  unknown: { code: -32601, message: 'no such method' },
} as const satisfies Readonly<Record<string, Failure>>

export type FailureName = keyof typeof failures

/** What may be said of a share: a closed set, so that no client can add a label. */
export const shareVerdicts = [
  ...(['accepted', 'stale', 'duplicate', 'low'] as const),
  ...(['malformed', 'unauthorized', 'unsubscribed', 'unavailable'] as const),
] satisfies readonly ('accepted' | FailureName)[]
export type ShareVerdict = (typeof shareVerdicts)[number]

/** Verdict -> number of shares. */
export type ShareCounts = Readonly<Record<ShareVerdict, number>>

const MAX_ID = 64
const MAX_METHOD = 64
const MAX_MESSAGE = 200

/**
 * Reads a line; integers of any size are exact. Parameters that are no list do not make it unreadable: whoever knows the
 * method judges them. Throws FormatError.
 */
export function readMessage(line: string): Request | Response {
  const value = parsed(line)
  // Some servers answer what they cannot read with an error alone, and close the connection.
  if (Array.isArray(value)) return { kind: 'response', id: null, result: null, error: failureOf(value) }
  if (typeof value !== 'object' || value === null) throw new FormatError('message', 0, 'not an object')
  const { id = null, method = null, params = null } = value as Readonly<Record<string, unknown>>
  if (!isId(id)) throw new FormatError('id', 0, 'neither a number nor a text nor null')
  if (method === null) return responseOf(id, value)
  if (typeof method !== 'string' || method.length > MAX_METHOD) {
    throw new FormatError('method', 0, `not a text of at most ${MAX_METHOD} characters`)
  }
  if (params === null || Array.isArray(params)) return { kind: 'request', id, method, params: params ?? [] }
  return { kind: 'request', id, method, params: [], unlisted: params }
}

/** The parameters of a request that has to have them as a list. Throws FormatError. */
export function listOf({ params, unlisted }: Request): readonly unknown[] {
  if (unlisted !== undefined) throw new FormatError('params', 0, 'not a list')
  return params
}

/** A parameter as text: a number by its digits, one that is missing as nothing. Throws FormatError for anything else. */
export function textIn(parameter: unknown): string {
  if (parameter === undefined || parameter === null) return ''
  if (typeof parameter === 'string') return parameter
  if (typeof parameter === 'number' || typeof parameter === 'bigint') return String(parameter)
  throw new FormatError('parameter', 0, 'neither a text nor a number')
}

/** A parameter as a number, which may also be written as text; NaN for one that is missing. Throws FormatError. */
export function numberIn(parameter: unknown): number {
  const text = textIn(parameter)
  return text === '' ? Number.NaN : Number(text)
}

function parsed(line: string): unknown {
  try {
    return parseJson(line)
  } catch {
    throw new FormatError('message', 0, 'not JSON')
  }
}

/** Some servers put an empty list, or false, in place of the error that there is not. */
function responseOf(id: MessageId, { result = null, error = null }: { result?: unknown; error?: unknown }): Response {
  const isEmpty = error === false || (Array.isArray(error) && error.length === 0)
  const isGood = error === null || (isEmpty && result !== null && result !== false)
  return { kind: 'response', id, result, error: isGood ? null : failureOf(error) }
}

function isId(id: unknown): id is MessageId {
  if (typeof id === 'string' || typeof id === 'bigint') return String(id).length <= MAX_ID
  // Beyond the greatest number there is nothing that could be echoed.
  return id === null || Number.isFinite(id)
}

/** `[code, message, data]`, `{code, message}`, or a text alone. */
function failureOf(error: unknown): Failure {
  const [code, message] = Array.isArray(error)
    ? [error[0], error[1]]
    : typeof error === 'object' && error !== null
      ? [(error as { code?: unknown }).code, (error as { message?: unknown }).message]
      : [0, error]
  return {
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : 0,
    message: printable(typeof message === 'string' ? message : 'no reason given', MAX_MESSAGE),
  }
}

/** A request as a line; its end included. Notifications have the id null. */
export function requestLine(id: MessageId, method: string, params: readonly unknown[]): string {
  return `${stringifyJson({ id, method, params })}\n`
}

/** The answer to a request as a line. */
export function resultLine(id: MessageId, result: unknown): string {
  // The answer to a share: nearly all that a server says.
  if (result === true && Number.isSafeInteger(id)) return `{"id":${id},"result":true,"error":null}\n`
  return `{"id":${stringifyJson(id)},"result":${JSON.stringify(result)},"error":null}\n`
}

/** The refusal of a request as a line. */
export function failureLine(id: MessageId, name: FailureName): string {
  const { code, message } = failures[name]
  return `{"id":${stringifyJson(id)},"result":false,"error":${JSON.stringify([code, message, null])}}\n`
}
