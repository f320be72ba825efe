/** Headers and payloads that the forked node tells by their hashes: their content must have the hash. */
import { decodeBase64Url, encodeBase64Url } from '../../core/bytes.ts'
import { FormatError } from '../../core/errors.ts'
import { decodeHeader, encodeHeader } from '../../core/header.ts'
import { parseJson } from '../../core/json.ts'
import { hashText, hasOwnHash } from '../../fork/pin.ts'
import type { StoredPayload } from '../store/payload.ts'
import { payloadFromJson } from '../store/payload-json.ts'

export interface ToldHeader {
  readonly bytes: Uint8Array
  readonly height: number
}

/** @returns null for a text that is no header with this hash (base64url) */
export function headerTold(text: string, hash: string): ToldHeader | null {
  return orNull(() => {
    const header = decodeHeader(decodeBase64Url(parseJson(text) as string, 'header'))
    const isIt = hasOwnHash(header) && hashText(header) === hash
    return isIt ? { bytes: encodeHeader(header), height: Number(header.height) } : null
  })
}

/** @returns null for JSON that is no payload with this hash, with its outputs */
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
