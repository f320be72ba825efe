/** Plans the engines for this machine's devices. The modules of an engine load only when it is created. */

import { systemClock } from '#ground/platform/clock.ts'
import type { AdapterInfo } from '#mining/engine/gpu/messages.ts'
import { splitRanges } from '#mining/engine/range.ts'
import { type GpuSetup, type OwnSearch, threadCount } from '#mining/tune/own-search.ts'
import type { CreatedEngine, EnginePlan } from './plan.ts'

/** Finds the GPU adapters of a setup. This takes seconds. */
type FindAdapters = (gpu: GpuSetup) => Promise<readonly AdapterInfo[]>

/** @returns an empty list if no device of this machine would search */
export async function ownPlans(setup: OwnSearch, adaptersFor: FindAdapters): Promise<EnginePlan[]> {
  const { gpu, kernel, priority } = setup
  const adapters = gpu === null ? [] : await adaptersFor(gpu)
  const threads = threadCount(setup, adapters.length)
  // CPU and GPUs get half of the nonces each, even while one of them has no engine: it may get one later.
  const [cpuRanges, gpuRanges] = splitRanges([Math.max(1, threads), Math.max(1, adapters.length)], Math.random)
  const plans: EnginePlan[] = []
  if (gpu !== null && adapters.length > 0) {
    plans.push({ parts: JSON.stringify(['gpu', gpu, adapters]), make: () => gpuEngine(gpu, adapters, gpuRanges) })
  }
  if (threads > 0) {
    const make = async () => {
      const { CpuEngine } = await import('#mining/engine/cpu/cpu.ts')
      return { engine: new CpuEngine({ ranges: cpuRanges, kernel, priority, clock: systemClock }) }
    }
    plans.push({ parts: JSON.stringify(['cpu', threads, kernel, priority]), make })
  }
  return plans
}

async function gpuEngine(
  { batchMs, workgroup, allowSoftware, retune, tuningFile }: GpuSetup,
  adapters: readonly AdapterInfo[],
  ranges: ReturnType<typeof splitRanges>[number],
): Promise<CreatedEngine> {
  const { GpuEngine } = await import('#mining/engine/gpu/gpu.ts')
  return { engine: new GpuEngine({ adapters, ranges, batchMs, workgroup, allowSoftware, tuningFile, retune }) }
}
