/** A rig's session from the view of the socket server. */
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { SessionPorts } from './session.ts'
import type { Rig, Share } from './share.ts'

export interface ServedSession {
  /** Whether it has subscribed and authorized. */
  readonly isReady: boolean
  /** The rigs that its shares count for. */
  readonly rigs: Iterable<Rig>
  /** The first line of the client. */
  readonly firstLine: string
  /** Handles a line of the client, without its line break. */
  receive(line: string): void
  /** Shows a message to the operator of the rig. */
  show(message: string): void
  /** Called once a second. */
  look(): void
}

/** The server from the view of a session: its socket, and the handling of its shares and faults. */
export interface SocketPorts<S>
  extends Pick<
    SessionPorts,
    'limits' | 'nowMs' | 'write' | 'close' | 'claim' | 'isBehind' | 'address' | 'nonce1Bits' | 'onRefused'
  > {
  readonly onGarbage: (session: S) => void
  /** Receives a judged share. It calls `tell` once, now or later, with the verdict for the rig. */
  readonly onShare: (session: S, share: Share, tell: (verdict: ShareVerdict) => void) => void
}
