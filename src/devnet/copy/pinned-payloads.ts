/** Payloads from the forked node, checked by their hashes. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError, operatingError } from '#ground/base/errors.ts'
import type { NetworkCopy } from '#language/copy/network-copy.ts'
import type { StoredPayload } from '../store/payload.ts'
import { payloadFromJson } from '../store/payload-json.ts'
import { copyErrors } from './errors.ts'

/**
 * Chain -> payload of its pinned block, without those that the forked node no longer has.
 * @throws NewcutError NODE_MISBEHAVED for a payload that is not the one in the header
 */
export async function pinnedPayloads(fork: NetworkCopy): Promise<ReadonlyMap<number, StoredPayload>> {
  const found = [...fork.headers].map(async ([chain, header]) => {
    const json = await fork.chain(chain).payload()
    if (json === null) return []
    const payload = payloadIn(json, encodeBase64Url(header.payloadHash))
    if (payload !== null) return [[chain, payload] as const]
    throw operatingError(copyErrors.wrongPayload, { url: fork.remote.url, chain, height: header.height })
  })
  return new Map((await Promise.all(found)).flat())
}

/** @returns the payload with its outputs, or null for JSON of anything else, or with another hash */
export function payloadIn(json: unknown, hash: string): StoredPayload | null {
  return orNull(() => {
    const payload = payloadFromJson(json as Parameters<typeof payloadFromJson>[0])
    return encodeBase64Url(payload.payloadHash) === hash ? payload : null
  })
}

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof FormatError || error instanceof SyntaxError || error instanceof TypeError) return null
    throw error
  }
}
