/** Measures the energy of a hash for a setup of devices. */
import type { Engine } from '../engine/engine.ts'
import { deviceGroupsOf } from '../mine/hardware.ts'
import type { EngineDevice } from '../mine/rates.ts'
import { readHwmon } from '../sensors/hwmon.ts'
import { askNvidia } from '../sensors/nvidia.ts'
import { joulesBetween, problemText, readPackages } from '../sensors/powercap.ts'
import { type PowerSources, type TrialFigures, unreadableError } from './efficiency.ts'
import { runTrial, type TrialDuration, trialHashes } from './trial.ts'

interface EfficiencyTrialOptions extends TrialDuration {
  readonly workBytes: number
  readonly places: PowerSources
  /** Whether the processor searches; else the cards do. */
  readonly isCpu: boolean
}

/** Clocks, batches of GPUs and the counters settle during this time. */
const WARM_UP_MS = 1000
/** NVIDIA cards report the mean power of the last second, and packages count every millisecond. */
const TRIAL_MS = 2000
const TOOL_MS = 4000

/**
 * Searches for three seconds, and reads the energy of the last two: that of the packages if the processor searches, else
 * that of the cards. Without a hash, it goes on for up to a minute.
 * @throws NewcutError BAD_OPTION if the energy cannot be read, and the signal's reason when stopped
 */
export async function tryEfficiency(
  engines: readonly Engine[],
  { workBytes, places, isCpu, clock, stopped }: EfficiencyTrialOptions,
): Promise<TrialFigures> {
  const measured = await runTrial(engines, { workBytes, warmUpMs: WARM_UP_MS }, { clock, stopped }, async (running) => {
    const before = isCpu ? await packagesIn(places) : null
    const { hashes, elapsedMs } = await trialHashes(running, TRIAL_MS, { clock, stopped })
    stopped.throwIfAborted()
    if (hashes === 0) throw unreadableError('a trial of a minute had no hash, as other programs keep this machine busy')
    const joules =
      before === null
        ? ((await cardsWatts(running.devices(), places)) * elapsedMs) / 1000
        : joulesBetween(before, await packagesIn(places))
    if (joules === null || joules === 0) throw unreadableError('the counters gave no energy for a trial')
    return { rate: (hashes * 1000) / elapsedMs, joulesPerMegahash: (joules * 1e6) / hashes }
  })
  if (measured === null) throw stopped.reason
  return measured
}

async function packagesIn({ powercap }: PowerSources) {
  const counters = await readPackages(powercap)
  if ('problem' in counters) throw unreadableError(problemText(counters))
  return counters
}

/** The power of all cards that search. */
async function cardsWatts(devices: readonly EngineDevice[], { hwmon, env }: PowerSources): Promise<number> {
  const [asked, read] = await Promise.all([askNvidia({ env, timeoutMs: TOOL_MS }), readHwmon(hwmon)])
  const readings = [...(typeof asked === 'string' ? [] : asked), ...read]
  let sum = 0
  for (const {
    name,
    devices: [device],
    reading,
  } of deviceGroupsOf(devices, readings)) {
    if (reading === null || reading.watts === null)
      throw unreadableError(`the power of ${name} (${device.model ?? 'unknown'}) cannot be read`)
    sum += reading.watts
  }
  return sum
}
