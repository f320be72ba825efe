/** Commands in the form of common clients, checked by code that shares nothing with src/. */
import { createPublicKey, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCapability } from '../../src/client/wallet/capability.ts'
import { commandText } from '../../src/client/wallet/command.ts'
import { type Draft, signedCommand, signingKey } from '../../src/client/wallet/keys.ts'
import { knownKey } from '../../src/client/wallet/known-keys.ts'
import { knownKeyNames } from '../../src/client/wallet/known-names.ts'
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'
import { blake2b256 } from '../devnet/command.ts'

const [zero, one] = developmentAccounts.map(({ secretKey }) => signingKey(secretKey))

const draft: Draft = {
  networkId: 'development',
  chain: 0,
  payload: { code: '(coin.transfer "sender00" "k:abc" 1.5)', data: '{}' },
  signers: [
    {
      key: zero,
      capabilities: [readCapability('(coin.GAS)'), readCapability('(coin.TRANSFER "sender00" "k:abc" 1.5)')],
    },
  ],
  sender: 'sender00',
  gasLimit: 2500,
  gasPrice: '1e-8',
  ttl: 900,
  creationTime: 1_795_288_532,
  nonce: 'kjs:nonce:1795288532795',
}

/** Whether the hex signature over these bytes is a valid Ed25519 signature of that public key. */
function isSigned(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const x = Buffer.from(publicKey, 'hex').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, bytes, key, Buffer.from(signature, 'hex'))
}

describe('the text of a command', () => {
  it('the text of a command with code has the properties in the order of the common clients', () => {
    const { publicKey } = zero
    expect(commandText(draft)).toBe(
      `{"payload":{"exec":{"code":"(coin.transfer \\"sender00\\" \\"k:abc\\" 1.5)","data":{}}},` +
        `"nonce":"kjs:nonce:1795288532795",` +
        `"signers":[{"pubKey":"${publicKey}","scheme":"ED25519","clist":[{"name":"coin.GAS","args":[]},` +
        `{"name":"coin.TRANSFER","args":["sender00","k:abc",{"decimal":"1.5"}]}]}],` +
        `"meta":{"gasLimit":2500,"gasPrice":1e-8,"sender":"sender00","ttl":900,"creationTime":1795288532,"chainId":"0"},` +
        `"networkId":"development"}`,
    )
  })

  it('the text of a continuation has the properties in that order too, and a proof of null where there is none', () => {
    const step = { pactId: 'abc', step: 1, rollback: false, data: '{}' }
    const text = (proof: string | null) => commandText({ ...draft, payload: { ...step, proof } })
    expect(text('cHJvb2Y')).toContain(
      '{"payload":{"cont":{"data":{},"proof":"cHJvb2Y","pactId":"abc","step":1,"rollback":false}},"nonce"',
    )
    expect(text(null)).toContain('"proof":null,"pactId"')
  })

  it('the text of a command keeps every digit of data and gas price', () => {
    const data = '{"n": 0.1234567890123456789012345, "i": 123456789012345678901234567890}'
    const text = commandText({ ...draft, payload: { code: '1', data }, gasPrice: '0.000000012345678901' })
    expect(text).toContain(`"data":${data}}`)
    expect(text).toContain('"gasPrice":0.000000012345678901,')
  })

  it('the text of a command has no list of capabilities for an unrestricted signature', () => {
    const text = commandText({ ...draft, signers: [{ key: zero, capabilities: [] }] })
    expect(JSON.parse(text).signers).toEqual([{ pubKey: zero.publicKey, scheme: 'ED25519' }])
  })

  it('the text of a command is JSON equal to the draft, for any texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.json(), (code, nonce, data) => {
        const json = JSON.parse(commandText({ ...draft, payload: { code, data }, nonce, sender: code }))
        expect(json.payload.exec.code).toEqual(code)
        expect(json.nonce).toEqual(nonce)
        expect(json.meta.sender).toEqual(code)
        expect(json.payload.exec.data).toEqual(JSON.parse(data))
      }),
    )
  })
})

describe('a signed command', () => {
  it('a signed command has the BLAKE2b-256 hash of its text, and a signature over it from each signer', () => {
    const signers = [zero, one].map((key) => ({ key, capabilities: [] }))
    const { hash, sigs, cmd } = signedCommand({ ...draft, nonce: 'ä€😀', signers })
    const bytes = blake2b256(cmd)
    expect(hash).toBe(bytes.toString('base64url'))
    expect(sigs.map(({ sig }, i) => isSigned([zero, one][i].publicKey, bytes, sig))).toEqual([true, true])
    expect(isSigned(one.publicKey, bytes, sigs[0].sig)).toBe(false)
  })
})

describe('keys', () => {
  it('well-known keys have the public keys of their accounts', () => {
    for (const { account, publicKey } of developmentAccounts) {
      expect(knownKey(account)).toMatchObject({ account, key: { publicKey } })
    }
    expect(knownKeyNames).toHaveLength(11)
    expect(knownKey('sender10')).toBeNull()
  })

  it('the key of the miner is the one that development networks pay', () => {
    const publicKey = '3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29'
    expect(knownKey('miner')).toMatchObject({ account: `k:${publicKey}`, key: { publicKey } })
  })

  it('keys have 32 bytes', () => {
    expect(() => signingKey('ab')).toThrow('a secret key of 1 bytes, expected 32')
    expect(() => signingKey('xy'.repeat(32))).toThrow('is not a hex digit')
  })
})
