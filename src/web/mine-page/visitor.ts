/** Restricts the gateway to its own page and to programs; pages of other sites are refused. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hostOf } from '../../base/host.ts'

/**
 * Detects requests of foreign pages. Browsers reveal them in three ways: by Origin, by Sec-Fetch-Site, and after DNS
 * rebinding by Host, so names other than localhost are refused. Programs send none of these headers.
 * @returns the reason to refuse the request, or null to accept it
 */
export function foreignReason(headers: IncomingHttpHeaders): string | null {
  const { host = '', origin } = headers
  const name = hostOf(host)
  if (!isLocalName(name) && isIP(name) === 0) {
    return `the page needs an IP address or localhost in its URL, not ${name || 'an empty host'}`
  }
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    return `only the page at http://${host}/mine may mine here, not pages of ${origin}`
  }
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return `only the page at http://${host}/mine may mine here, and this request is ${String(site)}`
  }
  return null
}

const isLocalName = (name: string) => name === 'localhost' || name.endsWith('.localhost')
