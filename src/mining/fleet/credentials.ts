/** Credential files for NATS. Errors never repeat their content. */
import { createRequire } from 'node:module'
import type { Authenticator } from '@nats-io/transport-node'
import { operatingError } from '#ground/base/errors.ts'
import { fleetErrors } from './errors.ts'

const CREDENTIALS =
  /^-+BEGIN NATS USER JWT-+\n\s*[\w-]+\.[\w-]+\.[\w-]+\s*\n-+END NATS USER JWT-+$[\s\S]*^-+BEGIN USER NKEY SEED-+\n\s*(\S+)\s*\n-+END USER NKEY SEED-+$/m
/** Output of `nk -gen user`; the public key may follow. */
const SEED = /^\s*(SU\S+)(?:\s+U\S+)?\s*$/

/**
 * Reads a signed token with the seed of its key, or a bare seed for servers that know users by their keys.
 * @param where name of the file, for errors
 * @throws NewcutError BAD_OPTION
 */
export function readCredentials(text: string, where: string): Authenticator {
  const plain = text.replaceAll('\r\n', '\n')
  const [, ofToken] = CREDENTIALS.exec(plain) ?? []
  const [, alone] = SEED.exec(plain) ?? []
  const encode = (part: string) => new TextEncoder().encode(part)
  const seed = encode(ofToken ?? alone ?? '')
  if (!isUserSeed(seed)) {
    throw operatingError(seed.length > 0 ? fleetErrors.badSeed : fleetErrors.noCredentials, { where })
  }
  const { nkeyAuthenticator, credsAuthenticator } = nats()
  return ofToken === undefined ? nkeyAuthenticator(seed) : credsAuthenticator(encode(plain))
}

/** Loads the client only for miners of a fleet. */
const nats = () => createRequire(import.meta.url)('@nats-io/transport-node') as typeof import('@nats-io/transport-node')

function isUserSeed(seed: Uint8Array): boolean {
  try {
    return nats().nkeys.fromSeed(seed).getPublicKey().startsWith('U')
  } catch {
    // Not a seed, or its checksum is wrong.
    return false
  }
}
