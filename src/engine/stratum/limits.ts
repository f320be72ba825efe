/** What a client of the stratum server may use. Everything that a client can make grow has its bound here. */

export interface RigLimits {
  /** Connections in all; at most as many as nonce1 has values. */
  readonly sessions: number
  /** Connections of one address, those included whose TLS handshake goes on. */
  readonly sessionsPerAddress: number
  /** How long a TLS handshake may take. */
  readonly handshakeMs: number
  /** Bytes of a line that a client sends. */
  readonly lineBytes: number
  /** Bytes that wait for a client that reads slowly; with more it is closed. */
  readonly unsentBytes: number
  /** How long a client may take until it has subscribed and authorized. */
  readonly authorizeMs: number
  /** How long a client may send nothing. Rigs keep spare connections; a dead one fails at the next line that is written. */
  readonly idleMs: number
  /**
   * Requests that are read in a second, of a session and of all sessions of an address; others wait in the network. Shares
   * that take 2^32 hashes, and are neither low nor repeated, count for neither: too many are the doing of a difficulty that is
   * too low, and while they wait a harder one brings no relief.
   */
  readonly requestsPerSecond: number
  readonly requestsPerSecondOfAddress: number
  /** An address with so many bad requests and shares, and four times as many as good ones, is banned. */
  readonly badUntilBan: number
  readonly banMs: number
  /** Shares of a job that a session may hand in; then it gets a fresh one. */
  readonly sharesPerJob: number
  /** A rig that may have tried so many nonces of its job gets a fresh one: nonce2 has 2^48. */
  readonly noncesPerJob: number
}

/** Values of nonce1. */
export const MAX_SESSIONS = 2 ** 16
/** Rigs behind a pool, unless the user says otherwise: each has a session there, and pools ban addresses with very many. */
export const RIGS_BEHIND_POOL = 128
/** So many requests a second an address gets for each session that it may have: all of them log in within seconds. */
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

/** Limits where one address may have so many sessions, and the process so many connections; null: it has no such limit. */
export function limitsFor(sessionsPerAddress: number, connections: number | null): Partial<RigLimits> {
  const { sessions, requestsPerSecondOfAddress } = defaultLimits
  return {
    sessions: Math.min(sessions, connections ?? sessions),
    sessionsPerAddress,
    requestsPerSecondOfAddress: Math.max(requestsPerSecondOfAddress, REQUESTS_OF_SESSION * sessionsPerAddress),
  }
}

/** Why nobody is let in, for people. */
export function fullText(sessions: number): string {
  const cause =
    sessions < MAX_SESSIONS ? 'as many as the limit of open files allows (ulimit -n)' : 'the most there can be'
  return `${sessions} rigs are connected, ${cause}: no more are let in`
}

/** Why nobody is let in from this address, for people. */
export function fullAddressText(address: string, { sessionsPerAddress }: RigLimits): string {
  const most = `${sessionsPerAddress} rigs are connected from ${address}, and no more are let in`
  return `${most}: --stratum-per-address sets how many may be`
}
