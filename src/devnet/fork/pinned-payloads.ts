/** Payloads of the pinned blocks of a fork, checked against their headers. */
import { encodeBase64Url } from '../../core/bytes.ts'
import { NewcutError } from '../../core/errors.ts'
import type { ForkedNetwork } from '../../fork/fork.ts'
import type { StoredPayload } from '../store/payload.ts'
import { payloadIn } from './told-block.ts'

/**
 * Chain -> payload of its pinned block, without those that the forked node no longer has.
 * @throws NewcutError NODE_MISBEHAVED for a payload that is not the one in the header
 */
export async function pinnedPayloads(fork: ForkedNetwork): Promise<ReadonlyMap<number, StoredPayload>> {
  const found = [...fork.headers].map(async ([chain, header]) => {
    const json = await fork.chain(chain).payload()
    if (json === null) return []
    const payload = payloadIn(json, encodeBase64Url(header.payloadHash))
    if (payload !== null) return [[chain, payload] as const]
    const text = `the forked node ${fork.remote.url} gives a payload of chain ${chain} at height ${header.height}`
    throw new NewcutError('NODE_MISBEHAVED', `${text} that is not the one in its header`)
  })
  return new Map((await Promise.all(found)).flat())
}
