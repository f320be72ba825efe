/** Fetches whether a header is at or below the pin, on the branch of the pinned block. */
import { parseJson } from '../base/json.ts'
import type { Asker } from './asker.ts'
import type { ForkCache } from './cache.ts'
import { fetchHeader, hashText, refused, rootOf } from './pin.ts'

/** Place of a header in the cache. */
export const headerKey = (hash: string): string => `header:${hash}`

/** Caches the height of a header, or false if it is above the pin, on another branch, or unknown to the node. */
export async function fetchAncestor(asker: Asker, cache: ForkCache, hash: string): Promise<void> {
  const { network, chain, height, hash: pinned } = asker.block
  const { status, text } = await asker.remote.get(
    `${rootOf(network)}/chain/${chain}/header/${encodeURIComponent(hash)}`,
  )
  if (status !== 200 && status !== 404) throw refused(asker.remote, `the header ${hash}`, status, text)
  const at = status === 200 ? heightIn(text) : null
  if (at === null || at > height) cache.put(headerKey(hash), false)
  else {
    const found = await fetchHeader(asker.remote, network, chain, { height: at, head: pinned })
    cache.put(headerKey(hash), hashText(found) === hash ? at : false)
  }
}

/** Height in a header, as base64url of its bytes or as an object. */
function heightIn(text: string): number | null {
  const json = parseJson(text)
  if (typeof json === 'string') {
    // The height stands 32 + 8 + 8 + 4 + 8 bytes before the end: hash, nonce, epoch start, version, itself.
    const bytes = Buffer.from(json, 'base64url')
    return bytes.length < 60 ? null : Number(bytes.readBigUInt64LE(bytes.length - 60))
  }
  const { height } = (json ?? {}) as { readonly height?: unknown }
  return typeof height === 'number' ? height : null
}
