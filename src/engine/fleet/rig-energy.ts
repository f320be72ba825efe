/** Sums of the power and energy that the rigs of a fleet report to their leader. */
import type { Report } from '../../fleet/messages.ts'
import type { RigsEnergy } from '../leader.ts'

type EnergyReport = Pick<Report, 'session' | 'state'> & { readonly energy?: Report['energy'] | undefined }

/** Energy by the session of a rig. */
export class RigEnergy {
  readonly #reports = new Map<string, EnergyReport>()
  /** Counted joules of each session; those before its first report do not count. */
  readonly #counted = new Map<string, number>()
  #joules: number | null = null

  /** Takes the newest figures of a rig. */
  report({ session, state, energy }: EnergyReport): void {
    this.#reports.set(session, { session, state, energy })
    const joules = energy?.joules ?? null
    if (joules === null) return
    const counted = this.#counted.get(session)
    this.#counted.set(session, Math.max(joules, counted ?? 0))
    this.#joules = (this.#joules ?? 0) + (counted === undefined ? 0 : Math.max(0, joules - counted))
  }

  /** Forgets a rig that has left. Its energy stays in the sum. */
  leave(session: string): void {
    this.#reports.delete(session)
    this.#counted.delete(session)
  }

  sums(): RigsEnergy {
    let watts: number | null = null
    let hashrate: number | null = null
    let unread = 0
    for (const { state, energy } of this.#reports.values()) {
      const known = energy ?? null
      if (known === null || known.watts === null || known.hashrate === null || known.unread > 0) {
        if (state === 'searching') unread++
        continue
      }
      watts = (watts ?? 0) + known.watts
      hashrate = (hashrate ?? 0) + known.hashrate
    }
    return { watts, joules: this.#joules, hashrate, unread }
  }
}
