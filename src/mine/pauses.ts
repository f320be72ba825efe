/** Why a miner is to search nothing for now. Reasons add up: it searches when none is left. */

export const pauseCauses = ['user', 'fleet', 'schedule', 'load'] as const
/**
 * `user`: a person or a program of theirs. `fleet`: whoever leads the fleet. `load`: other programs use the machine.
 */
export type PauseCause = (typeof pauseCauses)[number]

export interface Pause {
  readonly by: PauseCause
  /** When it goes on, to follow "paused": `until 22:00 by the schedule`. */
  readonly text: string
}

const USER: Pause = { by: 'user', text: 'until it is resumed' }

export class Pauses {
  readonly #held = new Map<PauseCause, Pause>()
  /** Causes that the user has overruled. */
  readonly #overruled = new Set<PauseCause>()

  /** Those that count, the foremost first: the user, the fleet, the schedule, the load. */
  get list(): Pause[] {
    return pauseCauses.flatMap((by) => (this.#overruled.has(by) ? [] : (this.#held.get(by) ?? [])))
  }

  /** By the user: until resume(). */
  pause(): void {
    this.#overruled.clear()
    this.#held.set('user', USER)
  }

  /** By the user: overrules the other causes that hold at present, each until it has ended once. */
  resume(): void {
    this.#held.delete('user')
    for (const by of this.#held.keys()) this.#overruled.add(by)
  }

  /** A cause holds from now on, or goes on to, with this text; null: it has ended. */
  hold(by: Exclude<PauseCause, 'user'>, text: string | null): void {
    if (text !== null) {
      this.#held.set(by, { by, text })
      return
    }
    this.#held.delete(by)
    this.#overruled.delete(by)
  }
}
