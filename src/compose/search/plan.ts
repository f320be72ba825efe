/** The plan of an engine. */
import type { Engine } from '#mining/engine/engine.ts'
import type { Leader } from '#mining/engine/leader.ts'
import type { RigHost } from '#mining/engine/rigs.ts'

/** A created engine, which may also be a stratum server or the leader of a fleet. */
export interface CreatedEngine {
  readonly engine: Engine
  readonly rigs?: RigHost
  readonly leader?: Leader
}

/** A plan of an engine. Equal `parts` mean the same engine. */
export interface EnginePlan {
  readonly parts: string
  readonly make: () => Promise<CreatedEngine>
}
