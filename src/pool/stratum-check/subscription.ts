/** Reads the answer to `mining.subscribe` as a rig does: the first line of the server. */
import { printable } from '#ground/base/printable.ts'
import type { Request, Response } from '#mining/stratum/messages.ts'
import { createFinding, type Finding } from './findings.ts'
import type { Manufacturer } from './makers.ts'

/** Sizes of nonce2 in bytes: the minimum of strict rigs, and the size with enough nonces. */
const MIN_STRICT_BYTES = 5
const ENOUGH_BYTES = 6
const NONCE_BYTES = 8

interface Subscription {
  readonly findings: readonly Finding[]
  readonly nonce1: string | null
  readonly nonce2Bytes: number | null
}

const failedSubscription = (finding: Finding): Subscription => ({
  findings: [finding],
  nonce1: null,
  nonce2Bytes: null,
})

/** Reads the line as a rig of this maker does. */
export function readSubscription(message: Request | Response, maker: Manufacturer): Subscription {
  if (message.kind === 'request') return failedSubscription(createFinding('firstLine', printable(message.method, 64)))
  const { id, error, result } = message
  const wantsNoAnswer = maker.before.length > 0
  // An error with a null id answers the last request.
  if (id === null && wantsNoAnswer) return failedSubscription(createFinding('nullAnswer'))
  if (error !== null) return failedSubscription(createFinding('subscribeRefused', error.message))
  if (maker.isStrict && id !== maker.ids.subscribe) {
    return failedSubscription(
      id === null ? createFinding('nullAnswer') : createFinding('wrongId', printable(JSON.stringify(String(id)), 64)),
    )
  }
  if (!Array.isArray(result)) return failedSubscription(createFinding('subscribeAnswer'))
  const [, nonce1, size] = result
  if (typeof nonce1 !== 'string' || !/^[0-9a-f]*$/i.test(nonce1))
    return failedSubscription(createFinding('subscribeAnswer'))
  return checkSizes(nonce1, Number(size), maker)
}

/** Checks the sizes of both parts of the nonce. */
function checkSizes(nonce1: string, bytes: number, maker: Manufacturer): Subscription {
  const findings: Finding[] = []
  const fewest = maker.isStrict ? MIN_STRICT_BYTES : 1
  const isSize = Number.isInteger(bytes) && bytes >= fewest && bytes <= NONCE_BYTES
  if (!isSize) findings.push(createFinding('nonce2Size', String(bytes), `${fewest} to ${NONCE_BYTES}`))
  else if (bytes < ENOUGH_BYTES) findings.push(createFinding('nonce2Few', maker, bytes))
  const isOdd = nonce1.length % 2 === 1
  if (isOdd) findings.push(createFinding('nonce1Odd', maker, nonce1.length))
  else if (isSize && nonce1.length / 2 + bytes !== NONCE_BYTES) {
    findings.push(createFinding('nonceBytes', nonce1.length / 2, bytes))
  }
  return { findings, nonce1, nonce2Bytes: isSize ? bytes : null }
}
