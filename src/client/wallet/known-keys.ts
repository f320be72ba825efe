/** Published keys by name, for development networks, where coins are worth nothing. */
import { encodeHex } from '#ground/base/bytes.ts'
import { DEVELOPMENT_PHRASE, developmentAccounts } from '#ground/chain/development-accounts.ts'
import { secretKeyAt, seedOfPhrase } from '#ground/chain/phrase-keys.ts'
import { type SigningKey, signingKey } from './keys.ts'
import { MINER_NAME, PHRASE_NAME } from './known-names.ts'

/** A key and the account that it guards. */
export interface NamedKey {
  readonly account: string
  readonly key: SigningKey
}

/** The secret key of the built-in miner of development networks: 32 bytes of zero. */
const MINER_SECRET_KEY = '0'.repeat(64)

/** @returns the key with this name, or null if there is none */
export function knownKey(name: string): NamedKey | null {
  if (name === MINER_NAME) {
    const key = signingKey(MINER_SECRET_KEY)
    return { account: `k:${key.publicKey}`, key }
  }
  const [, index] = PHRASE_NAME.exec(name) ?? []
  if (index !== undefined) {
    const key = signingKey(encodeHex(secretKeyAt(seedOfPhrase(DEVELOPMENT_PHRASE), Number(index))))
    return { account: `k:${key.publicKey}`, key }
  }
  const found = developmentAccounts.find(({ account }) => account === name)
  return found === undefined ? null : { account: found.account, key: signingKey(found.secretKey) }
}
