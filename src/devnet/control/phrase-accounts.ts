/** Accounts of the phrase of development networks, which a node can fund when it starts. */
import { encodeHex } from '#ground/base/bytes.ts'
import { publicKeyOf, secretKeyOf } from '#ground/base/ed25519.ts'
import { DEVELOPMENT_PHRASE } from '#ground/chain/development-accounts.ts'
import { secretKeyAt, seedOfPhrase } from '#ground/chain/phrase-keys.ts'

/** An account that a key of the phrase guards. */
export interface PhraseAccount {
  /** `k:` and the public key. */
  readonly account: string
  /** Ed25519, hex. */
  readonly publicKey: string
  readonly secretKey: string
}

/** The first accounts of the phrase, by index. */
export function phraseAccounts(count: number): readonly PhraseAccount[] {
  if (count === 0) return []
  const seed = seedOfPhrase(DEVELOPMENT_PHRASE)
  return Array.from({ length: count }, (_, index) => accountOf(secretKeyAt(seed, index)))
}

function accountOf(secret: Uint8Array): PhraseAccount {
  const publicKey = publicKeyOf(secretKeyOf(secret))
  return { account: `k:${publicKey}`, publicKey, secretKey: encodeHex(secret) }
}
