/** What was said on a connection to a server, with times: all that a judgement is made from. */

export interface Spoken {
  /** Milliseconds of a clock that never jumps. */
  readonly atMs: number
  readonly by: 'rig' | 'server'
  /** Without its end. */
  readonly line: string
}

export interface Transcript {
  /** When the connection stood, with its TLS handshake. */
  readonly openedAtMs: number
  readonly spoken: readonly Spoken[]
  /** When it was looked at last: the server closed it, or the check was over. */
  readonly endedAtMs: number
  /** Who ended it; `error`: how the network did. */
  readonly endedBy: 'check' | 'server'
  readonly error: string | null
}
