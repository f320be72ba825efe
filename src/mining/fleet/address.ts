/**
 * Addresses of NATS servers: `nats://[USER:PASSWORD@|TOKEN@]HOST[:PORT]`. The scheme `tls://` guarantees that none of
 * our data is sent in plaintext.
 *
 * A NATS server first sends a greeting in plaintext, then starts TLS. Servers from 2.10.4 can also start with TLS
 * (`handshake_first: true`); this is not supported.
 */
import { operatingError } from '#ground/base/errors.ts'
import { decodePercents, isPort } from '#ground/base/host.ts'
import { fleetErrors } from './errors.ts'

export interface NatsAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** User, or null. A user without a password is a token, as in NATS itself. */
  readonly user: string | null
  readonly password: string | null
  /** Address without user, password and token, for messages. */
  readonly url: string
}

const DEFAULT_PORT = 4222
const ADDRESS = /^(nats|tls):\/\/(?:([^:@/\s]+)(?::([^@/\s]*))?@)?(\[[0-9a-f:.]+\]|[^:/@\s[\]]+)(?::(\d{1,5}))?\/?$/i

/**
 * Parses an address.
 * @throws NewcutError BAD_OPTION; its message omits user, password and token
 */
export function readNatsAddress(text: string): NatsAddress {
  const [, scheme, user, password, host, digits] = ADDRESS.exec(text.trim()) ?? []
  if (host === undefined) {
    throw operatingError(fleetErrors.badAddress)
  }
  const port = digits === undefined ? DEFAULT_PORT : Number(digits)
  const url = `${scheme.toLowerCase()}://${host}:${port}`
  if (!isPort(port)) throw operatingError(fleetErrors.badPort, { url, port })
  const tls = scheme.toLowerCase() === 'tls'
  const decode = (part: string | undefined) => (part === undefined ? null : decodePercents(part))
  return { host, port, tls, user: decode(user), password: decode(password), url }
}
