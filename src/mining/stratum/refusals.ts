/**
 * Refusals of a stratum server other than share verdicts, and its reasons to close connections: closed sets, so that no
 * client can add a label or a text. docs/STRATUM.md has a row for each.
 */
import type { FailureCode } from './messages.ts'

/** Reasons to refuse or delay a request. Shares that can be parsed have verdicts instead. */
export const requestRefusals = [
  'line',
  'parameters',
  'method',
  'user',
  'difficulty',
  'target',
  'rate',
  'submit',
  'job',
  'nonce2',
  'digits',
  'banned',
  'held',
] as const
export type RequestRefusal = (typeof requestRefusals)[number]

/** Reasons to close or refuse a connection. `broken`: the network failed. */
export const closeReasons = [
  'full',
  'address_full',
  'address_banned',
  'handshake',
  'login',
  'idle',
  'long_line',
  'garbage',
  'slow_reader',
  'worker_banned',
  'nonce1',
  'broken',
] as const
export type CloseReason = (typeof closeReasons)[number]

/** Number of occurrences of each reason. */
export interface RefusalCounts {
  readonly requests: Readonly<Record<RequestRefusal, number>>
  readonly connections: Readonly<Record<CloseReason, number>>
}

/** Reason for a refusal and its text. */
export interface Refusal {
  readonly reason: RequestRefusal
  readonly failure: FailureCode
  /** Null to use the failure's own text. */
  readonly text: string | null
}

/** A malformed request, code 20. */
const malformedRefusal = (reason: RequestRefusal, text: string): Refusal => ({ reason, failure: 'malformed', text })

/** Maximum length of a user name. The client chooses it, and the server keeps it. */
export const MAX_USER = 512
/** Tables of refusals per rig are small, so all digit counts beyond this share one text. */
const MAX_COUNTED_DIGITS = 32
const HEX = /^[0-9a-f]*$/i

export const refusals = {
  line: malformedRefusal('line', 'the line is not a JSON object with an id and a method'),
  parameters: malformedRefusal('parameters', 'the parameters are not a list'),
  method: { reason: 'method', failure: 'unknown', text: null },
  user: malformedRefusal('user', `the user is not a text of at most ${MAX_USER} characters`),
  difficulty: malformedRefusal('difficulty', 'the difficulty is not a positive number'),
  target: malformedRefusal('target', 'the target is not 1 to 64 hex digits, above 0'),
  rate: malformedRefusal('rate', 'the rate is not a hexadecimal number of at most 64 digits'),
  submit: malformedRefusal('submit', 'submit needs a user, a job id and nonce2'),
  jobType: malformedRefusal('job', 'the job id is not a text'),
  jobEmpty: malformedRefusal('job', 'the job id is empty'),
  nonce2Type: malformedRefusal('nonce2', 'nonce2 is not a text'),
  nonce2Hex: malformedRefusal('nonce2', 'nonce2 is not hexadecimal'),
  banned: { reason: 'banned', failure: 'banned', text: null },
} as const satisfies Readonly<Record<string, Refusal>>

/**
 * Fault in the parameters of a share that cannot be parsed.
 * @param digits maximum number of digits in nonce2
 */
export function shareFault(params: readonly unknown[], digits: number): Refusal {
  const [, job, nonce2] = params
  if (params.length < 3) return refusals.submit
  if (typeof job !== 'string') return refusals.jobType
  if (job === '') return refusals.jobEmpty
  if (typeof nonce2 !== 'string') return refusals.nonce2Type
  return HEX.test(nonce2) ? digitsRefusal(nonce2.length, digits) : refusals.nonce2Hex
}

function digitsRefusal(found: number, expected: number): Refusal {
  const count = found > MAX_COUNTED_DIGITS ? `more than ${MAX_COUNTED_DIGITS}` : String(found)
  return malformedRefusal('digits', `nonce2 has ${count} digits, expected ${expected}`)
}

/** All texts of refusals with code 20, for nonces of this number of digits. */
export function malformedTexts(digits: number): string[] {
  const fixed = Object.values<Refusal>(refusals).flatMap(({ text }) => (text === null ? [] : [text]))
  const counts = Array.from({ length: MAX_COUNTED_DIGITS + 2 }, (_, found) => found)
  const wrong = counts.filter((found) => found === 0 || found > digits)
  return [...fixed, ...wrong.flatMap((found) => digitsRefusal(found, digits).text ?? [])]
}
