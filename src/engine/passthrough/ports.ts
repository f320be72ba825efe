/** What the session of a rig behind a pool needs beside its socket. */
import type { PoolLines } from '../../stratum/passthrough.ts'
import type { Rig } from '../stratum/share.ts'
import type { RefusalName } from './refusals.ts'

export interface PassedPorts {
  readonly lines: Pick<PoolLines, 'seat'>
  readonly isBanned: (user: string) => boolean
  readonly onUser: (user: string) => Rig
  /** It is not let in, or not any more. */
  readonly onSentAway: (why: RefusalName) => void
  /** It is closed since its session with the pool is over, and it cannot be given another one. */
  readonly onParted: () => void
}
