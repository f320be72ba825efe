/**
 * The two parts of a nonce (PROTOCOL.md F). The server chooses nonce1, the low part; the client chooses nonce2, the
 * high part:
 *
 *     nonce (u64) = nonce2 << (8 x bytes of nonce1)  |  nonce1
 *
 * Both are hex, highest digit first. Some servers omit leading zeros, so they are parsed as numbers.
 */
import { FormatError } from '#ground/base/errors.ts'
import type { FixedNonce } from '#ground/chain/nonce.ts'

const NONCE_BYTES = 8
const HEX = /^[0-9a-f]+$/i

/** Byte order of nonce2 from a client. `memory` is lowest byte first, used by rigs of the type BlackMiner F1. */
export type ByteOrder = 'usual' | 'memory'

/**
 * Parses a server's nonce1 and size of nonce2.
 * @throws FormatError
 */
export function readNonce1(text: string, nonce2Bytes: number): FixedNonce {
  const bytes = NONCE_BYTES - nonce2Bytes
  // Engines support at most four fixed low bytes.
  if (!Number.isInteger(nonce2Bytes) || bytes < 0 || bytes > 4) {
    throw new FormatError('nonce2 size', 0, `${nonce2Bytes} bytes, expected 4 to 8`)
  }
  const value = text === '' && bytes === 0 ? 0 : numberOf(text, 'nonce1')
  if (value >= 2 ** (8 * bytes)) throw new FormatError('nonce1', 0, `more than ${bytes} bytes`)
  return { bits: 8 * bytes, value: Number(value) }
}

/** Number of bytes in nonce2. */
export function nonce2Size({ bits }: FixedNonce): number {
  return NONCE_BYTES - bits / 8
}

/** Formats nonce1 with leading zeros. */
export function nonce1Text({ bits, value }: FixedNonce, order: ByteOrder = 'usual'): string {
  const text = bits === 0 ? '' : value.toString(16).padStart(bits / 4, '0')
  return order === 'usual' ? text : reversePairs(text)
}

/**
 * Parses nonce2 of at most 53 bits; the text is unsigned hex.
 * @param digits full number of digits; the text may omit leading zeros
 */
export function nonce2Number(text: string, digits: number, order: ByteOrder): number {
  return Number.parseInt(order === 'usual' ? text : reversePairs(text.padStart(digits, '0')), 16)
}

/** Extracts nonce2 from a whole nonce, with leading zeros. */
export function nonce2Text(nonce: bigint, { bits }: FixedNonce): string {
  return (nonce >> BigInt(bits)).toString(16).padStart((8 * NONCE_BYTES - bits) / 4, '0')
}

/**
 * Combines a client's nonce2 with nonce1 into the whole nonce.
 * @throws FormatError
 */
export function composeNonce(nonce2: string, { bits, value }: FixedNonce, order: ByteOrder = 'usual'): bigint {
  const digits = (8 * NONCE_BYTES - bits) / 4
  if (nonce2.length > digits) throw new FormatError('nonce2', digits, `${nonce2.length} digits, at most ${digits}`)
  const number = numberOf(order === 'usual' ? nonce2 : reversePairs(nonce2.padStart(digits, '0')), 'nonce2')
  return (BigInt(number) << BigInt(bits)) | BigInt(value)
}

/** Reverses the order of hex digit pairs. */
function reversePairs(text: string): string {
  return (text.match(/../g) ?? []).reverse().join('')
}

function numberOf(text: string, field: string): bigint {
  const bad = text.search(/[^0-9a-f]/i)
  if (!HEX.test(text)) throw new FormatError(field, Math.max(0, bad), 'expected hex digits')
  return BigInt(`0x${text}`)
}
