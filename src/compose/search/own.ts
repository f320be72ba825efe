/** Plans the engines for this machine's devices. The modules of an engine load only when it is created. */
import { availableParallelism } from 'node:os'
import { NewcutError } from '../../base/errors.ts'
import type { AdapterInfo } from '../../engine/gpu/messages.ts'
import { splitRanges } from '../../engine/range.ts'
import { systemClock } from '../../platform/clock.ts'
import type { GpuSetup, OwnSearch } from '../setup.ts'
import type { Made, Plan } from './plan.ts'

/** Finds the GPU adapters of a setup. This takes seconds. */
export type FindAdapters = (gpu: GpuSetup) => Promise<readonly AdapterInfo[]>

/** @returns an empty list if no device of this machine would search */
export async function ownPlans(setup: OwnSearch, adaptersFor: FindAdapters): Promise<Plan[]> {
  const { gpu, kernel, priority } = setup
  const adapters = gpu === null ? [] : await adaptersFor(gpu)
  const threads = threadCount(setup, adapters.length)
  // CPU and GPUs get half of the nonces each, even while one of them has no engine: it may get one later.
  const [cpuRanges, gpuRanges] = splitRanges([Math.max(1, threads), Math.max(1, adapters.length)], Math.random)
  const plans: Plan[] = []
  if (gpu !== null && adapters.length > 0) {
    plans.push({ parts: JSON.stringify(['gpu', gpu, adapters]), make: () => gpuEngine(gpu, adapters, gpuRanges) })
  }
  if (threads > 0) {
    const make = async () => {
      const { CpuEngine } = await import('../../engine/cpu/cpu.ts')
      return { engine: new CpuEngine({ ranges: cpuRanges, kernel, priority, clock: systemClock }) }
    }
    plans.push({ parts: JSON.stringify(['cpu', threads, kernel, priority]), make })
  }
  return plans
}

/** The adapters that the user chose. Throws NewcutError BAD_OPTION if one is missing. */
export async function wantedAdapters(
  gpu: GpuSetup,
  workBytes: number,
  stopped: AbortSignal,
): Promise<readonly AdapterInfo[]> {
  const { which, allowSoftware } = gpu
  const { gpuSearches } = await import('../../engine/gpu/gpu.ts')
  if (which === 'auto' && !gpuSearches(workBytes)) return refuseIfNeeded(gpu, 'GPUs do not search work of this network')
  const { chooseAdapters, listAdapters } = await import('../../engine/gpu/adapters.ts')
  const { adapters, problem } = await listAdapters({ signal: stopped })
  stopped.throwIfAborted()
  if (which === 'auto') {
    const real = chooseAdapters('all', adapters, false)
    return real.length > 0 ? real : refuseIfNeeded(gpu, problem ?? 'only software drivers were found')
  }
  if (problem !== null) throw new NewcutError('BAD_OPTION', `--gpu ${which}: ${problem}`)
  const chosen = chooseAdapters(which, adapters, allowSoftware)
  if (chosen.length > 0) return chosen
  const hint = '--allow-software mines with it anyway; the CPU engine is faster'
  throw new NewcutError('BAD_OPTION', `--gpu ${which}: only software drivers were found`, { hint })
}

function refuseIfNeeded({ neededBy }: GpuSetup, problem: string): readonly AdapterInfo[] {
  if (neededBy === null) return []
  throw new NewcutError('BAD_OPTION', `${neededBy} has no effect: no GPU would mine`, { hint: problem })
}

/** Threads of a setup beside this number of GPUs. */
export function threadCount({ threads }: OwnSearch, gpus: number): number {
  if (threads !== 'auto') return threads
  return gpus === 0 ? availableParallelism() : Math.max(0, availableParallelism() - 1)
}

async function gpuEngine(
  { batchMs, workgroup, allowSoftware, retune, tuningFile }: GpuSetup,
  adapters: readonly AdapterInfo[],
  ranges: ReturnType<typeof splitRanges>[number],
): Promise<Made> {
  const { GpuEngine } = await import('../../engine/gpu/gpu.ts')
  return { engine: new GpuEngine({ adapters, ranges, batchMs, workgroup, allowSoftware, tuningFile, retune }) }
}
