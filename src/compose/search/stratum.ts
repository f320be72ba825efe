/** Rigs that speak stratum as a part of the search of a miner. */
import { NewcutError } from '../../core/errors.ts'
import { RIG_WORK_BYTES } from '../../engine/stratum/jobs.ts'
import { limitsFor } from '../../engine/stratum/limits.ts'
import { StratumEngine } from '../../engine/stratum/stratum.ts'
import { systemClock } from '../../platform/clock.ts'
import { descriptorLimit, descriptorsForClients } from '../../platform/descriptors.ts'
import type { StratumSetup } from '../setup.ts'
import type { Plan } from './plan.ts'
import { openShares } from './shares.ts'

/**
 * `network`: whose shares are kept; null: they are not. Throws NewcutError BAD_OPTION where rigs cannot search work of this
 * length. `make` throws BAD_INPUT for a certificate or folder that cannot be used, and DATA_UNUSABLE for such a share log.
 */
export function stratumPlan(setup: StratumSetup, workBytes: number, network: string | null): Plan {
  if (workBytes !== RIG_WORK_BYTES) {
    throw new NewcutError('BAD_OPTION', '--stratum-listen has no effect: no rig can search work of this network', {
      hint: `its work has ${workBytes} bytes, and rigs know work of ${RIG_WORK_BYTES} bytes only`,
    })
  }
  const make = async () => {
    const descriptors = descriptorLimit()
    const limits = limitsFor(setup.perAddress, descriptors === null ? null : descriptorsForClients(descriptors))
    const recorder = await openShares(setup.state ?? null, network)
    const engine = new StratumEngine({ ...setup, limits, clock: systemClock, random: Math.random, recorder })
    return { engine, rigs: engine }
  }
  return { parts: JSON.stringify(['rigs', setup]), make }
}
