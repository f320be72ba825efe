/** Plans the engine for rigs that mine for a pool. */

import { systemClock } from '#ground/platform/clock.ts'
import { PassthroughEngine } from '#mining/engine/passthrough/passthrough.ts'
import type { StratumSetup } from '../setup.ts'
import type { RigLinesOf } from '../source/connected-source.ts'
import type { EnginePlan } from './plan.ts'
import { checkRigWork, rigLimits } from './stratum.ts'

/**
 * @throws NewcutError BAD_OPTION if rigs cannot search work of this length. `make` throws BAD_INPUT for a bad
 *  certificate
 */
export function passthroughPlan(setup: StratumSetup, workBytes: number, rigLines: RigLinesOf): EnginePlan {
  checkRigWork(workBytes)
  const { host, port, tls } = setup
  const make = async () => {
    const lines = rigLines(workBytes)
    const shared = { limits: rigLimits(setup, lines.most), clock: systemClock, random: Math.random }
    const engine = new PassthroughEngine({ host, port, tls, lines, ...shared })
    return { engine, rigs: engine }
  }
  return { parts: JSON.stringify(['passthrough', setup]), make }
}
