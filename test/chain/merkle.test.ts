/** Hashes of leaves and nodes against a digest of their parts. */
import { sha512_256 } from '@noble/hashes/sha2.js'
import { expect, it } from 'vitest'
import { sha512t256 } from '../../src/devnet/rules/digest.ts'
import { concatBytes } from '../../src/ground/base/bytes.ts'
import { leaf, merkleRoot, TAG } from '../../src/ground/chain/merkle.ts'

const filled = (bytes: number) => Uint8Array.from({ length: bytes }, (_, i) => (i * 7) & 0xff)

it.each([0, 1, 4092, 4093, 4094, 10_000])('a leaf of %i bytes has the hash of its tag and its bytes', (bytes) => {
  const expected = sha512_256(concatBytes(Uint8Array.of(0, 0, TAG.transactionOutput), filled(bytes)))
  // A longer leaf before leaves nothing in the next one.
  leaf(TAG.nonce, filled(4000))
  expect(leaf(TAG.transactionOutput, filled(bytes))).toEqual(expected)
  expect(leaf(TAG.transactionOutput, filled(bytes), sha512t256)).toEqual(expected)
})

it('a root over three entries joins the first two, and then the third', () => {
  const [one, two, three] = [1, 2, 3].map((n) => new Uint8Array(32).fill(n))
  const node = (left: Uint8Array, right: Uint8Array) => sha512_256(concatBytes(Uint8Array.of(1), left, right))
  const expected = node(node(one, two), three)
  expect(merkleRoot([one, two, three])).toEqual(expected)
  expect(merkleRoot([one, two, three], sha512t256)).toEqual(expected)
})
