/** Conversion of bytes to text and numbers. Decoders of text are strict: each value has exactly one spelling. */
import { bytesToHex as toHex } from '@noble/hashes/utils.js'
import { FormatError } from './errors.ts'

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Marks characters outside of base64url: a bit above the six bits of a value. */
const NO_VALUE = 64
/** UTF-16 code -> value. A table is ten times as fast as a Map and a loop that collects bits. */
const BASE64URL_VALUES = new Uint8Array(0x10000).fill(NO_VALUE)
for (let value = 0; value < 64; value++) BASE64URL_VALUES[BASE64URL.charCodeAt(value)] = value

/** Encodes each byte as two lower-case hex digits. */
export const encodeHex: (bytes: Uint8Array) => string = toHex

/**
 * Decodes hex digits of either case.
 * @param field name of the value in errors
 * @throws FormatError
 */
export function decodeHex(text: string, field = 'hex'): Uint8Array<ArrayBuffer> {
  const bad = text.search(/[^0-9a-fA-F]/)
  if (bad >= 0) throw new FormatError(field, bad, `${JSON.stringify(text[bad])} is not a hex digit`)
  if (text.length % 2 === 1) throw new FormatError(field, text.length, 'odd number of hex digits')
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

/** Encodes by RFC 4648 section 5, without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    const chars = Math.min(4, Math.ceil(((bytes.length - i) * 8) / 6))
    for (let k = 0; k < chars; k++) text += BASE64URL[(group >> (18 - 6 * k)) & 63]
  }
  return text
}

/**
 * Decodes RFC 4648 section 5 without padding; unused low bits must be zero.
 * @throws FormatError
 */
export function decodeBase64Url(text: string, field = 'base64url'): Uint8Array {
  if (text.length % 4 === 1)
    throw new FormatError(field, text.length, `${text.length} characters is not a length of base64url`)
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8))
  const values = BASE64URL_VALUES
  const wholeGroups = text.length - (text.length % 4)
  let out = 0
  let seen = 0
  for (let i = 0; i < wholeGroups; i += 4) {
    const a = values[text.charCodeAt(i)]
    const b = values[text.charCodeAt(i + 1)]
    const c = values[text.charCodeAt(i + 2)]
    const d = values[text.charCodeAt(i + 3)]
    seen |= a | b | c | d
    bytes[out++] = (a << 2) | (b >> 4)
    bytes[out++] = (b << 4) | (c >> 2)
    bytes[out++] = (c << 6) | d
  }
  let buffer = 0
  for (let i = wholeGroups; i < text.length; i++) {
    const value = values[text.charCodeAt(i)]
    seen |= value
    buffer = (buffer << 6) | value
  }
  if (seen >= NO_VALUE) throw base64UrlError(text, field)
  // Two characters (12 bits) encode one byte, three (18 bits) two; the unused bits are the lowest.
  const unused = text.length % 4 === 2 ? 4 : text.length % 4 === 3 ? 2 : 0
  if ((buffer & ((1 << unused) - 1)) !== 0) {
    throw new FormatError(field, text.length - 1, 'unused bits of the last character are not zero')
  }
  if (unused === 4) bytes[out] = buffer >> 4
  if (unused === 2) {
    bytes[out] = buffer >> 10
    bytes[out + 1] = buffer >> 2
  }
  return bytes
}

function base64UrlError(text: string, field: string): FormatError {
  let i = 0
  while (BASE64URL_VALUES[text.charCodeAt(i)] !== NO_VALUE) i++
  return new FormatError(field, i, `${JSON.stringify(text[i])} is not a base64url character (no padding allowed)`)
}

/**
 * Decodes a 32-byte hash or number from 43 base64url characters.
 * @throws FormatError
 */
export function decodeHash(text: string, field = 'hash'): Uint8Array {
  if (text.length !== 43) throw new FormatError(field, 0, `${text.length} characters, expected 43 of base64url`)
  return decodeBase64Url(text, field)
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Reads a little-endian unsigned integer of 2 bytes.
 * @throws RangeError beyond the end
 */
export function readU16LE(bytes: Uint8Array, offset: number): number {
  return view(bytes).getUint16(offset, true)
}
/**
 * Reads a little-endian unsigned integer of 4 bytes.
 * @throws RangeError beyond the end
 */
export function readU32LE(bytes: Uint8Array, offset: number): number {
  return view(bytes).getUint32(offset, true)
}
/**
 * Reads a little-endian unsigned integer of 8 bytes.
 * @throws RangeError beyond the end
 */
export function readU64LE(bytes: Uint8Array, offset: number): bigint {
  return view(bytes).getBigUint64(offset, true)
}
/**
 * Reads a little-endian signed integer of 8 bytes.
 * @throws RangeError beyond the end
 */
export function readI64LE(bytes: Uint8Array, offset: number): bigint {
  return view(bytes).getBigInt64(offset, true)
}
/**
 * Reads a little-endian unsigned integer of 32 bytes.
 * @throws RangeError beyond the end
 */
export function readU256LE(bytes: Uint8Array, offset: number): bigint {
  const words = view(bytes)
  const low = (words.getBigUint64(offset + 8, true) << 64n) | words.getBigUint64(offset, true)
  const top = words.getBigUint64(offset + 24, true)
  const third = words.getBigUint64(offset + 16, true)
  // Fast path: most weights are below 2^128, and bigint arithmetic dominates the time.
  return top === 0n && third === 0n ? low : (((top << 64n) | third) << 128n) | low
}
/**
 * Writes a little-endian unsigned integer of 2 bytes.
 * @throws RangeError beyond the end
 */
export function writeU16LE(bytes: Uint8Array, offset: number, value: number): void {
  view(bytes).setUint16(offset, value, true)
}
/**
 * Writes a little-endian unsigned integer of 4 bytes.
 * @throws RangeError beyond the end
 */
export function writeU32LE(bytes: Uint8Array, offset: number, value: number): void {
  view(bytes).setUint32(offset, value, true)
}
/**
 * Writes a little-endian unsigned integer of 8 bytes.
 * @throws RangeError beyond the end
 */
export function writeU64LE(bytes: Uint8Array, offset: number, value: bigint): void {
  view(bytes).setBigUint64(offset, value, true)
}
/**
 * Writes a little-endian signed integer of 8 bytes.
 * @throws RangeError beyond the end
 */
export function writeI64LE(bytes: Uint8Array, offset: number, value: bigint): void {
  view(bytes).setBigInt64(offset, value, true)
}
/**
 * Writes a little-endian unsigned integer of 32 bytes.
 * @throws RangeError beyond the end
 */
export function writeU256LE(bytes: Uint8Array, offset: number, value: bigint): void {
  for (let i = 0; i < 4; i++) writeU64LE(bytes, offset + 8 * i, (value >> BigInt(64 * i)) & 0xffff_ffff_ffff_ffffn)
}

/** A u256 as 32 little-endian bytes. */
export function u256LE(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32)
  writeU256LE(bytes, 0, value)
  return bytes
}

/** Concatenates the parts into a new array. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

/** Compares length and bytes; not in constant time. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

/** Byte buffer that grows by doubling: a stream of single bytes must not cost one object per byte. */
export class ByteBuffer {
  #bytes = new Uint8Array(256)
  size = 0

  append(piece: Uint8Array): void {
    const end = this.size + piece.length
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(2 * end)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.size)
    this.size = end
  }

  /** @returns a copy of the content, and empties the buffer */
  take(): Uint8Array {
    const content = this.#bytes.slice(0, this.size)
    this.size = 0
    return content
  }
}
