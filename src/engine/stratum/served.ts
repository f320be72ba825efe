/** A session of a rig, as the server of the sockets knows it. */
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { SessionPorts } from './session.ts'
import type { Rig, Share } from './share.ts'

export interface ServedSession {
  /** Whether it has subscribed and authorized. */
  readonly isReady: boolean
  /** Whom it counts for. */
  readonly rigs: Iterable<Rig>
  /** The first line that it sent. */
  readonly firstLine: string
  /** A line that the client sent, without its end. */
  receive(line: string): void
  /** Says something to whoever looks at the rig. */
  show(message: string): void
  /** Called once a second. */
  look(): void
}

/** What the server gives a session: its socket, and the judgement of what it does. */
export interface SocketPorts<S>
  extends Pick<
    SessionPorts,
    'limits' | 'nowMs' | 'write' | 'close' | 'claim' | 'isBehind' | 'address' | 'nonce1Bits' | 'onRefused'
  > {
  readonly onGarbage: (session: S) => void
  /** A share is judged. `tell` is called once, now or later, with what the rig is told of it. */
  readonly onShare: (session: S, share: Share, tell: (verdict: ShareVerdict) => void) => void
}
