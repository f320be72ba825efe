/** Strict base64url without padding: one encoding per content. */

const FORM = /^[A-Za-z0-9_-]*={0,2}$/

export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}

/**
 * Decodes base64url. Padding is optional, but must be correct if present.
 * @returns null if the text is not base64url
 */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!FORM.test(text)) return null
  const bare = text.replace(/=+$/, '')
  if (bare.length !== text.length && text.length % 4 !== 0) return null
  const bytes = Buffer.from(bare, 'base64url')
  return bytes.toString('base64url') === bare ? bytes : null
}

/** @returns null if the bytes are not UTF-8 */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
