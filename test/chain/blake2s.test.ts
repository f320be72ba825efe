import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish, midstate } from '../../src/ground/chain/blake2s.ts'

describe('BLAKE2s in two steps', () => {
  it('BLAKE2s in two steps agrees with node:crypto for messages of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 500 }), (message) => {
        const mid = midstate(message)
        const digest = Buffer.from(finish(mid).buffer).toString('hex')
        expect(digest).toBe(hash('blake2s256', message))
        // `finish` does not modify the midstate.
        expect(Buffer.from(finish(mid).buffer).toString('hex')).toBe(digest)
      }),
    )
  })
})
