/**
 * What a stratum server refuses beside shares, and why it closes connections: closed sets, so that no client can add a
 * label or a text. docs/RIGS.md has a row for each.
 */
import type { FailureName } from './messages.ts'

/** Reasons for which a request is refused, or kept waiting. Shares that can be read have verdicts of their own. */
export const requestRefusals = [
  ...(['line', 'parameters', 'method', 'user', 'difficulty', 'target', 'rate'] as const),
  ...(['submit', 'job', 'nonce2', 'digits', 'banned', 'held'] as const),
] as const
export type RequestRefusal = (typeof requestRefusals)[number]

/** Reasons for which the server closes a connection, or takes none. `broken`: the network did. */
export const closeReasons = [
  ...(['full', 'address_full', 'address_banned', 'handshake', 'login', 'idle'] as const),
  ...(['long_line', 'garbage', 'slow_reader', 'worker_banned', 'nonce1', 'broken'] as const),
] as const
export type CloseReason = (typeof closeReasons)[number]

/** How often each of them came up. */
export interface RefusalCounts {
  readonly requests: Readonly<Record<RequestRefusal, number>>
  readonly connections: Readonly<Record<CloseReason, number>>
}

/** Why a request is refused, and the text that says so. */
export interface Refusal {
  readonly reason: RequestRefusal
  readonly failure: FailureName
  /** null: the text of the failure itself. */
  readonly text: string | null
}

/** A request with a fault of its own: code 20. */
const malformed = (reason: RequestRefusal, text: string): Refusal => ({ reason, failure: 'malformed', text })

/** Longest user that a server takes. */
export const MAX_USER = 512
/** Rigs keep refusals in small tables: numbers of digits beyond this share one text. */
const MOST_DIGITS = 32
const HEX = /^[0-9a-f]*$/i

export const refusals = {
  line: malformed('line', 'the line is no JSON object with an id and a method'),
  parameters: malformed('parameters', 'the parameters are not a list'),
  method: { reason: 'method', failure: 'unknown', text: null },
  user: malformed('user', `the user is not a text of at most ${MAX_USER} characters`),
  difficulty: malformed('difficulty', 'the difficulty is not a positive number'),
  target: malformed('target', 'the target is not 1 to 64 hex digits, above 0'),
  rate: malformed('rate', 'the rate is not a hexadecimal number of at most 64 digits'),
  submit: malformed('submit', 'submit needs a user, a job id and nonce2'),
  jobType: malformed('job', 'the job id is not a text'),
  jobEmpty: malformed('job', 'the job id is empty'),
  nonce2Type: malformed('nonce2', 'nonce2 is not a text'),
  nonce2Hex: malformed('nonce2', 'nonce2 is not hexadecimal'),
  banned: { reason: 'banned', failure: 'banned', text: null },
} as const satisfies Readonly<Record<string, Refusal>>

/** What is wrong with the parameters of a share that cannot be read; `digits`: those that nonce2 has at most. */
export function shareFault(params: readonly unknown[], digits: number): Refusal {
  const [, job, nonce2] = params
  if (params.length < 3) return refusals.submit
  if (typeof job !== 'string') return refusals.jobType
  if (job === '') return refusals.jobEmpty
  if (typeof nonce2 !== 'string') return refusals.nonce2Type
  return HEX.test(nonce2) ? digitsRefusal(nonce2.length, digits) : refusals.nonce2Hex
}

function digitsRefusal(found: number, expected: number): Refusal {
  const count = found > MOST_DIGITS ? `more than ${MOST_DIGITS}` : String(found)
  return malformed('digits', `nonce2 has ${count} digits, expected ${expected}`)
}

/** Every text of a refusal with code 20, for nonces of so many digits. */
export function malformedTexts(digits: number): string[] {
  const fixed = Object.values<Refusal>(refusals).flatMap(({ text }) => (text === null ? [] : [text]))
  const counts = Array.from({ length: MOST_DIGITS + 2 }, (_, found) => found)
  const wrong = counts.filter((found) => found === 0 || found > digits)
  return [...fixed, ...wrong.flatMap((found) => digitsRefusal(found, digits).text ?? [])]
}
