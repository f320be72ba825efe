/** How often the stratum server refused a request or closed a connection, by reason, since its start. */
import {
  type CloseReason,
  closeReasons,
  type RefusalCounts,
  type RequestRefusal,
  requestRefusals,
} from '../../stratum/refusals.ts'

export class RefusalCounter {
  readonly #requests = zeros(requestRefusals)
  readonly #connections = zeros(closeReasons)

  /** A request was refused, or has to wait. */
  request(reason: RequestRefusal): void {
    this.#requests[reason]++
  }

  /** A connection was closed, or not let in. */
  connection(reason: CloseReason): void {
    this.#connections[reason]++
  }

  counts(): RefusalCounts {
    return { requests: { ...this.#requests }, connections: { ...this.#connections } }
  }
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
}
