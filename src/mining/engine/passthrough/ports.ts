/** Interface of a pool rig's session to the engine, in addition to its socket. */
import type { RigPoolSessions } from '../../stratum/passthrough.ts'
import type { Rig } from '../stratum/share.ts'
import type { RefusalName } from './refusals.ts'

export interface ProxyPorts {
  readonly lines: Pick<RigPoolSessions, 'seat'>
  readonly onUser: (user: string) => Rig
  /** The rig is refused, or its session ends. */
  readonly onSentAway: (why: RefusalName) => void
  /** The rig is closed because its pool session is over, and it cannot switch to another. */
  readonly onReconnect: () => void
}
