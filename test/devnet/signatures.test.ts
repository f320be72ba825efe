/** Signatures of signers: WebAuthn signatures as authenticators make them, built by hand. */
import {
  createPrivateKey,
  createPublicKey,
  hash as digest,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signatureFault, signaturesFault, verifyAhead } from '../../src/devnet/mempool/signatures.ts'
import { keyPair } from './command.ts'

const hash = digest('sha256', 'some command', 'buffer')
const text = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

/** CBOR: `{1: 2, 3: -7, -1: 1, -2: x, -3: y}` of a P-256 key. */
function p256() {
  // Encoded at once: in Node 20, a later export of the generated key hangs if the garbage collector runs meanwhile.
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  const { x = '', y = '' } = createPublicKey({ key: publicKey, type: 'spki', format: 'der' }).export({ format: 'jwk' })
  const parts = ['a5010203262001215820', Buffer.from(x, 'base64url').toString('hex'), '225820']
  return {
    cose: `${parts.join('')}${Buffer.from(y, 'base64url').toString('hex')}`,
    secret: createPrivateKey({ key: privateKey, type: 'pkcs8', format: 'der' }),
  }
}

/** CBOR: `{1: 1, 3: -8, -1: 6, -2: x}` of an Ed25519 key. */
function ed25519() {
  const { publicKey, secret } = keyPair()
  return { cose: `a4010103272006215820${publicKey}`, secret }
}

/** The response of a browser and an authenticator to a challenge. */
function authenticated(secret: KeyObject, challenge: Uint8Array = hash) {
  const client = text({
    type: 'webauthn.get',
    challenge: Buffer.from(challenge).toString('base64url'),
    origin: 'https://wallet.example',
  })
  const data = Buffer.concat([digest('sha256', 'wallet.example', 'buffer'), Buffer.from('0500000001', 'hex')])
  const signed = Buffer.concat([data, digest('sha256', client, 'buffer')])
  const signature = sign(secret.asymmetricKeyType === 'ec' ? 'sha256' : null, signed, secret)
  return {
    authenticatorData: data.toString('base64'),
    clientDataJSON: client.toString('base64url'),
    signature: signature.toString('base64'),
  }
}

const faultOf = (sig: unknown, pubKey: string) =>
  signatureFault(typeof sig === 'string' ? sig : JSON.stringify(sig), { pubKey, scheme: 'WebAuthn', addr: null }, hash)

describe.each([
  ['P-256', p256],
  ['Ed25519', ed25519],
])('a signature of an authenticator with %s', (_name, make) => {
  const { cose, secret } = make()
  const right = authenticated(secret)

  it('a signature of an authenticator is valid for its key, with and without the prefix', () => {
    expect(faultOf(right, `WEBAUTHN-${cose}`)).toBe(null)
    expect(faultOf(right, cose)).toBe(null)
  })

  it('a signature of an authenticator is invalid for any other key, hash or data', () => {
    expect(faultOf(right, `WEBAUTHN-${make().cose}`)).toBe('invalid WebAuthn signature')
    const other = digest('sha256', 'another command', 'buffer')
    expect(faultOf(authenticated(secret, other), cose)).toBe('its challenge is not the hash of the command')
    const changed = { ...right, authenticatorData: text('something else').toString('base64') }
    expect(faultOf(changed, cose)).toBe('invalid WebAuthn signature')
    // The client data names the right challenge; the signature belongs to another one.
    const forged = { ...authenticated(secret, other), clientDataJSON: right.clientDataJSON }
    expect(faultOf(forged, cose)).toBe('invalid WebAuthn signature')
  })

  it('a signature of an authenticator is refused if it is malformed', () => {
    const shape = 'no JSON text with authenticatorData, clientDataJSON and signature'
    for (const sig of ['', 'ab'.repeat(64), 'null', '[]', { ...right, signature: 7 }, { signature: right.signature }]) {
      expect(faultOf(sig, cose)).toBe(shape)
    }
    const broken = { ...right, clientDataJSON: text('no JSON').toString('base64') }
    expect(faultOf(broken, cose)).toBe('its challenge is not the hash of the command')
    expect(faultOf({ ...right, signature: '' }, cose)).toBe('invalid WebAuthn signature')
  })

  it('a signature of an authenticator is refused for a malformed key', () => {
    const none = 'the public key is no COSE key of P-256 or Ed25519'
    const cut = cose.slice(0, -2)
    for (const pubKey of ['', 'WEBAUTHN-', 'WEBAUTHN-xy', cut, `${cose}00`, 'a0', '80', 'ff', `bb${'ff'.repeat(8)}`]) {
      expect(faultOf(right, pubKey), pubKey).toEqual(none)
    }
  })
})

it('a point off the curve is not a key', () => {
  const { cose, secret } = p256()
  const off = `${cose.slice(0, -64)}${'00'.repeat(32)}`
  expect(faultOf(authenticated(secret), off)).toMatch(/^the public key cannot be one \(/)
})

describe('signatures that are verified ahead', () => {
  const keys = [keyPair(), keyPair(), keyPair()]
  const signers = keys.map(({ publicKey }) => ({ pubKey: publicKey, scheme: null, addr: null }))
  const sigOf = ({ secret }: (typeof keys)[number]) => ({ sig: sign(null, hash, secret).toString('hex') })

  it('a command has the same faults as without', async () => {
    const [right, , other] = keys.map(sigOf)
    for (const second of [other, { sig: 'ab'.repeat(63) }, { sig: 'xy'.repeat(64) }]) {
      const command = { hash, signers, sigs: [right, second, other] }
      const fault = signaturesFault(command)
      expect(fault).toMatch(/^The signature at position 1 is invalid: /)
      await verifyAhead(command)
      expect(signaturesFault(command)).toBe(fault)
    }
    const whole = { hash, signers, sigs: keys.map(sigOf) }
    await verifyAhead(whole)
    expect(signaturesFault(whole)).toBe(null)
  })

  it('signatures and signers may differ in number', async () => {
    const [first] = keys.map(sigOf)
    const command = { hash, signers, sigs: [first] }
    await verifyAhead(command)
    expect(signaturesFault(command)).toMatch(/^The number of signers and signatures do not match/)
    expect(signaturesFault(command, ({ pubKey }) => pubKey !== keys[0].publicKey)).toBe(null)
  })

  it('the check of a command takes the verdict and does not verify again', async () => {
    const sigs = keys.map(sigOf)
    const command = { hash, signers, sigs }
    await verifyAhead(command)
    sigs[0] = sigs[1]
    expect(signaturesFault(command)).toBe(null)
    expect(signaturesFault({ ...command })).toMatch(/position 0 is invalid: invalid ed25519 signature/)
  })
})
