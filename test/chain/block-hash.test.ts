import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha512t256 } from '../../src/devnet/rules/digest.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { withCreationTime, withNonce } from '../../src/ground/chain/header.ts'
import { prepareBlockHash } from '../../src/mining/mine/readiness.ts'
import { freshWork } from '../support/work.ts'

it('the shared part gives the block hash for any nonce, in graphs of any degree', () => {
  const nonces = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9 }), nonces, nonces, (degree, before, nonce) => {
      const work = withNonce(freshWork(1_000n, degree), before)
      const solved = withNonce(work, nonce)
      const expected = blockHash(solved)
      expect(prepareBlockHash(work)(solved)).toEqual(expected)
      expect(Uint8Array.from(prepareBlockHash(work, sha512t256)(solved))).toEqual(expected)
    }),
  )
})

it('the block hash differs for another creation time', () => {
  const work = freshWork(1_000n)
  const later = withCreationTime(work, 1_800_000_000_000_000n)
  expect(prepareBlockHash(later)(later)).toEqual(blockHash(later))
  expect(prepareBlockHash(work)(work)).not.toEqual(blockHash(later))
})
