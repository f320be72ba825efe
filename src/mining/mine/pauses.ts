/** Pause causes, the foremost first. They are independent: mining resumes when all are cleared. */

export const pauseCauses = ['user', 'fleet', 'schedule', 'load'] as const
/**
 * `user`: a person or a program of theirs. `fleet`: the leader of the fleet. `load`: other programs use the machine.
 */
export type PauseCause = (typeof pauseCauses)[number]

export interface Pause {
  readonly by: PauseCause
  /** When it ends, as the continuation of "paused": `until 22:00 by the schedule`. */
  readonly text: string
}

const USER: Pause = { by: 'user', text: 'until it is resumed' }

export class Pauses {
  readonly #held = new Map<PauseCause, Pause>()
  /** Causes that the user has overridden. */
  readonly #overruled = new Set<PauseCause>()

  /** Active causes, the foremost first. */
  get list(): Pause[] {
    return pauseCauses.flatMap((by) => (this.#overruled.has(by) ? [] : (this.#held.get(by) ?? [])))
  }

  /** User pause, until resume(). */
  pause(): void {
    this.#overruled.clear()
    this.#held.set('user', USER)
  }

  /** User resume. Overrides the other current causes, each until it has been cleared once. */
  resume(): void {
    this.#held.delete('user')
    for (const by of this.#held.keys()) this.#overruled.add(by)
  }

  /**
   * Sets or clears a cause.
   * @param text new text of the pause, or null to clear the cause
   */
  hold(by: Exclude<PauseCause, 'user'>, text: string | null): void {
    if (text !== null) {
      this.#held.set(by, { by, text })
      return
    }
    this.#held.delete(by)
    this.#overruled.delete(by)
  }
}
