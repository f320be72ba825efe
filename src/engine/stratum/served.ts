/** A session of a rig, as the server of the sockets knows it. */
import type { Rig, SessionPorts } from './session.ts'

export interface ServedSession {
  /** Whether it has subscribed and authorized. */
  readonly isReady: boolean
  /** Whom it counts for. */
  readonly rigs: Iterable<Rig>
  /** A line that the client sent, without its end. */
  receive(line: string): void
  /** Says something to whoever looks at the rig. */
  show(message: string): void
  /** Called once a second. */
  look(): void
}

/** What the server gives a session: its socket, and the judgement of what it does. */
export interface SocketPorts<S>
  extends Pick<SessionPorts, 'limits' | 'nowMs' | 'write' | 'close' | 'claim' | 'isBehind'> {
  readonly onGarbage: (session: S) => void
  readonly onShare: (session: S, share: Parameters<SessionPorts['onShare']>[1]) => void
}
