/** Searches with the devices of this machine: their settings, and the devices that they mean. */
import { availableParallelism } from 'node:os'
import { operatingError } from '#ground/base/errors.ts'
import type { KernelPreference } from '../engine/cpu/names.ts'
import type { Priority } from '../engine/cpu/priority.ts'
import type { Engine } from '../engine/engine.ts'
import type { GpuEngineOptions } from '../engine/gpu/gpu.ts'
import type { AdapterInfo } from '../engine/gpu/messages.ts'
import { tuneErrors } from './errors.ts'

/** Our own engines: CPU threads and GPUs. */
export interface OwnSearch {
  readonly kind: 'own'
  /** `auto` is one thread per core, and one fewer with a GPU, because a core feeds it. */
  readonly threads: number | 'auto'
  readonly kernel: KernelPreference
  readonly priority: Priority
  /** The GPUs, or null for none. */
  readonly gpu: GpuSetup | null
  /** Chooses free settings by the energy of a hash; undefined for speed. */
  readonly efficiency?: EfficiencySetup | undefined
}

export interface EfficiencySetup {
  /** File that remembers what was chosen. */
  readonly file: string
  /** Whether to measure again. */
  readonly retune: boolean
  /** Whether the user left the duration of GPU batches free. */
  readonly isBatchFree: boolean
}

export interface GpuSetup {
  /** `auto` (physical GPUs that can search this work, if any), `all`, or comma-separated numbers and names. */
  readonly which: string
  /** An option of the user that needs a GPU, such as `--gpu-workgroup`, or null. */
  readonly neededBy: string | null
  readonly batchMs: number
  /** Lanes of a workgroup; tuned if undefined. */
  readonly workgroup: number | undefined
  readonly allowSoftware: boolean
  readonly retune: boolean
  /** Cache file of tuning results, or null. */
  readonly tuningFile: GpuEngineOptions['tuningFile']
}

/** A search with devices of this machine, or another one, which has nothing to tune. */
export type TunableSearch = OwnSearch | { readonly kind: 'external' | 'leader' }

/**
 * Creates the engines of a search for work of this length. They are not started.
 * @throws NewcutError BAD_OPTION
 */
export type EnginesFor = (search: OwnSearch, workBytes: number) => Promise<readonly Engine[]>

/**
 * The adapters that the user chose.
 * @param workBytes length of the work
 * @throws NewcutError BAD_OPTION if one is missing, and the reason of the signal
 */
export async function chooseOwnAdapters(
  gpu: GpuSetup,
  workBytes: number,
  stopped: AbortSignal,
): Promise<readonly AdapterInfo[]> {
  const { which, allowSoftware } = gpu
  const { gpuSearches } = await import('../engine/gpu/gpu.ts')
  if (which === 'auto' && !gpuSearches(workBytes)) return refuseIfNeeded(gpu, 'GPUs do not search work of this network')
  const { chooseAdapters, listAdapters } = await import('../engine/gpu/adapters.ts')
  const { adapters, problem } = await listAdapters({ signal: stopped })
  stopped.throwIfAborted()
  if (which === 'auto') {
    const real = chooseAdapters('all', adapters, false)
    return real.length > 0 ? real : refuseIfNeeded(gpu, problem ?? 'only software drivers were found')
  }
  if (problem !== null) throw operatingError(tuneErrors.gpuUnusable, { which, why: problem })
  const chosen = chooseAdapters(which, adapters, allowSoftware)
  if (chosen.length > 0) return chosen
  throw operatingError(tuneErrors.softwareGpusOnly, { which })
}

function refuseIfNeeded({ neededBy }: GpuSetup, problem: string): readonly AdapterInfo[] {
  if (neededBy === null) return []
  throw operatingError(tuneErrors.gpuOptionIdle, { option: neededBy, why: problem })
}

/** Threads of a setup beside this number of GPUs. */
export function threadCount({ threads }: OwnSearch, gpus: number): number {
  if (threads !== 'auto') return threads
  return gpus === 0 ? availableParallelism() : Math.max(0, availableParallelism() - 1)
}
