/** Why there is no answer from a node: error codes of Node, OpenSSL and undici as reasons with hints. */
import { describeError, NewcutError } from '../core/errors.ts'
import { printable } from '../core/printable.ts'

/** `closed` is the user's own doing, `other` a failure that has no name here. */
export type UnreachableReason = NamedReason | 'fingerprint' | 'other'

/** What an error code of Node, OpenSSL or undici tells. */
export type NamedReason =
  | 'refused'
  | 'unknown-host'
  | 'timeout'
  | 'unroutable'
  | 'not-tls'
  | 'untrusted'
  | 'not-http'
  | 'disconnected'
  | 'closed'

/** What may pass by itself. A machine that wakes up or changes networks knows no host for a while. */
const PASSING: readonly UnreachableReason[] = [
  'refused',
  'unknown-host',
  'timeout',
  'unroutable',
  'disconnected',
  'other',
]

/**
 * No answer from the node (code NODE_UNREACHABLE). `reason` tells failures that may pass from those that need the user.
 */
export class UnreachableError extends NewcutError {
  /** What kept the answer away. */
  readonly reason: UnreachableReason
  /** The same call may succeed later: all reasons but TLS failures, answers that are no HTTP, and a closed client. */
  readonly retryable: boolean
  /** Id of the operation (src/schema/operations.ts) that failed; undefined below the level of operations. */
  readonly operation: string | undefined

  constructor(
    reason: UnreachableReason,
    message: string,
    options: ConstructorParameters<typeof NewcutError>[2] & { operation?: string } = {},
  ) {
    super('NODE_UNREACHABLE', printable(message), options)
    this.reason = reason
    this.retryable = PASSING.includes(reason)
    this.operation = options.operation
  }

  /** The same failure, as that of an operation. */
  of(operation: string): UnreachableError {
    return new UnreachableError(this.reason, this.message, { hint: this.hint, cause: this.cause, operation })
  }
}

/** Error codes of Node, OpenSSL and undici, and what they mean to the user. */
const failures: Readonly<Record<NamedReason, { codes: RegExp; text: string; hint: string | undefined }>> = {
  refused: {
    codes: /^ECONNREFUSED$/,
    text: 'connection refused',
    hint: 'is the node running, and its service API listening on that port?',
  },
  'unknown-host': { codes: /^(ENOTFOUND|EAI_\w+)$/, text: 'unknown host', hint: 'check the host name' },
  timeout: {
    codes: /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    text: 'timed out while connecting',
    hint: 'check the address, and the firewalls on the way',
  },
  unroutable: {
    codes: /^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES)$/,
    text: 'that address cannot be reached from here',
    hint: 'check the address and the network of this machine',
  },
  'not-tls': {
    codes: /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL)|EPROTO)$/,
    text: 'not TLS on that port',
    hint: 'the service API of a node is plain http://',
  },
  untrusted: {
    codes: /^(\w*SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|CERT_\w+|INVALID_(CA|PURPOSE)|ERR_TLS_CERT_ALTNAME\w+)$/,
    text: 'certificate not trusted',
    hint: 'trust its issuer with --ca FILE, pin it with --fingerprint SHA256, or accept any certificate with --insecure',
  },
  'not-http': {
    codes: /^HPE$/,
    text: 'the answer is not HTTP',
    hint: 'a port for TLS or for another protocol? try https://, or the port of the service API',
  },
  disconnected: {
    codes: /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/,
    text: 'connection lost before the answer was complete',
    hint: 'did the node stop? If this happens every time, try https://',
  },
  closed: { codes: /^UND_ERR_(DESTROYED|CLOSED)$/, text: 'cancelled', hint: undefined },
}

/** The code of an error of Node or undici; empty when it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  // Not every error of undici's parser has a code.
  if (error.name === 'HTTPParserError') return 'HPE'
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** What a failure to get an answer from `origin` means. */
export function unreachable(origin: string, cause: unknown): UnreachableError {
  const code = codeOf(cause)
  for (const reason of Object.keys(failures) as NamedReason[]) {
    const { codes, text, hint } = failures[reason]
    if (codes.test(code)) return new UnreachableError(reason, `${origin}: ${text} (${code})`, { hint, cause })
  }
  return new UnreachableError('other', `${origin}: ${describeError(cause)}`, { cause })
}
