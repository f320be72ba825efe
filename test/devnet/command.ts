/** Signed commands as wallets create them: ed25519 over the BLAKE2b-256 hash of `cmd`. Uses nothing of src/. */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { blake2b } from '@noble/hashes/blake2.js'

export interface KeyPair {
  /** In hex. */
  readonly publicKey: string
  readonly secret: KeyObject
}

/**
 * A new key pair. Without `generateKeyPair`: in Node 20, an export of its key hangs if the garbage collector runs
 * meanwhile.
 */
export function keyPair(): KeyPair {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), randomBytes(32)])
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(secret).export({ format: 'jwk' })
  return { publicKey: Buffer.from(x, 'base64url').toString('hex'), secret }
}

const base64url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url')

/** A key pair from hex. */
export function keyPairOf(publicKey: string, secretKey: string): KeyPair {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64url(publicKey), d: base64url(secretKey) }
  return { publicKey, secret: createPrivateKey({ key: jwk, format: 'jwk' }) }
}

/** The keys of `sender00`, which every development network funds. */
export const funded = keyPairOf(
  '368820f80c324bbc7c2b0610688a7da43e39f91d118732671cd9c7500ff43cca',
  '251a920c403ae8c8f65f59142316af3c82b631fba46ddea92ee8c95035bd2898',
)

export const blake2b256 = (cmd: string) => Buffer.from(blake2b(Buffer.from(cmd), { dkLen: 32 }))
export const nowSeconds = () => Math.floor(Date.now() / 1000)

export interface Signed {
  readonly hash: string
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  readonly cmd: string
}

let made = 0

export type Change = Record<string, unknown>

/** A payload that passes every check on chain 0. Each call returns a different one. */
export function commandPayload(meta: Change = {}, change: Change = {}, keys: readonly KeyPair[] = [funded]): Change {
  return {
    networkId: 'development',
    payload: { exec: { data: {}, code: '(+ 1 2)' } },
    signers: keys.map(({ publicKey: pubKey }) => ({ pubKey, clist: [{ name: 'coin.GAS', args: [] }] })),
    meta: {
      chainId: '0',
      sender: 'sender00',
      gasLimit: 600,
      gasPrice: 1e-8,
      ttl: 28_800,
      creationTime: nowSeconds() - 5,
      ...meta,
    },
    nonce: `test ${made++}`,
    ...change,
  }
}

/** Hashes and signs the JSON text of a payload. */
export function signText(cmd: string, keys: readonly KeyPair[] = [funded], hash = blake2b256(cmd)): Signed {
  const sigs = keys.map(({ secret }) => ({ sig: sign(null, hash, secret).toString('hex') }))
  return { hash: hash.toString('base64url'), sigs, cmd }
}

/** A command that passes every check, apart from the given changes to its metadata and its payload. */
export function signed(meta: Change = {}, change: Change = {}, keys: readonly KeyPair[] = [funded]): Signed {
  return signText(JSON.stringify(commandPayload(meta, change, keys)), keys)
}
