/** Reasons for a missing response of a node: error codes of Node.js, OpenSSL and undici, with hints. */
import { describeError, NewcutError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'

/** `closed` is caused by the user; `other` is a failure without a name here. */
export type UnreachableReason = NamedReason | 'fingerprint' | 'other'

/** Reason that an error code of Node.js, OpenSSL or undici stands for. */
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

/** Failures that may pass by themselves. A machine that wakes up or changes networks resolves no host for a while. */
const PASSING: readonly UnreachableReason[] = [
  'refused',
  'unknown-host',
  'timeout',
  'unroutable',
  'disconnected',
  'other',
]

/**
 * No response from the node (code NODE_UNREACHABLE). `reason` separates failures that may pass from those that need the
 * user.
 */
export class UnreachableError extends NewcutError {
  /** Cause of the failure. */
  readonly reason: UnreachableReason
  /** The same call may succeed later: false for TLS failures, responses that are not HTTP, and a closed client. */
  readonly retryable: boolean
  /** Id of the operation (src/ground/schema/operations.ts) that failed; undefined below the level of operations. */
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

  /** @returns a copy of this error that names the operation that failed */
  forOperation(operation: string): UnreachableError {
    return new UnreachableError(this.reason, this.message, { hint: this.hint, cause: this.cause, operation })
  }
}

/** Error codes of Node.js, OpenSSL and undici, with their meaning for the user. */
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
    hint: 'trust its issuer with `ca: FILE`, pin it with `fingerprint: SHA256`, or accept any certificate with `insecure: true`',
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

/** @returns the code of an error of Node.js or undici, or an empty text */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  // Not every error of the undici parser has a code.
  if (error.name === 'HTTPParserError') return 'HPE'
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Converts a failure to get a response from `origin`. */
export function unreachable(origin: string, cause: unknown): UnreachableError {
  const code = codeOf(cause)
  for (const reason of Object.keys(failures) as NamedReason[]) {
    const { codes, text, hint } = failures[reason]
    if (codes.test(code)) return new UnreachableError(reason, `${origin}: ${text} (${code})`, { hint, cause })
  }
  return new UnreachableError('other', `${origin}: ${describeError(cause)}`, { cause })
}
