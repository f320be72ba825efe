/** A rig's session from the view of the socket server. */
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { RigBehaviour } from './conduct.ts'
import type { SessionPorts } from './session.ts'
import type { Rig, Share } from './share.ts'
import type { Worker } from './workers.ts'

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
  check(): void
}

/** The server from the view of a session: its socket, and the handling of its shares and faults. */
export interface SocketPorts<S>
  extends Pick<
    SessionPorts,
    'limits' | 'nowMs' | 'write' | 'close' | 'claim' | 'isBehind' | 'isBanned' | 'address' | 'nonce1Bits' | 'onRefused'
  > {
  readonly onGarbage: (session: S) => void
  /** Receives a judged share. It calls `reply` once, now or later, with the verdict for the rig. */
  readonly onShare: (session: S, share: Share, reply: (verdict: ShareVerdict) => void) => void
}

/** The session side of the server. */
export interface RigServerPorts<S extends ServedSession> {
  /** Creates a session with this nonce1. */
  readonly newSession: (nonce1: number, ports: SocketPorts<S>) => S
  readonly onShare: SocketPorts<S>['onShare']
  /** A client is refused because its address, or the server, is full. Called for each client. */
  readonly onFull: (which: 'address' | 'all', message: string) => void
  /** A worker is banned at an address from now. Called once in ten minutes for each worker. */
  readonly onBan: (worker: Worker, conduct: RigBehaviour, address: string) => void
  readonly onEnd: (session: S) => void
  /** A connection ended without a log-in. */
  readonly onStranger: (message: string) => void
  /** Work of this sequence was sent, or (false) waits because the client reads slowly. */
  readonly onWritten: (session: S, sequence: number, isWritten: boolean) => void
}

/** Whether only this worker has authorized in the session. */
export function isOnly({ rigs }: ServedSession, worker: Worker): boolean {
  const workers = [...rigs].map((rig) => rig.worker)
  return workers.length > 0 && workers.every((each) => each === worker)
}
