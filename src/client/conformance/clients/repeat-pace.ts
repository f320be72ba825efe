/** The pace at which a client repeats requests that got usual answers. */
import { requestNameOf } from './aims.ts'
import type { ClientRequest } from './client-request.ts'

export class RetryInterval {
  /** Name of a request -> end of its last usual answer. */
  readonly #answeredMs = new Map<string, number>()
  /** Endpoint -> shortest time between a usual answer and the same request again. */
  readonly #pauseMs = new Map<string, number>()

  /** Records the time since the usual answer to an equal request, if that was the last answer. */
  recordRequest(request: ClientRequest): void {
    const name = requestNameOf(request)
    const answeredMs = this.#answeredMs.get(name)
    this.#answeredMs.delete(name)
    if (answeredMs === undefined || request.operation === null) return
    const pauseMs = Math.min(
      request.atMs - answeredMs,
      this.#pauseMs.get(request.operation.id) ?? Number.POSITIVE_INFINITY,
    )
    this.#pauseMs.set(request.operation.id, pauseMs)
  }

  /** Records the end of a usual answer. */
  recordAnswer(request: ClientRequest, nowMs: number): void {
    this.#answeredMs.set(requestNameOf(request), nowMs)
  }

  /** Whether the client repeats requests of this endpoint so soon after usual answers too. */
  repeatsWithin({ operation }: ClientRequest, forMs: number): boolean {
    return operation !== null && (this.#pauseMs.get(operation.id) ?? Number.POSITIVE_INFINITY) <= forMs
  }
}
