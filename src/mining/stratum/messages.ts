/**
 * Messages of the stratum dialects of these networks (PROTOCOL.md F): one JSON object per line, similar to JSON-RPC
 * 1.0. Server and client share this code and the error codes of shares.
 */
import { FormatError } from '#ground/base/errors.ts'
import { parseJson, stringifyJson } from '#ground/base/json.ts'
import { printable } from '#ground/base/printable.ts'

/** Ids are echoed unchanged, including all digits of large numbers. */
export type MessageId = number | bigint | string | null

/** A request, or a notification if the id is null. */
export interface Request {
  readonly kind: 'request'
  readonly id: MessageId
  readonly method: string
  /** Empty if the parameters are not a list. */
  readonly params: readonly unknown[]
  /** Parameters that are not a list, such as named ones or a single text; undefined for a list or none. */
  readonly unlisted?: unknown
}

export interface Response {
  readonly kind: 'response'
  readonly id: MessageId
  readonly result: unknown
  readonly error: Failure | null
}

export interface Failure {
  /** 0 if the peer gave no code. */
  readonly code: number
  readonly message: string
}

/** Errors of requests: a closed set. Pools use the same codes. */
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

export type FailureCode = keyof typeof failures

/** Verdicts on shares: a closed set, so that no client can add a metric label. */
export const shareVerdicts = [
  'accepted',
  'stale',
  'duplicate',
  'low',
  'malformed',
  'unauthorized',
  'unsubscribed',
  'unavailable',
] as const satisfies readonly ('accepted' | FailureCode)[]
export type ShareVerdict = (typeof shareVerdicts)[number]

/** Verdict -> number of shares. */
export type ShareCounts = Readonly<Record<ShareVerdict, number>>

/** Maximum length of an id: it is echoed, so a long one would enlarge answers. */
const MAX_ID = 64
/** Maximum length of a method: the known ones have less than half of it. */
const MAX_METHOD = 64
/** Maximum length of a message of the peer in a log. */
const MAX_MESSAGE = 200

/**
 * Parses a line; integers of any size are exact. Parameters that are not a list are accepted here, and judged by the
 * handler of the method.
 * @throws FormatError
 */
export function readMessage(line: string): Request | Response {
  const value = parseLine(line)
  // Some servers answer an unreadable request with a bare error, and close the connection.
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

/**
 * Parameters of a request that requires a list.
 * @throws FormatError
 */
export function listParams({ params, unlisted }: Request): readonly unknown[] {
  if (unlisted !== undefined) throw new FormatError('params', 0, 'not a list')
  return params
}

/**
 * Converts a parameter to text: a number to its digits, a missing one to an empty text.
 * @throws FormatError for other types
 */
export function textIn(parameter: unknown): string {
  if (parameter === undefined || parameter === null) return ''
  if (typeof parameter === 'string') return parameter
  if (typeof parameter === 'number' || typeof parameter === 'bigint') return String(parameter)
  throw new FormatError('parameter', 0, 'neither a text nor a number')
}

/**
 * Converts a parameter to a number; text is accepted. A missing one gives NaN.
 * @throws FormatError for other types
 */
export function numberIn(parameter: unknown): number {
  const text = textIn(parameter)
  return text === '' ? Number.NaN : Number(text)
}

function parseLine(line: string): unknown {
  try {
    return parseJson(line)
  } catch {
    throw new FormatError('message', 0, 'not JSON')
  }
}

/** Some servers send an empty list or false instead of a null error. */
function responseOf(id: MessageId, { result = null, error = null }: { result?: unknown; error?: unknown }): Response {
  const isEmpty = error === false || (Array.isArray(error) && error.length === 0)
  const isGood = error === null || (isEmpty && result !== null && result !== false)
  return { kind: 'response', id, result, error: isGood ? null : failureOf(error) }
}

function isId(id: unknown): id is MessageId {
  if (typeof id === 'string' || typeof id === 'bigint') return String(id).length <= MAX_ID
  // Infinity cannot be echoed in JSON.
  return id === null || Number.isFinite(id)
}

/** Accepts `[code, message, data]`, `{code, message}` or a bare text. */
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

/** Formats a request as a line, with line end. Notifications have the id null. */
export function requestLine(id: MessageId, method: string, params: readonly unknown[]): string {
  return `${stringifyJson({ id, method, params })}\n`
}

/** Formats the response to a request as a line. */
export function resultLine(id: MessageId, result: unknown): string {
  // Fast path for accepted shares, nearly all responses of a server.
  if (result === true && Number.isSafeInteger(id)) return `{"id":${id},"result":true,"error":null}\n`
  return `{"id":${stringifyJson(id)},"result":${JSON.stringify(result)},"error":null}\n`
}

/**
 * Formats the refusal of a request as a line.
 * @param text replaces the failure's own message
 */
export function failureLine(id: MessageId, name: FailureCode, text: string = failures[name].message): string {
  return refusalLine(id, { code: failures[name].code, message: text })
}

/** As `failureLine`, with any code and message, such as a pool's. */
export function refusalLine(id: MessageId, { code, message }: Failure): string {
  return `{"id":${stringifyJson(id)},"result":false,"error":${JSON.stringify([code, message, null])}}\n`
}
