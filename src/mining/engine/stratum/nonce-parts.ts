/** Splits the nonce between the server and a client: 2 + 6 bytes with a rig, 1 + 7 with a proxy of newcut. */
import { type ByteOrder, nonce2Number } from '../../stratum/nonces.ts'

export type Nonce1Bits = 8 | 16

/** Digits of the byte that a proxy chooses, and of the rest of its nonce2. */
const SECOND = 2
const REST = 12

interface NonceParts {
  /** The low two bytes of the nonce. */
  readonly nonce1: number
  /** The other six. */
  readonly nonce2: number
  /** Unique for each nonce of a session. */
  readonly key: number | string
}

/** Number of bytes of nonce2. */
export const nonce2Bytes = (bits: Nonce1Bits) => 8 - bits / 8

/** Whether a text is a nonce2: hex digits, perhaps without leading zeros. */
export function isNonce2(text: string, bits: Nonce1Bits): boolean {
  return text.length <= 2 * nonce2Bytes(bits) && /^[0-9a-f]+$/i.test(text)
}

/** The nonce of a share. A proxy uses the usual order, with the byte that it chose for its rig last. */
export function nonceParts(text: string, nonce1: number, bits: Nonce1Bits, order: ByteOrder): NonceParts {
  if (bits === 16) {
    const nonce2 = nonce2Number(text, REST, order)
    return { nonce1, nonce2, key: nonce2 }
  }
  const digits = text.padStart(REST + SECOND, '0')
  const second = Number.parseInt(digits.slice(REST), 16)
  return {
    nonce1: nonce1 | (second << 8),
    nonce2: nonce2Number(digits.slice(0, REST), REST, 'usual'),
    key: digits.toLowerCase(),
  }
}
