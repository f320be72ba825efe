/** Accounts of the phrase of development networks, which a node can fund when it starts. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { decodeBase64Url, decodeHex, encodeHex } from '../../base/bytes.ts'
import { DEVELOPMENT_PHRASE } from '../../core/development-accounts.ts'
import { secretKeyAt, seedOfPhrase } from '../../core/phrase-keys.ts'

/** An account that a key of the phrase guards. */
export interface PhraseAccount {
  /** `k:` and the public key. */
  readonly account: string
  /** Ed25519, hex. */
  readonly publicKey: string
  readonly secretKey: string
}

/** PKCS #8 prefix of the 32 bytes of a secret key. */
const PKCS8_PREFIX = decodeHex('302e020100300506032b657004220420')

/** The first accounts of the phrase, by index. */
export function phraseAccounts(count: number): readonly PhraseAccount[] {
  if (count === 0) return []
  const seed = seedOfPhrase(DEVELOPMENT_PHRASE)
  return Array.from({ length: count }, (_, index) => accountOf(secretKeyAt(seed, index)))
}

function accountOf(secret: Uint8Array): PhraseAccount {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const publicKey = encodeHex(decodeBase64Url(x))
  return { account: `k:${publicKey}`, publicKey, secretKey: encodeHex(secret) }
}
