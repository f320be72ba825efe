/** The pace at which a client repeats requests whose answers are usual. */
import { requestNameOf } from './aims.ts'
import type { Asked } from './asked.ts'

export class Habits {
  /** Name of a request -> end of its last usual answer. */
  readonly #answeredMs = new Map<string, number>()
  /** Endpoint -> shortest time between a usual answer and the same request again. */
  readonly #pauseMs = new Map<string, number>()

  /** Keeps the time since the usual answer to an equal request, if that was the last answer. */
  asked(asked: Asked): void {
    const name = requestNameOf(asked)
    const answeredMs = this.#answeredMs.get(name)
    this.#answeredMs.delete(name)
    if (answeredMs === undefined || asked.operation === null) return
    const pauseMs = Math.min(asked.atMs - answeredMs, this.#pauseMs.get(asked.operation.id) ?? Number.POSITIVE_INFINITY)
    this.#pauseMs.set(asked.operation.id, pauseMs)
  }

  /** Keeps the end of a usual answer. */
  answered(asked: Asked, nowMs: number): void {
    this.#answeredMs.set(requestNameOf(asked), nowMs)
  }

  /** Whether the client repeats requests of this endpoint so soon after usual answers too. */
  repeatsWithin({ operation }: Asked, forMs: number): boolean {
    return operation !== null && (this.#pauseMs.get(operation.id) ?? Number.POSITIVE_INFINITY) <= forMs
  }
}
