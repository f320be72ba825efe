/** Addresses of pools: `stratum+tcp://USER[:PASSWORD]@HOST:PORT`, or `stratum+ssl://` for TLS. */
import { createRequire } from 'node:module'
import { operatingError } from '#ground/base/errors.ts'
import { decodePercents, isPort } from '#ground/base/host.ts'
import { sourceErrors } from '../errors.ts'

export interface PoolAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** Account that the pool pays, often with a worker name after a dot. */
  readonly user: string
  readonly password: string
  /** The address without user and password, safe to show. */
  readonly url: string
}

const EXAMPLE = 'stratum+tcp://USER@HOST:PORT'
/** The last @ ends the password, which may contain others. */
const ADDRESS = /^stratum\+(tcp|ssl):\/\/(?:(\S*)@)?(\[[0-9a-f:.]+\]|[^:/@\s[\]]+):(\d{1,5})\/?$/i
/** Parts of account names: a base64url BLAKE2b-256 hash, and a keyset or module of a key's namespace. */
const HASH = '[\\w-]{43}'
const OWNED = 'n_[0-9a-f]{40}\\.[^:]+'
/** Account names with colons of their own. The whole pattern must match. */
const ACCOUNTS = ['k:[0-9a-f]{64}', `c:${HASH}`, `w:${HASH}:[^:]+`, `u:[^:]+:${HASH}`, `r:${OWNED}`, `m:${OWNED}:[^:]+`]
const LIKE_ACCOUNT = /^[kcwurm]:/i
const ACCOUNT_ALONE = new RegExp(`^(?:${ACCOUNTS.join('|')})(?=\\.|$)`, 'i')
/** An account, optionally with a worker name after a dot. */
const ACCOUNT = new RegExp(`^(?:${ACCOUNTS.join('|')})(?:\\.[^:]*)?(?=:|$)`, 'i')

/**
 * Parses an address. A colon ends the user and starts the password, unless it belongs to an account name, as in
 * `k:KEY`. Any character may be written as %XX.
 * @throws NewcutError BAD_OPTION; the message contains neither user nor password
 */
export function readPoolAddress(text: string): PoolAddress {
  const [, scheme, credentials = '', host, digits] = ADDRESS.exec(text.trim()) ?? []
  if (host === undefined) {
    throw operatingError(sourceErrors.poolAddressUnreadable, { example: EXAMPLE })
  }
  const url = `stratum+${scheme.toLowerCase()}://${host}:${digits}`
  const port = Number(digits)
  if (!isPort(port)) throw operatingError(sourceErrors.poolPort, { url, port })
  const [account] = ACCOUNT.exec(credentials) ?? []
  // Splitting a mistyped account would pay somebody else.
  if (account === undefined && LIKE_ACCOUNT.test(credentials)) {
    throw operatingError(sourceErrors.poolAccount, { url })
  }
  const [user] = account === undefined ? credentials.split(':', 1) : [account]
  const password = credentials.slice(user.length + 1)
  if (user === '') {
    throw operatingError(sourceErrors.poolUserMissing, { url, example: EXAMPLE })
  }
  // More likely, this is a second address without its scheme.
  if (user.includes('@')) {
    throw operatingError(sourceErrors.poolUserHasAt, { url })
  }
  const tls = scheme.toLowerCase() === 'ssl'
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port,
    tls,
    user: decodePercents(user),
    password: decodePercents(password),
    url,
  }
}

/** The account of a user, without the worker name after a dot. */
export function accountOf(user: string): string {
  const [known] = ACCOUNT_ALONE.exec(user) ?? []
  return known ?? user.split('.', 1)[0]
}

/**
 * Whether a pool at this address may send its clients to this host: its own, or one of the same registrable domain. The
 * Public Suffix List (publicsuffix.org) with its private part decides. So an attacker in the connection cannot redirect
 * the hashrate.
 */
export function mayMoveTo({ host }: Pick<PoolAddress, 'host'>, other: string): boolean {
  const from = host.toLowerCase()
  const to = other.toLowerCase().replace(/\.$/, '')
  if (from === to) return true
  const domain = domainOf(from)
  return domain !== null && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(to) && domainOf(to) === domain
}

/** @returns null for an IP address, a shared suffix, or a name without dots */
function domainOf(host: string): string | null {
  // Its list takes 10 MB, which a miner without a pool does not need.
  const { getDomain } = createRequire(import.meta.url)('tldts') as typeof import('tldts')
  return getDomain(host, { allowPrivateDomains: true, extractHostname: false })
}
