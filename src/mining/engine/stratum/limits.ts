/** Limits for clients of the stratum server. Everything that a client can make grow has its limit here. */

export interface RigLimits {
  /** Maximum number of connections; at most the number of nonce1 values. */
  readonly sessions: number
  /** Connections per address, including those in the TLS handshake. */
  readonly sessionsPerAddress: number
  /** Timeout of a TLS handshake. */
  readonly handshakeMs: number
  /** Maximum length of a client's line. */
  readonly lineBytes: number
  /** Unsent bytes of a slow client; beyond it the client is closed. */
  readonly unsentBytes: number
  /** Timeout until a client has subscribed and authorized. */
  readonly authorizeMs: number
  /**
   * Timeout without a line from a client. Rigs keep spare connections; a dead one fails at the next line sent to it.
   */
  readonly idleMs: number
  /**
   * Requests read per second for a session, and for all sessions of an address; others wait in the network. Shares of
   * at least 2^32 hashes that are neither low nor duplicate are free. They flood a server whose difficulty is too low,
   * and if they waited, a higher difficulty would not help.
   */
  readonly requestsPerSecond: number
  readonly requestsPerSecondOfAddress: number
  /** An address with this many bad requests and shares, and more than four times as many as good ones, is banned. */
  readonly badUntilBan: number
  readonly banMs: number
  /** Remembered shares of a job per session; beyond it the session gets a fresh job. */
  readonly sharesPerJob: number
  /** A rig that may have tried this many nonces of its job gets a fresh one; nonce2 has 2^48 values. */
  readonly noncesPerJob: number
}

/** Number of nonce1 values. */
export const MAX_SESSIONS = 2 ** 16
/** Default limit of rigs of a pool. Each has a session there, and pools ban addresses with too many. */
export const DEFAULT_RIGS_OF_POOL = 128
/**
 * Requests per second that an address gets for each of its possible sessions: all of them may log in within seconds.
 */
const REQUESTS_OF_SESSION = 4

export const defaultLimits: RigLimits = {
  sessions: MAX_SESSIONS,
  sessionsPerAddress: 1024,
  handshakeMs: 10_000,
  lineBytes: 4096,
  unsentBytes: 64 * 1024,
  authorizeMs: 30_000,
  idleMs: 24 * 3_600_000,
  requestsPerSecond: 100,
  requestsPerSecondOfAddress: 4096,
  badUntilBan: 100,
  banMs: 10 * 60_000,
  sharesPerJob: 16_384,
  noncesPerJob: 2 ** 46,
}

/**
 * Limits for a process.
 * @param sessionsPerAddress sessions that one address may have
 * @param connections connections that the process may have, or null for no limit
 */
export function limitsFor(sessionsPerAddress: number, connections: number | null): Partial<RigLimits> {
  const { sessions, requestsPerSecondOfAddress } = defaultLimits
  return {
    sessions: Math.min(sessions, connections ?? sessions),
    sessionsPerAddress,
    requestsPerSecondOfAddress: Math.max(requestsPerSecondOfAddress, REQUESTS_OF_SESSION * sessionsPerAddress),
  }
}

/** Message that no more rigs are accepted. */
export function fullText(sessions: number): string {
  const cause =
    sessions < MAX_SESSIONS ? 'as many as the limit of open files allows (ulimit -n)' : 'the most there can be'
  return `${sessions} rigs are connected, ${cause}: no more are let in`
}

/** Message that no more rigs of an address are accepted. */
export function fullAddressText(address: string, { sessionsPerAddress }: RigLimits): string {
  const most = `${sessionsPerAddress} rigs are connected from ${address}, and no more are let in`
  return `${most}: \`stratum-per-address\` sets how many may be`
}
