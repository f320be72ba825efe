/** Reads the page's requests. A refusal names the place of the error and the expected form. */

import type { NodeClient } from '#client/node/client.ts'
import { describeError, FormatError } from '#ground/base/errors.ts'
import { parseJson } from '#ground/base/json.ts'
import { decodeWork, type WorkFields } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { solves } from '#ground/chain/pow.ts'
import { MinerBody } from '#ground/schema/bodies.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { Refused } from './refused.ts'

/**
 * Reads the account of a request for work.
 * @throws Refused
 */
export function accountIn(body: Uint8Array): MinerAccount {
  let json: unknown
  try {
    json = parseJson(new TextDecoder().decode(body))
  } catch (error) {
    throw new Refused(400, `request body: ${describeError(error)}; expected the JSON of an account`)
  }
  const { accepts, complaint } = validatorOf(MinerBody)
  if (!accepts(json)) {
    const expected = '{"account": "k:KEY", "predicate": "keys-all", "public-keys": ["KEY"]}'
    throw new Refused(400, `request body: ${complaint(json)}; expected ${expected}`)
  }
  const { account, predicate, 'public-keys': publicKeys } = json as MinerBody
  return { account, predicate, publicKeys }
}

/**
 * Reads a chain of the node.
 * @throws Refused
 */
export function chainIn({ info }: NodeClient, chain: string | undefined): number {
  const number = /^\d{1,9}$/.test(chain ?? '') ? Number(chain) : Number.NaN
  if (info.nodeChains.map(Number).includes(number)) return number
  throw new Refused(400, `chain=${chain?.slice(0, 20) ?? ''}: expected one of the chains ${info.nodeChains.join(', ')}`)
}

/**
 * Reads the fields of solved work.
 * @throws Refused for malformed or unsolved work
 */
export function solvedFields(bytes: Uint8Array): WorkFields {
  try {
    const fields = decodeWork(bytes)
    if (solves(bytes)) return fields
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new Refused(400, `request body: ${error.message}; expected solved work`)
  }
  throw new Refused(400, 'request body: the proof-of-work hash misses the target in this work; look for another nonce')
}
