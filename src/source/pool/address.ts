/** Addresses of pools: `stratum+tcp://USER[:PASSWORD]@HOST:PORT`, or `stratum+ssl://` for TLS. */
import { getDomain } from 'tldts'
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
/** A password may have an @ of its own: the last one ends it. */
const ADDRESS = /^stratum\+(tcp|ssl):\/\/(?:(\S*)@)?(\[[0-9a-f:.]+\]|[^:/@\s[\]]+):(\d{1,5})\/?$/i
/** A BLAKE2b-256 in base64url, and a keyset or module of a namespace that belongs to a key, as accounts name them. */
const [HASH, OWNED] = ['[\\w-]{43}', 'n_[0-9a-f]{40}\\.[^:]+']
/** Accounts that have colons of their own; what only begins like one is none. */
const ACCOUNTS = [
  ...['k:[0-9a-f]{64}', `c:${HASH}`, `w:${HASH}:[^:]+`, `u:[^:]+:${HASH}`],
  ...[`r:${OWNED}`, `m:${OWNED}:[^:]+`],
]
const LIKE_ACCOUNT = /^[kcwurm]:/i
const ACCOUNT_ALONE = new RegExp(`^(?:${ACCOUNTS.join('|')})(?=\\.|$)`, 'i')
/** One of them, perhaps with the name of a worker behind a dot. */
const ACCOUNT = new RegExp(`^(?:${ACCOUNTS.join('|')})(?:\\.[^:]*)?(?=:|$)`, 'i')

/**
 * A colon ends the user and begins the password, unless it belongs to the name of an account, as in `k:KEY`; any character
 * may be written as %XX. Throws NewcutError BAD_OPTION; the message repeats neither of the two.
 */
export function readPoolAddress(text: string): PoolAddress {
  const [, scheme, credentials = '', host, digits] = ADDRESS.exec(text.trim()) ?? []
  if (host === undefined) {
    throw new NewcutError('BAD_OPTION', 'the address of a pool cannot be read', { hint: `expected ${EXAMPLE}` })
  }
  const url = `stratum+${scheme.toLowerCase()}://${host}:${digits}`
  const port = Number(digits)
  if (port < 1 || port > 65_535) throw new NewcutError('BAD_OPTION', `${url}: port ${port}, expected 1 to 65535`)
  const [account] = ACCOUNT.exec(credentials) ?? []
  // A name that was mistyped would be split, and somebody else paid.
  if (account === undefined && LIKE_ACCOUNT.test(credentials)) {
    const hint = 'a k: account has 64 hex digits after k:; write a colon in another user name as %3A'
    throw new NewcutError('BAD_OPTION', `${url}: the user looks like an account, but its key or hash is not valid`, {
      hint,
    })
  }
  const [user] = account === undefined ? credentials.split(':', 1) : [account]
  const password = credentials.slice(user.length + 1)
  if (user === '') {
    throw new NewcutError('BAD_OPTION', `${url}: the user is missing, so nobody would be paid`, {
      hint: `name the user: ${EXAMPLE}`,
    })
  }
  // More likely than such a user is a second address without its scheme.
  if (user.includes('@')) {
    const hint = 'write an @ in the user name as %40; every address begins with stratum+tcp:// or stratum+ssl://'
    throw new NewcutError('BAD_OPTION', `${url}: the user contains an @`, { hint })
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

/** The account of a user, without the name of a worker behind a dot. */
export function accountOf(user: string): string {
  const [known] = ACCOUNT_ALONE.exec(user) ?? []
  return known ?? user.split('.', 1)[0]
}

/**
 * Whether a pool at this address may send its clients to this host: its own, or one of the same domain as somebody
 * registered it, by the list of public suffixes (publicsuffix.org) with its private part. One that somebody else speaks
 * for must not get to take the hashes elsewhere.
 */
export function mayMoveTo({ host }: Pick<PoolAddress, 'host'>, other: string): boolean {
  const [from, to] = [host.toLowerCase(), other.toLowerCase().replace(/\.$/, '')]
  if (from === to) return true
  const domain = domainOf(from)
  return domain !== null && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(to) && domainOf(to) === domain
}

/** null: an IP address, a suffix that many share, or a name without dots. */
function domainOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true, extractHostname: false })
}
