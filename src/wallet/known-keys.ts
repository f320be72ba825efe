/** Published keys by name, for development networks, where coins are worth nothing. */
import { encodeHex } from '../base/bytes.ts'
import { developmentAccounts } from '../core/development-accounts.ts'
import { DEVELOPMENT_PHRASE, secretKeyAt, seedOfPhrase } from '../core/phrase-keys.ts'
import { type SigningKey, signingKey } from './keys.ts'

/** A key and the account that it guards. */
export interface NamedKey {
  readonly account: string
  readonly key: SigningKey
}

/** The secret key of the built-in miner of development networks: 32 bytes of zero. */
const MINER_SECRET_KEY = '0'.repeat(64)

/** The names: `sender00` to `sender09`, which are funded, and `miner`, who is paid for blocks by default. */
export const knownKeyNames: readonly string[] = [...developmentAccounts.map(({ account }) => account), 'miner']

/** Names of accounts of the phrase: `account0`, and so on. */
const PHRASE_NAME = /^account(0|[1-9]\d{0,3})$/

/** @returns the key with this name, or null if there is none */
export function knownKey(name: string): NamedKey | null {
  if (name === 'miner') {
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
