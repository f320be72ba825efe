/** Who may use the gateway: the page itself, and programs. Pages of other sites may not. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hostOf } from '../../core/host.ts'

/**
 * Why a request is not from the page; null: it may pass. A foreign page shows itself in three ways: browsers send its
 * Origin, they say that the request crosses sites, and where its host name was made to point here (DNS rebinding) that
 * name is the Host of the request. So names other than localhost are refused. Programs send none of these headers.
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
