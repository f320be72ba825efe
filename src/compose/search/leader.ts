/** Plans the engine for the leader of a fleet. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '#ground/platform/clock.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { FleetEngine } from '#mining/engine/fleet/fleet.ts'
import type { LeaderSearch } from '../setup.ts'
import type { EnginePlan } from './plan.ts'

export function leaderPlan({ link, name, replicas }: LeaderSearch): EnginePlan {
  const shared = { session: randomUUID(), clock: systemClock, random: Math.random, version: packageVersion }
  const make = async () => {
    const engine = new FleetEngine({ link, name, replicas, ...shared })
    return { engine, leader: engine }
  }
  return { parts: 'leader', make }
}
