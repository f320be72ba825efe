/** Keys from a phrase, against values of others: SLIP-0010, and the wallet library of the network. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { phrasePath } from '../../src/ground/chain/development-accounts.ts'
import { derivedKey, secretKeyAt, seedOfPhrase } from '../../src/ground/chain/phrase-keys.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function publicKeyOf(secret: Uint8Array): string {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret])
  const { x = '' } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  })
  return Buffer.from(x, 'base64url').toString('hex')
}

describe('keys of a phrase', () => {
  it('phrase keys match test vector 1 of SLIP-0010 for ed25519', () => {
    const seed = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
    expect(hex(derivedKey(seed, []))).toBe('2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7')
    const last = derivedKey(seed, [0, 1, 2, 2, 1_000_000_000])
    expect(hex(last)).toBe('8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793')
  })

  it.each([
    [0, '43726c4a2e7b03fa5d23635307e5b130baf8b261e1081c099a2b43db1d4554cc'],
    [1, '3f53dfad097fdf8501c32b275e109980ed7121866a63ca34bb035c4a2e41a265'],
    [2, '3021bcfa703cc4fac007ab4c5050df5c0b8ca7d655ea80c84af9ea5e43ecf0ff'],
  ])("key %i of a phrase is the one that @kadena/hd-wallet tests, below m/44'/626'", (index, publicKey) => {
    const phrase = 'coyote utility final warfare thumb symbol mule scale final nominee behave crumble'
    expect(publicKeyOf(derivedKey(seedOfPhrase(phrase), [44, 626, index, 0, 0]))).toBe(publicKey)
  })

  it("a phrase has account keys at m/44'/626'/i'", () => {
    const seed = seedOfPhrase('one two')
    expect(secretKeyAt(seed, 7)).toEqual(derivedKey(seed, [44, 626, 7]))
    expect(secretKeyAt(seed, 8)).not.toEqual(secretKeyAt(seed, 7))
    expect(phrasePath('i')).toBe("m/44'/626'/i'")
    expect(phrasePath(3)).toBe("m/44'/626'/3'")
  })
})
