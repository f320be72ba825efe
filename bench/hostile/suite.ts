/** Commands made to take more time, memory or disk than their gas allows, each in a process of its own. */
import { availableParallelism } from 'node:os'
import type { Row } from '../report.ts'
import type { Effort } from '../suite.ts'
import { hostileCases } from './cases.ts'
import { knownFailures } from './known-failures.ts'
import { lineOf, type Probed, probeAll } from './probe.ts'

const SUITE = 'hostile'
/** Every so many cases with `--quick`. */
const QUICK_STEP = 60
const SHOWN = 20
const LIMITS = { enoughMs: 3000, enoughMiB: 700 }

/** @throws Error if a command that is not a known failure is beyond the limits */
export async function hostile({ isQuick }: Effort, tell: (line: string) => void): Promise<Row[]> {
  const names = hostileCases.map(({ name }) => name).filter((_, i) => !isQuick || i % QUICK_STEP === 0)
  const probed = await probeAll(names, { ...LIMITS, jobs: isQuick ? 1 : Math.min(4, availableParallelism()) })
  const failed = probed.filter(({ fault }) => fault !== null)
  for (const line of probed.slice(0, Math.max(SHOWN, failed.length)).map(lineOf)) tell(line)
  tell(`${failed.length} of ${probed.length} are beyond the limits`)
  const unknown = failed.filter(({ name }) => !Object.hasOwn(knownFailures, name)).map(({ name }) => name)
  // A quick run says nothing of time.
  if (unknown.length > 0 && !isQuick) throw new Error(`hostile: beyond the limits: ${unknown.join(', ')}`)
  const row = (name: string, unit: Row['unit'], of: (one: Probed) => number): Row => {
    return { suite: SUITE, name, unit, samples: probed.map(of) }
  }
  return [
    row('CPU time of a command', 'ms', ({ estimatedMs }) => estimatedMs),
    row('peak memory of its process', 'MiB', ({ peakMiB }) => peakMiB),
  ]
}
