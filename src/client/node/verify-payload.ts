/** Checks payloads against their hashes (PROTOCOL.md B.4), for `verify: true`. */
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { outputsHash, payloadHash, transactionsHash } from '#ground/chain/payload.ts'
import type { PayloadData, PayloadWithOutputs } from '#ground/schema/bodies.ts'
import { InvalidPayload, NodeMisbehaved, type PayloadRule } from './errors.ts'

/**
 * Checks the three hashes of a payload. Without outputs, the hash over them is taken as it is.
 * @throws InvalidPayload for a wrong hash, NodeMisbehaved for parts that are not base64url
 */
export function verifyPayload(
  payload: PayloadData | PayloadWithOutputs,
  origin: { readonly url: string; readonly operation: string },
): void {
  const broken = brokenHashes(payload, origin)
  if (broken.length > 0) throw new InvalidPayload(payload.payloadHash, broken, origin)
}

function brokenHashes(
  payload: PayloadData | PayloadWithOutputs,
  origin: { readonly url: string; readonly operation: string },
): PayloadRule[] {
  try {
    const transactions = payload.transactions.map((each) =>
      decodeBase64Url(typeof each === 'string' ? each : each[0], 'transaction'),
    )
    const roots = {
      transactionsHash: transactionsHash(decodeBase64Url(payload.minerData, 'minerData'), transactions),
      outputsHash: outputsHashOf(payload),
    }
    const hashes = { ...roots, payloadHash: payloadHash(roots.transactionsHash, roots.outputsHash) }
    const rules = Object.keys(hashes) as PayloadRule[]
    return rules.filter((rule) => encodeBase64Url(hashes[rule]) !== payload[rule])
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    const message = `${origin.url}: payload ${payload.payloadHash}: ${error.message}`
    throw new NodeMisbehaved(message, { ...origin, cause: error })
  }
}

function outputsHashOf(payload: PayloadData | PayloadWithOutputs): Uint8Array {
  if (!('coinbase' in payload)) return decodeBase64Url(payload.outputsHash, 'outputsHash')
  const outputs = payload.transactions.map(([, output]) => decodeBase64Url(output, 'output'))
  return outputsHash(decodeBase64Url(payload.coinbase, 'coinbase'), outputs)
}
