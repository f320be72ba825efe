/** Measures the energy of a hash for a setup of devices. */
import { type Clock, sleep } from '../../base/clock.ts'
import { untilAborted } from '../../base/signals.ts'
import { FREE_NONCE } from '../../core/nonce.ts'
import { EngineSet } from '../../mine/engine-set.ts'
import { groupsOf } from '../../mine/hardware.ts'
import type { EngineDevice } from '../../mine/rates.ts'
import { readHwmon } from '../../sensors/hwmon.ts'
import { askNvidia } from '../../sensors/nvidia.ts'
import { joulesBetween, problemText, readPackages } from '../../sensors/powercap.ts'
import type { OwnSearch } from '../setup.ts'
import { type Measured, type PowerPlaces, unreadable } from './efficiency.ts'
import { Engines } from './engines.ts'
import { trialHashes } from './trial-hashes.ts'

export interface TrialOptions {
  readonly workBytes: number
  readonly places: PowerPlaces
  readonly clock: Clock
  readonly stopped: AbortSignal
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
export async function tryEfficiency(search: OwnSearch, options: TrialOptions): Promise<Measured> {
  const { workBytes, clock, stopped } = options
  const { own } = await new Engines(workBytes, stopped).replacementFor(search)
  const engines = new EngineSet(clock)
  const events = { onCandidate: () => undefined, onWarning: () => undefined }
  try {
    await Promise.race([engines.start(own, workBytes, events), untilAborted(stopped)])
    stopped.throwIfAborted()
    // No hash meets this target.
    const work = { sequence: 1, job: 'trial', bytes: new Uint8Array(workBytes), target: 0n, fixedNonce: FREE_NONCE }
    await Promise.race([engines.setWork(work), untilAborted(stopped)])
    await sleep(clock, WARM_UP_MS, stopped)
    const before = search.threads === 0 ? null : await packages(options)
    const { hashes, elapsedMs } = await trialHashes(engines, TRIAL_MS, { clock, stopped })
    stopped.throwIfAborted()
    if (hashes === 0) throw unreadable('a trial of a minute had no hash, as other programs keep this machine busy')
    const joules =
      before === null
        ? ((await cardsWatts(engines.devices(), options.places)) * elapsedMs) / 1000
        : joulesBetween(before, await packages(options))
    if (joules === null || joules === 0) throw unreadable('the counters gave no energy for a trial')
    return { rate: (hashes * 1000) / elapsedMs, joulesPerMegahash: (joules * 1e6) / hashes }
  } finally {
    await engines.stop()
  }
}

async function packages({ places }: TrialOptions) {
  const counters = await readPackages(places.powercap)
  if ('problem' in counters) throw unreadable(problemText(counters))
  return counters
}

/** The power of all cards that search. */
async function cardsWatts(devices: readonly EngineDevice[], { hwmon, env }: PowerPlaces): Promise<number> {
  const [asked, read] = await Promise.all([askNvidia({ env, timeoutMs: TOOL_MS }), readHwmon(hwmon)])
  const readings = [...(typeof asked === 'string' ? [] : asked), ...read]
  let sum = 0
  for (const {
    name,
    devices: [device],
    reading,
  } of groupsOf(devices, readings)) {
    if (reading === null || reading.watts === null)
      throw unreadable(`the power of ${name} (${device.model ?? 'unknown'}) cannot be read`)
    sum += reading.watts
  }
  return sum
}
