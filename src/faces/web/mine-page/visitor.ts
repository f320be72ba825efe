/** Restricts the gateway to its own page and to programs; pages of other sites are refused. */
import { foreignPage, hostOf, isHostOf, type PageHeaders } from '#ground/base/host.ts'

/** @returns the reason to refuse the request, or null to accept it */
export function foreignReason(headers: PageHeaders): string | null {
  const { host } = headers
  if (!isHostOf(host, { anyAddress: true, names: [] })) {
    return `the page needs an IP address or localhost in its URL, not ${hostOf(host) || 'an empty host'}`
  }
  const page = foreignPage(headers)
  return page === null ? null : `only the page at http://${host}/mine may mine here, not ${page}`
}
