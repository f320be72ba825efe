/**
 * Addresses of NATS servers: `nats://[USER:PASSWORD@|TOKEN@]HOST[:PORT]`, or `tls://` where nothing of ours may be sent in
 * the clear. A server of NATS speaks first, in the clear, and then TLS begins: `handshake_first: true`, with which servers
 * from 2.10.4 on wait for TLS, is not supported.
 */
import { NewcutError } from '../core/errors.ts'

export interface NatsAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** null: none; a user without a password is a token, as NATS has it. */
  readonly user: string | null
  readonly password: string | null
  /** The address without user, password and token: what may be shown. */
  readonly url: string
}

const DEFAULT_PORT = 4222
const EXAMPLE = 'expected nats://HOST:4222, nats://USER:PASSWORD@HOST:4222, nats://TOKEN@HOST:4222, or tls://'
const ADDRESS = /^(nats|tls):\/\/(?:([^:@/\s]+)(?::([^@/\s]*))?@)?(\[[0-9a-f:.]+\]|[^:/@\s[\]]+)(?::(\d{1,5}))?\/?$/i

/** Throws NewcutError BAD_OPTION; the message does not repeat user, password and token. */
export function readNatsAddress(text: string): NatsAddress {
  const [, scheme, user, password, host, digits] = ADDRESS.exec(text.trim()) ?? []
  if (host === undefined) {
    throw new NewcutError('BAD_OPTION', 'the address of a NATS server cannot be read', { hint: EXAMPLE })
  }
  const port = digits === undefined ? DEFAULT_PORT : Number(digits)
  const url = `${scheme.toLowerCase()}://${host}:${port}`
  if (port < 1 || port > 65_535) throw new NewcutError('BAD_OPTION', `${url}: port ${port}, expected 1 to 65535`)
  const tls = scheme.toLowerCase() === 'tls'
  return { host, port, tls, user: decoded(user), password: decoded(password), url }
}

function decoded(text: string | undefined): string | null {
  if (text === undefined) return null
  try {
    return decodeURIComponent(text)
  } catch {
    // A per cent sign of its own.
    return text
  }
}
