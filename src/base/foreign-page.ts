/**
 * Keeps web pages of other sites away from a server on this machine. Browsers reveal such a page in three ways: by
 * Origin, by Sec-Fetch-Site, and after DNS rebinding by Host. Programs send no Origin and no Sec-Fetch-Site.
 */
import { isIP } from 'node:net'
import { hostOf, isLoopback } from './host.ts'

/** Headers of a request, as Node parses them. */
export interface PageHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
  readonly 'sec-fetch-site'?: string | readonly string[] | undefined
}

/** Names of a server beside those of the loopback interface. */
export interface ServerNames {
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
