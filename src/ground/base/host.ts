/**
 * Host names and addresses in URLs and Host headers, and a guard that keeps web pages of other sites away from a server
 * on this machine. Browsers reveal such a page in three ways: by Origin, by Sec-Fetch-Site, and after DNS rebinding by
 * Host. Programs send no Origin and no Sec-Fetch-Site.
 */
import { isIP } from 'node:net'

/** True for loopback addresses and `localhost`. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(host)
}

/** Highest port of TCP. */
export const MAX_PORT = 65_535

/** Whether a client can connect to a port. Port 0, which lets a server choose, is not one. */
export const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= MAX_PORT

/** Decodes %XX in a part of an address. A text with a literal per cent sign stays as it is. */
export function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Host of a Host header without port and brackets, in lower case; empty if there is none. */
export function hostOf(header = ''): string {
  return (/^\[(.*)\](:\d+)?$/.exec(header)?.[1] ?? header.replace(/:\d+$/, '')).toLowerCase()
}

/** Maximum length of a text to redact: the search takes quadratic time, and another machine may have sent the text. */
const MAX_REDACTED_CHARACTERS = 2000

/**
 * Redacts user, password and query of the addresses in a text that a person typed. Redacts too much rather than too
 * little. The example of hints, `USER@HOST:PORT`, stays. Nothing stays of a very long text.
 */
export function withoutSecrets(text: string): string {
  if (text.length > MAX_REDACTED_CHARACTERS) return `*** (${text.length} characters)`
  return text
    .replace(/(stratum\+tcp:\/\/USER@HOST:PORT)|([a-z][a-z+.-]*:\/\/).*@|[^\s"'=:]+:\S*@/gis, redactUser)
    .replace(/([a-z][a-z+.-]*:\/\/[^?#]*[?#])[^\s"]+/gi, '$1***')
}

function redactUser(_: string, example: string | undefined, scheme = ''): string {
  return example ?? `${scheme}***@`
}

/** Headers of a request, as Node parses them. */
export interface PageHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
  readonly 'sec-fetch-site'?: string | readonly string[] | undefined
}

/** Names of a server beside those of the loopback interface. */
interface ServerNames {
  /** Whether each IP address is one of them: DNS rebinding needs a name. */
  readonly anyAddress: boolean
  readonly names: readonly string[]
}

/** Whether a Host header names the server. */
export function isHostOf(header: string | undefined, { anyAddress, names }: ServerNames): boolean {
  const host = hostOf(header)
  // Browsers resolve names below localhost to the loopback interface themselves.
  if (isLoopback(host) || host.endsWith('.localhost')) return true
  return (anyAddress && isIP(host) !== 0) || names.some((name) => name.toLowerCase() === host)
}

/**
 * Finds requests that a browser makes for a page of another site.
 * @returns the requester, such as `pages of http://evil.example`; null for a program, or a page of this very address
 */
export function foreignPage({ host = '', origin, 'sec-fetch-site': site }: PageHeaders): string | null {
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) return `pages of ${origin}`
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return `a request that is ${String(site)}`
  return null
}
