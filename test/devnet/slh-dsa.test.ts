/** The rule of SLH-DSA signatures: what is signed, in which form, and in which order its faults are found. */
import { beforeAll, describe, expect, it } from 'vitest'
import { signatureFault, signaturesFault } from '../../src/devnet/mempool/signatures.ts'
import { loadSlhDsa, manySlhDsaFault } from '../../src/devnet/mempool/slh-dsa.ts'
import { blake2b256 } from './command.ts'
import { commandOf } from './read-command.ts'
import { publicKey, SCHEME, signedBy, tests, transfer } from './slh-dsa-vectors.ts'

beforeAll(loadSlhDsa)

const [v1] = tests
const hashOf = (hex: string) => Buffer.from(hex, 'hex')

/** The fault of a vector's signature, with parts changed. */
function faultOf(
  change: { pubKey?: string; sig?: string; hash?: Uint8Array; scheme?: string; addr?: string } = {},
  rules = { hasSlhDsa: true },
) {
  const { pubKey = publicKey, sig = v1.signature, hash = hashOf(v1.hash), scheme = SCHEME, addr = null } = change
  return signatureFault(sig, { pubKey, scheme, addr }, hash, rules)
}

/** base64url with one bit changed. */
function flipped(text: string, byte: number): string {
  const bytes = Buffer.from(text, 'base64url')
  bytes[byte] ^= 1
  return bytes.toString('base64url')
}

describe('a signature of SLH-DSA', () => {
  it.each(tests)(
    'a signature of SLH-DSA signs the hash of a command in its frame: $name',
    ({ cmd, hash, framed, signature }) => {
      expect(blake2b256(cmd).toString('hex')).toBe(hash)
      expect(framed).toBe(`0108${Buffer.from('CHAINWEB').toString('hex')}060b2b060104018d3a0c020108${hash}`)
      expect(faultOf({ sig: signature, hash: hashOf(hash) })).toBe(null)
    },
  )

  it('a signature of SLH-DSA is valid for its key in either case of hex, whatever the address', () => {
    expect(faultOf({ pubKey: publicKey.toUpperCase() })).toBe(null)
    expect(faultOf({ addr: 'anything' })).toBe(null)
  })

  const failed = 'Signature verification failed'
  const bytes = Buffer.from(v1.signature, 'base64url')
  const cut = (length: number) => bytes.subarray(0, length).toString('base64url')
  it.each([
    ['with another first bit', { sig: flipped(v1.signature, 0) }, failed],
    ['with another last bit', { sig: flipped(v1.signature, 7855) }, failed],
    ['of another hash', { hash: hashOf(transfer.hash) }, failed],
    ['of a hash of 64 bytes', { hash: Buffer.alloc(64) }, failed],
    ['of another key', { pubKey: '5e2b7e2fd1f4bc9d4587b664a4c9f2b27b3d0812945f5f5cbdf88c5f83b0be5b' }, failed],
    ['of a key with one byte changed', { pubKey: publicKey.replace(/^80/, '81') }, failed],
    ['that lacks a byte', { sig: cut(7855) }, 'Invalid signature length'],
    ['that is empty', { sig: '' }, 'Invalid signature length'],
    ['of a hash of 31 bytes', { hash: hashOf(v1.hash).subarray(1) }, 'Unsupported TxHash'],
    ['of a key of 31 bytes', { pubKey: publicKey.slice(2) }, 'Invalid key'],
    ['of a key of 33 bytes', { pubKey: `${publicKey}00` }, 'Invalid key'],
    ['with one sign of padding', { sig: `${v1.signature}=` }, /unpadded$/],
    ['with two signs of padding', { sig: `${v1.signature}==` }, /invalid size$/],
    ['in base64', { sig: bytes.toString('base64').replace('=', '') }, /is not a base64url character/],
    ['with unused bits', { sig: `${v1.signature.slice(0, -1)}t` }, /unused bits/],
    ['of a key that is no hex', { pubKey: `q${publicKey}` }, /pubKey at offset 0: "q" is not a hex digit/],
    ['of an authenticator', { sig: webAuthn() }, 'scheme of Just SlhDsaSha128s does not match signature type WebAuthn'],
  ])('a signature of SLH-DSA is refused %s', (_name, change, fault) => {
    expect(faultOf(change)).toEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault))
  })

  it('a signature of SLH-DSA shows the first fault: key, text, hash, length of the key, length of the signature', () => {
    const all = { pubKey: 'abc', sig: 'a', hash: Buffer.alloc(31) }
    expect(faultOf(all)).toMatch(/^pubKey/)
    expect(faultOf({ ...all, pubKey: 'ab' })).toMatch(/invalid size$/)
    expect(faultOf({ ...all, pubKey: 'ab', sig: 'ab' })).toMatch(/unused bits/)
    expect(faultOf({ ...all, pubKey: 'ab', sig: '' })).toBe('Unsupported TxHash')
    expect(faultOf({ pubKey: 'ab', sig: '' })).toBe('Invalid key')
    expect(faultOf({ sig: '' })).toBe('Invalid signature length')
  })

  it.each([
    ['SLH-DSA-SHA2-192s', 48, 16_224],
    ['SLH-DSA-SHA2-256s', 64, 29_792],
  ])('a signature of SLH-DSA has the sizes of its scheme: %s', (scheme, keyBytes, signatureBytes) => {
    const sized = (key: number, sig: number) =>
      faultOf({ scheme, pubKey: 'ab'.repeat(key), sig: Buffer.alloc(sig).toString('base64url') })
    expect(sized(keyBytes, signatureBytes)).toBe(failed)
    expect(sized(keyBytes, signatureBytes + 1)).toBe('Invalid signature length')
    expect(sized(keyBytes - 16, signatureBytes)).toBe('Invalid key')
  })

  it('a signature of SLH-DSA is of a scheme that no release before the preview takes', () => {
    const unsupported = `Unsupported Signature scheme "${SCHEME}"; expected ED25519 or WebAuthn`
    expect(faultOf({}, { hasSlhDsa: false })).toBe(unsupported)
    const { sigs, signers, hash } = commandOf(signedBy(v1))
    const at = `The signature at position 0 is invalid: ${unsupported}.`
    expect(signaturesFault({ sigs, signers, hash })).toBe(at)
    expect(signaturesFault({ sigs, signers, hash }, undefined, { hasSlhDsa: true })).toBe(null)
  })
})

it('a signer counts by its key with a prefix, as keysets have it', () => {
  expect([...commandOf(signedBy(v1)).grants.keys()]).toEqual([`q${publicKey}`])
})

it('a client may send four such signatures with a command', () => {
  const signers = (count: number) => Array(count).fill({ pubKey: publicKey, scheme: SCHEME, addr: null })
  expect(manySlhDsaFault({ signers: signers(4) })).toBe(null)
  expect(manySlhDsaFault({ signers: signers(5) })).toBe('Too many SLH-DSA signatures: 5; a node takes 4')
})

function webAuthn(): string {
  return JSON.stringify({ authenticatorData: 'AA', clientDataJSON: 'AA', signature: 'AA' })
}
