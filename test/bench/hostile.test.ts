/** Gas bounds the time, the memory and the disk of every hostile command, but for the known ones. */
import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { hostileCases } from '../../bench/hostile/cases.ts'
import { knownFailures } from '../../bench/hostile/known-failures.ts'
import { lineOf, type Probed, probeAll, verdict } from '../../bench/hostile/probe.ts'
import { rotating } from '../rotation.ts'
import { slowness } from './slowness.ts'

/** Cases of a run that is not full. */
const SOME = 125

const LIMITS = { enoughMs: 3000, enoughMiB: 700 }

/** Judges a command by the best of three runs, each by the speed of the machine just then. */
async function probeAlone(name: string): Promise<Probed> {
  for (let attempt = 1; ; attempt++) {
    const before = slowness()
    const [probed] = await probeAll([name], { ...LIMITS, enoughMs: LIMITS.enoughMs * before, jobs: 1 })
    const scale = (before + slowness()) / 2
    const fair = { ...probed, estimatedMs: probed.estimatedMs / scale }
    const isCrash = probed.fault?.startsWith('crash') === true
    const fault = isCrash ? probed.fault : verdict(fair)
    if (fault === null || attempt === 3) return { ...fair, fault }
  }
}

describe('hostile commands', () => {
  it('hostile commands end within 2 s of CPU time, 512 MiB and 128 MiB on disk', { timeout: 1_800_000 }, async () => {
    const names = rotating(
      hostileCases.map(({ name }) => name),
      SOME,
    )
    const first = await probeAll(names, { ...LIMITS, jobs: Math.min(4, availableParallelism()) })
    const beyond = (probed: readonly Probed[]) => probed.filter(({ fault }) => fault !== null)
    // Another program may have taken the cores meanwhile: what failed and was not known to runs again, alone.
    const unknown = beyond(first).filter(({ name }) => !Object.hasOwn(knownFailures, name))
    const second: Probed[] = []
    for (const { name } of unknown) second.push(await probeAlone(name))
    expect(beyond(second).map(lineOf), 'beyond the limits').toEqual([])
    const failed = new Set(beyond(first).map(({ name }) => name))
    const passed = Object.keys(knownFailures).filter((name) => names.includes(name) && !failed.has(name))
    expect(passed, 'known failures that pass: take them off the list').toEqual([])
  })
})
