/** What became of the solutions of a fleet, for the rigs that ask. */
import type { Outcome } from '../../fleet/messages.ts'

/** Of how many solutions it is known; the oldest are forgotten. */
const MAX_KNOWN = 20_000

export class Outcomes {
  readonly #known = new Map<string, Outcome>()

  set(hash: string, outcome: Outcome): void {
    this.#known.set(hash, outcome)
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value as string)
  }

  has(hash: string): boolean {
    return this.#known.has(hash)
  }

  of(hash: string): Outcome {
    return this.#known.get(hash) ?? { step: 'unknown' }
  }
}
