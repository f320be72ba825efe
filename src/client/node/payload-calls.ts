/** Payloads of a chain, single and in batches. */
import { operatingError } from '#ground/base/errors.ts'
import type { PayloadData, PayloadWithOutputs } from '#ground/schema/bodies.ts'
import { operations } from '#ground/schema/operations.ts'
import { type ClientContext, callOf, chainText, type Hash, originOf, textOfHash } from './chain-calls.ts'
import { nodeErrors } from './error-rows.ts'
import { type CallOptions, misbehaviourOf } from './requests.ts'
import { verifyPayload } from './verify-payload.ts'

/** Options of a call for payloads. */
export interface PayloadOptions extends CallOptions {
  /** Height of the block: a hint that helps some nodes to find it faster. */
  readonly height?: number
  /** Whether to compute the hashes again (InvalidPayload). Without outputs, outputsHash is taken as it is. */
  readonly verify?: boolean
}

/** Hashes of payloads, optionally with the heights of their blocks as hints. */
export type PayloadKeys = readonly Hash[] | { readonly hashes: readonly Hash[]; readonly heights?: readonly number[] }

/** Payloads in a request: live nodes silently drop more, or more than a lower configured number (PROTOCOL.md E.0). */
const MAX_IN_BATCH = 1000

const SINGLE = { plain: operations.payload, outputs: operations.payloadOutputs } as const
const BATCH = { plain: operations.payloads, outputs: operations.payloadsOutputs } as const

interface Payloads {
  readonly plain: PayloadData
  readonly outputs: PayloadWithOutputs
}

/**
 * Fetches one payload.
 * @throws NotFound, InvalidPayload, FormatError for the hash, and the errors of Requests.json
 */
export async function fetchPayload<K extends keyof Payloads>(
  context: ClientContext,
  kind: K,
  { chain, hash, options }: { readonly chain: number; readonly hash: Hash; readonly options: PayloadOptions },
): Promise<Payloads[K]> {
  const operation = SINGLE[kind]
  const key = textOfHash(hash)
  const params = { chain: chainText(operation, chain), hash: key }
  const call = { ...callOf(options), params, query: { height: options.height } }
  const { body, answer } = await context.requests.json(operation, call)
  if (body.payloadHash !== key) throw misbehaviourOf(operation, answer, `another payload: ${body.payloadHash}`)
  if (options.verify) verifyPayload(body, originOf(context, operation, params))
  return body as Payloads[K]
}

/**
 * Fetches several payloads, in the order of the keys. Payloads that the node lacks are left out.
 * @throws InvalidPayload, FormatError for a hash, and the errors of Requests.json
 */
export async function fetchPayloads<K extends keyof Payloads>(
  context: ClientContext,
  kind: K,
  { chain, keys, options }: { readonly chain: number; readonly keys: PayloadKeys; readonly options: PayloadOptions },
): Promise<Payloads[K][]> {
  const operation = BATCH[kind]
  const params = { chain: chainText(operation, chain) }
  const { hashes, heights } = uniqueKeysOf(keys)
  const found = new Map<string, Payloads[K]>()
  let left = hashes
  while (left.length > 0) {
    const batch = left.slice(0, MAX_IN_BATCH)
    const body = heights === undefined ? batch : { hashes: batch, heights: batch.map((hash) => heights.get(hash) ?? 0) }
    const { body: items, answer } = await context.requests.json(operation, { ...callOf(options), params, body })
    const missing = new Set(batch)
    for (const item of items) {
      // Each once: a node that repeats a payload is as wrong as one that adds another.
      if (!missing.delete(item.payloadHash)) {
        throw misbehaviourOf(operation, answer, `a payload too many: ${item.payloadHash}`)
      }
      if (options.verify) verifyPayload(item, originOf(context, operation, params))
      found.set(item.payloadHash, item as Payloads[K])
    }
    // Missing payloads may have been too much for the node. Only a response without any means that it has none of them.
    left = [...(items.length > 0 ? missing : []), ...left.slice(MAX_IN_BATCH)]
  }
  return hashes.map((hash) => found.get(hash)).filter((item) => item !== undefined)
}

/** @returns keys without repetitions. @throws NewcutError BAD_OPTION for another number of heights than of hashes */
function uniqueKeysOf(keys: PayloadKeys): { hashes: string[]; heights: ReadonlyMap<string, number> | undefined } {
  const isList = Array.isArray(keys)
  const { hashes, heights } = (isList ? { hashes: keys } : keys) as Exclude<PayloadKeys, readonly Hash[]>
  if (heights !== undefined && heights.length !== hashes.length) {
    throw operatingError(nodeErrors.unequalHeights, { heights: heights.length, hashes: hashes.length })
  }
  const byHash = new Map(hashes.map((hash, i) => [textOfHash(hash), heights?.[i] ?? 0]))
  return { hashes: [...byHash.keys()], heights: heights && byHash }
}
