/**
 * The two parts of a nonce (PROTOCOL.md F). The server chooses nonce1, the low part, and the client nonce2, the high one:
 *
 *     nonce (u64) = nonce2 << (8 x bytes of nonce1)  |  nonce1
 *
 * Both are written as hex with the highest digit first. Some servers leave out leading zeros, so they are read as numbers.
 */
import { FormatError } from '../core/errors.ts'
import type { FixedNonce } from '../core/nonce.ts'

const NONCE_BYTES = 8
const HEX = /^[0-9a-f]+$/i

/** How a client writes the bytes of nonce2; `memory`: lowest byte first, as rigs of the type BlackMiner F1 do. */
export type ByteOrder = 'usual' | 'memory'

/** Reads what a server says of nonces: nonce1, and how many bytes nonce2 has. Throws FormatError. */
export function readNonce1(text: string, nonce2Bytes: number): FixedNonce {
  const bytes = NONCE_BYTES - nonce2Bytes
  // Engines keep at most the four lowest bytes fixed.
  if (!Number.isInteger(nonce2Bytes) || bytes < 0 || bytes > 4) {
    throw new FormatError('nonce2 size', 0, `${nonce2Bytes} bytes, expected 4 to 8`)
  }
  const value = text === '' && bytes === 0 ? 0 : numberOf(text, 'nonce1')
  if (value >= 2 ** (8 * bytes)) throw new FormatError('nonce1', 0, `more than ${bytes} bytes`)
  return { bits: 8 * bytes, value: Number(value) }
}

/** How many bytes nonce2 has. */
export function nonce2Size({ bits }: FixedNonce): number {
  return NONCE_BYTES - bits / 8
}

/** nonce1 as servers write it: all digits, with leading zeros. */
export function nonce1Text({ bits, value }: FixedNonce, order: ByteOrder = 'usual'): string {
  const text = bits === 0 ? '' : value.toString(16).padStart(bits / 4, '0')
  return order === 'usual' ? text : reversed(text)
}

/** nonce2 of at most 53 bits as a number: so many digits, of which leading ones may be missing, hex without a sign. */
export function nonce2Number(text: string, digits: number, order: ByteOrder): number {
  return Number.parseInt(order === 'usual' ? text : reversed(text.padStart(digits, '0')), 16)
}

/** nonce2 of a whole nonce, with leading zeros. */
export function nonce2Text(nonce: bigint, { bits }: FixedNonce): string {
  return (nonce >> BigInt(bits)).toString(16).padStart((8 * NONCE_BYTES - bits) / 4, '0')
}

/** The whole nonce of a nonce2 that a client hands in. Throws FormatError. */
export function composedNonce(nonce2: string, { bits, value }: FixedNonce, order: ByteOrder = 'usual'): bigint {
  const digits = (8 * NONCE_BYTES - bits) / 4
  if (nonce2.length > digits) throw new FormatError('nonce2', digits, `${nonce2.length} digits, at most ${digits}`)
  const number = numberOf(order === 'usual' ? nonce2 : reversed(nonce2.padStart(digits, '0')), 'nonce2')
  return (BigInt(number) << BigInt(bits)) | BigInt(value)
}

/** Pairs of hex digits in the opposite order. */
function reversed(text: string): string {
  return (text.match(/../g) ?? []).reverse().join('')
}

function numberOf(text: string, field: string): bigint {
  const bad = text.search(/[^0-9a-f]/i)
  if (!HEX.test(text)) throw new FormatError(field, Math.max(0, bad), 'expected hex digits')
  return BigInt(`0x${text}`)
}
