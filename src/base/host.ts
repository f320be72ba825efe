/** Host names and addresses in URLs and Host headers. */

/** True for loopback addresses and `localhost`. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(host)
}

/** Host of a Host header without port and brackets, in lower case; empty if there is none. */
export function hostOf(header = ''): string {
  return /^\[(.*)\](:\d+)?$/.exec(header)?.[1] ?? header.replace(/:\d+$/, '').toLowerCase()
}

/**
 * Redacts user, password and query of the addresses in a text that a person typed. Redacts too much rather than too
 * little. The example of hints, `USER@HOST:PORT`, stays.
 */
export function withoutSecrets(text: string): string {
  return text
    .replace(/(stratum\+tcp:\/\/USER@HOST:PORT)|([a-z][a-z+.-]*:\/\/).*@|[^\s"'=:]+:\S*@/gis, redactedUser)
    .replace(/([a-z][a-z+.-]*:\/\/[^?#]*[?#])[^\s"]+/gi, '$1***')
}

function redactedUser(_: string, example: string | undefined, scheme = ''): string {
  return example ?? `${scheme}***@`
}
