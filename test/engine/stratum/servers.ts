/** Stratum servers on loopback for tests, with their candidates and warnings. */

import { withCreationTime, withNonce } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import type { Candidate, EngineWork } from '../../../src/mining/engine/engine.ts'
import type { RigLimits } from '../../../src/mining/engine/stratum/limits.ts'
import { StratumEngine, type StratumOptions } from '../../../src/mining/engine/stratum/stratum.ts'
import { Rig } from '../../support/stratum-rig.ts'
import { engineWork, freshWork } from '../../support/work.ts'

export interface Started {
  readonly engine: StratumEngine
  readonly port: number
  readonly candidates: Candidate[]
  readonly warnings: string[]
}

const stops: (() => Promise<void>)[] = []
const rigs: Rig[] = []

export async function startedServer(
  limits: Partial<RigLimits> = {},
  options: Partial<StratumOptions> = {},
): Promise<Started> {
  const engine = new StratumEngine({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    difficulty: 1000,
    clock: systemClock,
    random: Math.random,
    limits,
    // The first header has the creation time of its work; each further one is a microsecond later.
    headers: { residue: 0, modulus: 1 },
    ...options,
  })
  stops.push(() => engine.stop())
  const candidates: Candidate[] = []
  const warnings: string[] = []
  await engine.start(286, {
    onCandidate: (candidate) => candidates.push(candidate),
    onWarning: (message) => warnings.push(message),
  })
  const { port } = await engine.listen()
  return { engine, port, candidates, warnings }
}

export async function loggedIn(port: number, user?: string, agent?: string): Promise<Rig> {
  const rig = await Rig.login(port, user, agent)
  rigs.push(rig)
  return rig
}

export async function connected(port: number): Promise<Rig> {
  const rig = await Rig.connect(port)
  rigs.push(rig)
  return rig
}

/** Stops everything that the test started. */
export async function stopServers(): Promise<void> {
  for (const rig of rigs.splice(0)) rig.close()
  for (const stop of stops.splice(0)) await stop()
}

/** Work whose blocks take `difficulty` hashes on average. */
export function workOf(sequence: number, difficulty: bigint): EngineWork & { readonly bytes: Uint8Array } {
  const bytes = freshWork(difficulty)
  return { ...engineWork(sequence, bytes, MAX_TARGET / difficulty), bytes }
}

/** Whether a candidate solves this work, by hashing all of it. */
export function solvesWork({ nonce, creationTime }: Candidate, { bytes, target }: ReturnType<typeof workOf>): boolean {
  const searched = creationTime === undefined ? bytes : withCreationTime(bytes, creationTime)
  return meets(powHash(withNonce(searched, nonce)), target)
}
