/** An engine that is to be made. */
import type { Engine } from '../../engine/engine.ts'
import type { Leader } from '../../engine/leader.ts'
import type { RigHost } from '../../engine/rigs.ts'

/** An engine, and what else it is: a server for rigs, or the leader of a fleet. */
export interface Made {
  readonly engine: Engine
  readonly rigs?: RigHost
  readonly leader?: Leader
}

/** An engine, by what it is made of: the same parts make the same engine. */
export interface Plan {
  readonly parts: string
  readonly make: () => Promise<Made>
}
