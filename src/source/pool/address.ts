/** Addresses of pools: `stratum+tcp://USER[:PASSWORD]@HOST:PORT`, or `stratum+ssl://` for TLS. */
import { NewcutError } from '../../core/errors.ts'

export interface PoolAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** Who is paid, as the pool knows it: an account, often with the name of a worker behind a dot. */
  readonly user: string
  readonly password: string
  /** The address without user and password: what may be shown. */
  readonly url: string
}

const EXAMPLE = 'stratum+tcp://USER@HOST:PORT'
/** The name of an account may have a colon of its own, as in k:KEY. */
const ADDRESS =
  /^stratum\+(tcp|ssl):\/\/(?:((?:[a-z]:)?[^:@/\s]+)(?::([^@\s]*))?@)?(\[[0-9a-f:.]+\]|[^:/@\s[\]]+):(\d{1,5})\/?$/i

/** Throws NewcutError BAD_OPTION; the message does not repeat the password. */
export function readPoolAddress(text: string): PoolAddress {
  const [, scheme, user, password = '', host, digits] = ADDRESS.exec(text.trim()) ?? []
  if (host === undefined) {
    throw new NewcutError('BAD_OPTION', 'the address of a pool cannot be read', { hint: `expected ${EXAMPLE}` })
  }
  const url = `stratum+${scheme.toLowerCase()}://${host}:${digits}`
  const port = Number(digits)
  if (port < 1 || port > 65_535) throw new NewcutError('BAD_OPTION', `${url}: port ${port}, expected 1 to 65535`)
  if (user === undefined) {
    throw new NewcutError('BAD_OPTION', `${url}: nobody would be paid`, { hint: `name the user: ${EXAMPLE}` })
  }
  const tls = scheme.toLowerCase() === 'ssl'
  return { host: host.replace(/^\[|\]$/g, ''), port, tls, user: decoded(user), password: decoded(password), url }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A per cent sign of its own.
    return text
  }
}

/**
 * Whether a pool may send its clients to this host: itself, or a name within its domain. One that somebody else speaks
 * for must not get to take the hashes elsewhere.
 */
export function mayMoveTo({ host }: Pick<PoolAddress, 'host'>, other: string): boolean {
  const [from, to] = [host.toLowerCase(), other.toLowerCase().replace(/\.$/, '')]
  if (from === to) return true
  if (/^[\d.]+$|:/.test(from)) return false
  const labels = from.split('.')
  // Of pool.example.org, names below example.org; of example.org, names below itself.
  const domain = labels.length > 2 ? labels.slice(1).join('.') : from
  return labels.length > 1 && /^[a-z0-9.-]+$/.test(to) && (to === domain || to.endsWith(`.${domain}`))
}
