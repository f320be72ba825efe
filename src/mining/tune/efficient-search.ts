/** Applies `--tune-for efficiency` to the search of a miner, from memory or after a measurement. */
import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { describeError } from '#ground/base/errors.ts'
import { formatEfficiency, formatHashrate } from '#ground/base/units.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { type KernelName, kernelNames } from '../engine/cpu/names.ts'
import {
  type ChosenSettings,
  chooseEfficient,
  type PowerSources,
  type SettingChoices,
  type SettingTrial,
} from './efficiency.ts'
import { readTunedSettings, writeTunedSettings } from './efficiency-file.ts'
import { tryEfficiency } from './efficiency-trial.ts'
import { chooseOwnAdapters, type EfficiencySetup, type EnginesFor, type OwnSearch, threadCount } from './own-search.ts'

interface EfficiencyOptions {
  readonly workBytes: number
  readonly enginesFor: EnginesFor
  readonly places: PowerSources | undefined
  readonly stopped: AbortSignal
  /** Receives news for people. */
  readonly tell: (message: string) => void
}

/**
 * Remembers or measures the settings with the least energy per hash.
 * @throws NewcutError BAD_OPTION if the energy cannot be read, and the signal's reason when stopped
 */
export async function chooseSettings(
  search: OwnSearch,
  { file, retune, isBatchFree }: EfficiencySetup,
  { workBytes, enginesFor, places, stopped, tell }: EfficiencyOptions,
): Promise<ChosenSettings> {
  const adapters = search.gpu === null ? [] : await chooseOwnAdapters(search.gpu, workBytes, stopped)
  const threads = threadCount(search, adapters.length)
  const choices: SettingChoices = {
    threads,
    isThreadsFree: search.threads === 'auto',
    kernels: threads === 0 ? [] : await kernelsFor(search, workBytes, stopped),
    isBatchFree: adapters.length > 0 && isBatchFree,
  }
  const key = JSON.stringify([packageVersion, cpus()[0]?.model ?? '', choices, search.priority, adapters])
  const stored = readTunedSettings(file, key)
  if (stored.chosen !== null && !retune) {
    tell(`efficiency: ${settingsText(stored.chosen)}, as measured before (${file})`)
    return stored.chosen
  }
  if (stored.why !== null) tell(`efficiency: ${stored.why}; measuring again`)
  tell('efficiency: measuring the energy of hashes, three seconds for each setting')
  if (places === undefined) throw new Error('a miner that tunes for efficiency has sensors')
  const options = { workBytes, places, stopped, clock: systemClock }
  const trial = async (variant: OwnSearch) =>
    tryEfficiency(await enginesFor(variant, workBytes), { ...options, isCpu: variant.threads !== 0 })
  const { chosen, tried } = await chooseEfficient(search, choices, trial)
  for (const each of tried) tell(`efficiency: ${trialText(each)}`)
  tell(`efficiency: chose ${settingsText(chosen)}`)
  try {
    writeTunedSettings(file, key, chosen)
  } catch (error) {
    tell(`efficiency: the choice is not kept: ${describeError(error)}`)
  }
  return chosen
}

/** The kernels that may be tried: the native ones that run here, else WebAssembly; or the one that the user names. */
async function kernelsFor(
  { kernel }: OwnSearch,
  workBytes: number,
  signal: AbortSignal,
): Promise<readonly KernelName[]> {
  const [{ chooseKernel }, { loadChosen }, { provideNativeKernel }] = await Promise.all([
    import('../engine/cpu/kernels.ts'),
    import('../engine/cpu/native-choice.ts'),
    import('../engine/cpu/native-build.ts'),
  ])
  const { choice } = await provideNativeKernel({ env: process.env, signal })
  const addon = loadChosen(choice)
  const runs = (name: KernelName | 'native') =>
    chooseKernel(
      workBytes,
      name,
      (bytes) => randomBytes(bytes),
      new Set(),
      () => addon,
    ).kernel
  if (kernel !== 'auto') {
    const name = kernelNames.find((each) => each === runs(kernel)?.name)
    return name === undefined ? [] : [name]
  }
  const native = kernelNames.filter((name) => name in addon.sweeps && runs(name) !== null)
  return native.length > 0 ? native : ['wasm']
}

const trialText = ({ setting, joulesPerMegahash, rate }: SettingTrial) =>
  `${setting}: ${formatEfficiency(joulesPerMegahash)} at ${formatHashrate(rate)}`

function settingsText({ threads, kernel, batchMs }: ChosenSettings): string {
  const parts = [
    ...(threads === undefined ? [] : [`${threads} CPU thread${threads === 1 ? '' : 's'}`]),
    ...(kernel === undefined ? [] : [kernel]),
    ...(batchMs === undefined ? [] : [`GPU batches of ${batchMs} ms`]),
  ]
  return parts.length === 0 ? 'the settings as given, because there is nothing to choose' : parts.join(', ')
}
