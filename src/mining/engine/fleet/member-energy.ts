/** Sums of the power and energy that the rigs of a fleet report to their leader. */
import type { MemberReport } from '../../fleet/messages.ts'
import type { RigsEnergy } from '../leader.ts'

type EnergyReport = Pick<MemberReport, 'session' | 'state'> & { readonly energy?: MemberReport['energy'] | undefined }

/** Energy by the session of a rig. */
export class MemberEnergy {
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
    const more = counted === undefined || !isComplete(energy) ? 0 : Math.max(0, joules - counted)
    this.#joules = (this.#joules ?? 0) + more
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
      if (isComplete(energy)) {
        watts = (watts ?? 0) + energy.watts
        hashrate = (hashrate ?? 0) + energy.hashrate
      } else if (state === 'searching') unread++
    }
    return { watts, joules: this.#joules, hashrate, unread }
  }
}

type CompleteReading = NonNullable<MemberReport['energy']> & { readonly watts: number; readonly hashrate: number }

/** Whether the power of all its searching devices is known, and their hashrate. */
function isComplete(energy: MemberReport['energy'] | undefined): energy is CompleteReading {
  return energy !== undefined && energy.watts !== null && energy.hashrate !== null && energy.unread === 0
}
