import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ByteBuffer,
  decodeBase64Url,
  decodeHash,
  decodeHex,
  encodeBase64Url,
  encodeHex,
  equalBytes,
  readU256LE,
  u256LE,
} from '../../src/ground/base/bytes.ts'
import { FormatError } from '../../src/ground/base/errors.ts'

const bits = (count: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(count)) - 1n })

/** The FormatError that `run` throws. Fails the test if it throws anything else, or nothing. */
function formatError(run: () => unknown): FormatError {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError)
    const { code, field, offset, message } = error as FormatError
    expect(code).toBe('BAD_FORMAT')
    expect(message.startsWith(`${field} at offset ${offset}: `)).toBe(true)
    return error as FormatError
  }
  return expect.unreachable('it should have thrown')
}

describe('bytes as text', () => {
  it('decodeHex and encodeHex agree with Buffer, in either case', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString('hex')
        expect(encodeHex(bytes)).toBe(text)
        expect(decodeHex(text)).toEqual(bytes)
        expect(decodeHex(text.toUpperCase())).toEqual(bytes)
      }),
    )
  })

  it('decodeHex refuses a text that is not hex at its first bad digit', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF') })
    fc.assert(
      fc.property(digits, fc.string({ unit: 'binary' }), (good, rest) => {
        const text = good + rest
        const bad = [...Array(text.length).keys()].find((i) => !/[0-9a-f]/i.test(text[i]))
        if (bad === undefined && text.length % 2 === 0) {
          expect(encodeHex(decodeHex(text))).toBe(text.toLowerCase())
        } else {
          const offset = bad ?? text.length
          expect(formatError(() => decodeHex(text, 'key'))).toMatchObject({ field: 'key', offset })
        }
      }),
    )
  })

  it('base64url is read and written as Buffer does it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64url')
        expect(encodeBase64Url(bytes)).toBe(text)
        expect(decodeBase64Url(text)).toEqual(bytes)
      }),
      { numRuns: 300 },
    )
  })

  it('the base64url reader accepts only what its writer would write', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const nearly = fc.string({ unit: fc.constantFrom(...alphabet, ...alphabet, '+', '/', '=', ' ', 'é', '😀') })
    let decoded = 0
    fc.assert(
      fc.property(nearly, (text) => {
        let bytes: Uint8Array
        try {
          bytes = decodeBase64Url(text, 'hash')
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError)
          expect((error as FormatError).field).toBe('hash')
          expect((error as FormatError).offset).toBeLessThanOrEqual(text.length)
          return
        }
        decoded++
        expect(encodeBase64Url(bytes)).toBe(text)
        expect(Buffer.from(text, 'base64url').equals(bytes)).toBe(true)
      }),
      { numRuns: 1000 },
    )
    expect(decoded).toBeGreaterThan(50)
  })

  it('the base64url reader refuses a last character with spare bits', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const size of [1, 2, 31, 32]) {
      const text = encodeBase64Url(new Uint8Array(size).fill(0xa5))
      const accepted = [...alphabet].filter((last) => {
        const other = text.slice(0, -1) + last
        // Buffer decodes all of these texts and drops the excess bits.
        expect(Buffer.from(other, 'base64url')).toHaveLength(size)
        try {
          return decodeBase64Url(other).length === size
        } catch (error) {
          expect(error).toMatchObject({ code: 'BAD_FORMAT', offset: text.length - 1 })
          return false
        }
      })
      expect(accepted).toHaveLength(size % 3 === 1 ? 4 : 16)
    }
  })

  it('the base64url reader refuses padding and impossible lengths', () => {
    for (const text of ['QQ==', 'QUI=', 'QUJD=', 'Q', 'QUJDQ', 'QQ\n', ' QQ']) {
      expect(formatError(() => decodeBase64Url(text)).field).toBe('base64url')
    }
    for (const length of [0, 42, 44, 86]) {
      expect(formatError(() => decodeHash('A'.repeat(length), 'target')).field).toBe('target')
    }
    expect(decodeHash('A'.repeat(43))).toEqual(new Uint8Array(32))
  })

  it('a u256 is read and written as 32 bytes, least significant first', () => {
    fc.assert(
      fc.property(bits(256), fc.nat({ max: 40 }), (value, offset) => {
        const bigEndian = Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
        expect(Buffer.from(u256LE(value)).reverse().equals(bigEndian)).toBe(true)
        const padded = new Uint8Array(80)
        padded.set(u256LE(value), offset)
        expect(readU256LE(padded, offset)).toBe(value)
      }),
    )
  })
})

describe('a buffer that grows', () => {
  it('a growing buffer gives away all appended bytes as they are at that time', () => {
    const buffer = new ByteBuffer()
    const pieces = Array.from({ length: 40 }, (_, n) => new Uint8Array(n * n).fill(n))
    for (const piece of pieces) buffer.append(piece)
    const content = buffer.take()
    buffer.append(new Uint8Array(1_000))
    expect(Buffer.concat(pieces).equals(content)).toBe(true)
    expect(buffer.size).toBe(1_000)
    expect(buffer.take()).toHaveLength(1_000)
    expect(buffer.size).toBe(0)
  })
})

it('bytes equal others of the same length and content', () => {
  const bytes = Uint8Array.of(1, 2)
  expect(equalBytes(bytes, Uint8Array.of(1, 2))).toBe(true)
  for (const other of [[], [1], [1, 3], [1, 2, 3]]) {
    expect(equalBytes(bytes, Uint8Array.from(other))).toBe(false)
    expect(equalBytes(Uint8Array.from(other), bytes)).toBe(false)
  }
})
