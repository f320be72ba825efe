/** Connections to a node over TCP and TLS, and the certificates that they accept. */
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { decodeHash, decodeHex, encodeHex } from '#ground/base/bytes.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { checkAuthorities } from './authorities.ts'
import { nodeErrors } from './error-rows.ts'
import { buildConnector, type Connector } from './undici.ts'
import { UnreachableError } from './unreachable.ts'

/** Connection timeout for each address of a host; the 250 ms of Node.js give up on distant nodes. */
const ADDRESS_TIMEOUT_MS = 1_000
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000

/** Trust and timeout of connections. */
export interface DialOptions {
  /** Accept any certificate. */
  insecure?: boolean
  /**
   * SHA-256 of the certificate of the node (DER), base64url or hex with or without colons. Replaces all other checks.
   */
  fingerprint?: string
  /**
   * Certificates in PEM form of the only authorities that may sign the certificate of the node. Its name and dates are
   * checked as usual. Excludes `insecure`.
   */
  ca?: string
  /** Timeout for TCP and TLS together, default 5 s. The timer of undici may be up to a second late. */
  connectTimeoutMs?: number
  /**
   * Replaces TCP and TLS, in simulations.
   *
   * @internal
   */
  dial?: ConnectorFactory
}

/** Creates connectors. Their connections end when the signal aborts. */
export type ConnectorFactory = (signal: AbortSignal) => Connector.connector

/**
 * Creates connectors whose sockets end when the signal aborts, even before they are connected.
 * @throws NewcutError BAD_OPTION for an unusable fingerprint or authorities
 */
export function createDial(url: URL, options: DialOptions): ConnectorFactory {
  const pinned = options.fingerprint === undefined ? undefined : parseFingerprint(options.fingerprint)
  if (pinned !== undefined && url.protocol !== 'https:') {
    throw operatingError(nodeErrors.fingerprintWithoutTls, { origin: url.origin })
  }
  const ca = checkedAuthoritiesOf(url, options)
  const { dial = createSocketDial(options, { isPinned: pinned !== undefined, ca }) } = options
  return (signal) => {
    const connect = dial(signal)
    const guardedConnect: Connector.connector = (target, callback) => {
      // undici reconnects when a connection drops under a request, even while the client closes. Node 22 and 24 ignore
      // a signal that aborted before the socket was created: the process would never end.
      if (signal.aborted) queueMicrotask(() => callback(signal.reason, null))
      else connect(target, callback)
    }
    return pinned === undefined ? guardedConnect : pinConnector(guardedConnect, pinned, url.origin)
  }
}

/** Connectors for TCP and TLS. */
function createSocketDial(
  { connectTimeoutMs, insecure }: DialOptions,
  { isPinned, ca }: { readonly isPinned: boolean; readonly ca: string | undefined },
): ConnectorFactory {
  return (signal) => {
    const connect = buildConnector({
      timeout: connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      rejectUnauthorized: !(insecure || isPinned),
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      ...(ca !== undefined && { ca }),
      // A resumed TLS session carries no certificate to compare.
      ...(isPinned && { maxCachedSessions: 0 }),
    })
    return (target, callback) => {
      // The types of undici leave out what it returns.
      const socket = connect(target, callback) as unknown as Socket
      // The `signal` option of Node.js retains every socket, even closed ones, as long as the signal lives.
      const drop = () => void socket.destroy(signal.reason)
      signal.addEventListener('abort', drop, { once: true })
      socket.once('close', () => signal.removeEventListener('abort', drop))
    }
  }
}

function pinConnector(connect: Connector.connector, pinned: string, origin: string): Connector.connector {
  return (target, callback) => {
    connect(target, (...[error, socket]) => {
      if (error) return callback(error, null)
      const raw = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.raw : undefined
      const actual = raw ? createHash('sha256').update(raw).digest('hex') : 'none'
      if (actual === pinned) return callback(null, socket)
      socket.destroy()
      const message = `${origin}: fingerprint mismatch, its certificate has ${actual}, not the pinned ${pinned}`
      const hint = 'the node has a new certificate, or someone is in between: find out which before you pin the new one'
      callback(new UnreachableError('fingerprint', message, { hint }), null)
    })
  }
}

/**
 * @returns lower-case hex
 * @throws NewcutError BAD_OPTION for text that is not a SHA-256
 */
function parseFingerprint(text: string): string {
  try {
    const hex = text.replaceAll(':', '')
    return encodeHex(hex.length === 64 ? decodeHex(hex, 'fingerprint') : decodeHash(text, 'fingerprint'))
  } catch (cause) {
    throw operatingError(nodeErrors.badFingerprint, { why: describeError(cause) }, cause)
  }
}

function checkedAuthoritiesOf(url: URL, { ca, insecure }: DialOptions): string | undefined {
  if (ca === undefined) return undefined
  checkAuthorities(ca, '`ca`')
  if (url.protocol !== 'https:') throw operatingError(nodeErrors.authoritiesWithoutTls, { origin: url.origin })
  if (!insecure) return ca
  throw operatingError(nodeErrors.authoritiesInsecure)
}
