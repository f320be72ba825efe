/** Host names and addresses, as they stand in URLs and in the Host header of requests. */

/** Whether an address or host name is that of this machine, as every machine calls itself. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(host)
}

/** The host of a Host header in lower case, without port and brackets; empty where there is none. */
export function hostOf(header = ''): string {
  return /^\[(.*)\](:\d+)?$/.exec(header)?.[1] ?? header.replace(/:\d+$/, '').toLowerCase()
}

/**
 * Text that people typed, without what may be secret in the addresses in it: user and password, and the query. Rather
 * too much is left out than too little.
 */
export function withoutSecrets(text: string): string {
  return text
    .replace(/([a-z][a-z+.-]*:\/\/).*@|[^\s"'=:]+:\S*@/gis, '$1***@')
    .replace(/([a-z][a-z+.-]*:\/\/[^?#]*[?#])[^\s"]+/gi, '$1***')
}
