/** Who searches: from options to engines. */
import { availableParallelism } from 'node:os'
import type { Config } from '../cli/config.ts'
import type { mineOptions } from '../cli/options.ts'
import { NewcutError } from '../core/errors.ts'
import { CpuEngine } from '../engine/cpu/cpu.ts'
import type { Engine } from '../engine/engine.ts'
import { ExternalEngine } from '../engine/external.ts'
import { chooseAdapters, listAdapters, tuningFileOf } from '../engine/gpu/adapters.ts'
import { GpuEngine, gpuSearches } from '../engine/gpu/gpu.ts'
import type { AdapterInfo } from '../engine/gpu/messages.ts'
import { splitRanges } from '../engine/range.ts'
import { systemClock } from '../platform/clock.ts'

/**
 * The engines for work of this length. Throws NewcutError BAD_OPTION when nothing would search, and the signal's reason
 * when it is stopped meanwhile.
 */
export async function createEngines(
  config: Config<typeof mineOptions>,
  workBytes: number,
  stopped: AbortSignal,
): Promise<Engine[]> {
  const { engine, command, kernel, priority } = config.values
  if (engine === 'external') {
    if (command !== undefined) return [new ExternalEngine({ command, clock: systemClock })]
    throw new NewcutError('BAD_OPTION', '--engine external needs --command', {
      hint: "for example --command 'newcut solve'",
    })
  }
  const adapters = await wantedAdapters(config, workBytes, stopped)
  const threads = threadCount(config, adapters.length)
  const [cpuRanges, gpuRanges] = splitRanges([threads, adapters.length], Math.random)
  const engines: Engine[] = []
  if (adapters.length > 0) engines.push(gpuEngine(config, adapters, gpuRanges))
  if (threads > 0) engines.push(new CpuEngine({ ranges: cpuRanges, kernel, priority }))
  if (engines.length > 0) return engines
  throw new NewcutError('BAD_OPTION', '--threads 0: nothing would search', {
    hint: 'there is no GPU to mine with; newcut devices says why',
  })
}

/** `auto`: real GPUs that can search this work, if there are any. Whatever was asked for must be there. */
async function wantedAdapters(
  { values }: Config<typeof mineOptions>,
  workBytes: number,
  stopped: AbortSignal,
): Promise<readonly AdapterInfo[]> {
  const { gpu, 'allow-software': allowSoftware } = values
  if (gpu === 'none' || (gpu === 'auto' && !gpuSearches(workBytes))) return []
  const { adapters, problem } = await listAdapters({ signal: stopped })
  stopped.throwIfAborted()
  if (gpu === 'auto') return chooseAdapters('all', adapters, false)
  if (problem !== null) throw new NewcutError('BAD_OPTION', `--gpu ${gpu}: ${problem}`)
  const chosen = chooseAdapters(gpu, adapters, allowSoftware)
  if (chosen.length > 0) return chosen
  const hint = '--allow-software mines with it all the same; the CPU engine is faster'
  throw new NewcutError('BAD_OPTION', `--gpu ${gpu}: there are software drivers only`, { hint })
}

/** A GPU needs a core to be fed from: unless the user says otherwise, one thread fewer searches then. */
function threadCount({ values, origins }: Config<typeof mineOptions>, gpus: number): number {
  if (gpus === 0 || origins.get('threads') !== 'default') return values.threads
  return Math.max(0, availableParallelism() - 1)
}

function gpuEngine(
  { values }: Config<typeof mineOptions>,
  adapters: readonly AdapterInfo[],
  ranges: ReturnType<typeof splitRanges>[number],
): GpuEngine {
  return new GpuEngine({
    adapters,
    ranges,
    batchMs: values['gpu-batch-ms'],
    workgroup: values['gpu-workgroup'],
    allowSoftware: values['allow-software'],
    tuningFile: tuningFileOf(process.env, process.platform),
    retune: values.retune,
  })
}
