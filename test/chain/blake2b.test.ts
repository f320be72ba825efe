import { blake2b } from '@noble/hashes/blake2.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { blake2b256, whenCompiled } from '../../src/ground/chain/blake2b.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

it('BLAKE2b matches RFC 7693 before and after JIT compilation, and results do not change later', async () => {
  const [first, second] = [new Uint8Array(0), new TextEncoder().encode('abc')]
  const expected = [
    '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8',
    'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319',
  ]
  const before = [blake2b256(first), blake2b256(second)]
  expect(before.map(hex)).toEqual(expected)
  expect(await whenCompiled).toBe(true)
  const after = [blake2b256(first), blake2b256(second)]
  expect(after.map(hex)).toEqual(expected)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1000 }), (bytes) => {
      expect(hex(blake2b256(bytes))).toBe(hex(blake2b(bytes, { dkLen: 32 })))
    }),
  )
  expect(after.map(hex)).toEqual(expected)
})
