/** The file with which somebody proves to a NATS server who he is. Nothing here repeats what is in it. */
import { type Authenticator, credsAuthenticator, nkeyAuthenticator, nkeys } from '@nats-io/transport-node'
import { NewcutError } from '../core/errors.ts'

const CREDENTIALS =
  /^-+BEGIN NATS USER JWT-+\n\s*[\w-]+\.[\w-]+\.[\w-]+\s*\n-+END NATS USER JWT-+$[\s\S]*^-+BEGIN USER NKEY SEED-+\n\s*(\S+)\s*\n-+END USER NKEY SEED-+$/m
/** As `nk -gen user` writes it; the public key may follow. */
const SEED = /^\s*(SU\S+)(?:\s+U\S+)?\s*$/
const EXPECTED =
  'expected a file of credentials (BEGIN NATS USER JWT ..., as nsc writes it), or the seed of a user alone (SU..., as nk -gen user writes it)'

/**
 * A signed token with the seed of its key, or that seed alone for servers that know users by their keys. `where` names the
 * file in errors. Throws NewcutError BAD_OPTION.
 */
export function readCredentials(text: string, where: string): Authenticator {
  const plain = text.replaceAll('\r\n', '\n')
  const [, ofToken] = CREDENTIALS.exec(plain) ?? []
  const [, alone] = SEED.exec(plain) ?? []
  const encode = (part: string) => new TextEncoder().encode(part)
  const seed = encode(ofToken ?? alone ?? '')
  if (!isUserSeed(seed)) {
    const what = seed.length > 0 ? 'its seed is damaged, or not that of a user' : 'there are no credentials in it'
    throw new NewcutError('BAD_OPTION', `${where}: ${what}`, { hint: EXPECTED })
  }
  return ofToken === undefined ? nkeyAuthenticator(seed) : credsAuthenticator(encode(plain))
}

function isUserSeed(seed: Uint8Array): boolean {
  try {
    return nkeys.fromSeed(seed).getPublicKey().startsWith('U')
  } catch {
    // Its checksum is wrong, or it is none.
    return false
  }
}
