/** Transcript of a connection to a server, with times. It is the only input of the judgement. */

export interface TranscriptLine {
  /** Monotonic milliseconds. */
  readonly atMs: number
  readonly by: 'rig' | 'server'
  /** Without its line break. */
  readonly line: string
}

export interface Transcript {
  /** When the connection was established, with its TLS handshake. */
  readonly openedAtMs: number
  readonly lines: readonly TranscriptLine[]
  /** When the server closed it or the check ended. */
  readonly endedAtMs: number
  /** Who closed it. `error`: a network error. */
  readonly endedBy: 'check' | 'server'
  readonly error: string | null
}
