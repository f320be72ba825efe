/** Plans the stratum server. */
import { operatingError } from '#ground/base/errors.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { descriptorLimit, descriptorsForClients } from '#ground/platform/descriptors.ts'
import { RIG_WORK_BYTES } from '#mining/engine/stratum/jobs.ts'
import { limitsFor, type RigLimits } from '#mining/engine/stratum/limits.ts'
import { StratumEngine } from '#mining/engine/stratum/stratum.ts'
import { composeErrors } from '../errors.ts'
import type { StratumSetup } from '../setup.ts'
import type { EnginePlan } from './plan.ts'
import { classOfStart } from './rig-starts.ts'
import { openShares, type ShareKeeping } from './shares.ts'

/**
 * @param keeping where to keep shares, or null
 * @throws NewcutError BAD_OPTION if rigs cannot search work of this length. `make` throws BAD_INPUT for an unusable
 * certificate or folder, and DATA_UNUSABLE for an unusable share log.
 */
export function stratumPlan(setup: StratumSetup, workBytes: number, keeping: ShareKeeping | null): EnginePlan {
  checkRigWork(workBytes)
  const make = async () => {
    const limits = rigLimits(setup)
    const recorder = await openShares(setup.state ?? null, keeping)
    const engine = new StratumEngine({
      ...setup,
      limits,
      clock: systemClock,
      random: Math.random,
      recorder,
      headers: (warn) => classOfStart(setup.state?.folder ?? null, Math.random, warn),
    })
    return { engine, rigs: engine }
  }
  return { parts: JSON.stringify(['rigs', setup]), make }
}

/** @throws NewcutError BAD_OPTION if rigs cannot search work of this length */
export function checkRigWork(workBytes: number): void {
  if (workBytes === RIG_WORK_BYTES) return
  throw operatingError(composeErrors.workNotForRigs, { bytes: workBytes, expected: RIG_WORK_BYTES })
}

/**
 * The limits for rigs by the user's options and this process's file descriptors.
 * @param others connections that rigs need besides their own
 * @param descriptors the limit of file descriptors, or null for none
 */
export function rigLimits(
  { perAddress }: Pick<StratumSetup, 'perAddress'>,
  others = 0,
  descriptors = descriptorLimit(),
): Partial<RigLimits> {
  const most = descriptors === null ? null : Math.max(1, descriptorsForClients(descriptors) - others)
  return limitsFor(perAddress, most)
}
