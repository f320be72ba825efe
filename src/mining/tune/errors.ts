/** The errors of tuning and of the search with devices of this machine. */
import { errorRows } from '#ground/base/errors.ts'

export const tuneErrors = errorRows({
  noEnergy: {
    code: 'BAD_OPTION',
    text: '`tune-for: efficiency` needs the energy of each hash: {why}',
    hint: 'MONITORING.md, "Energy", says how to allow it; without it, mine with `tune-for: speed`',
  },
  gpuUnusable: {
    code: 'BAD_OPTION',
    text: '`gpu: {which}`: {why}',
    hint: 'newcut devices lists the GPUs that newcut can use',
  },
  softwareGpusOnly: {
    code: 'BAD_OPTION',
    text: '`gpu: {which}`: only software drivers were found',
    hint: '`allow-software` mines with it anyway; the CPU engine is faster',
  },
  gpuOptionIdle: {
    code: 'BAD_OPTION',
    text: '{option} has no effect: no GPU would mine',
    hint: '{why}',
  },
})
