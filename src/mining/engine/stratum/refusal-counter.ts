/** Counts refused requests and closed connections of the stratum server by reason. */
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

  /** Counts a refused or delayed request. */
  request(reason: RequestRefusal): void {
    this.#requests[reason]++
  }

  /** Counts a closed or refused connection. */
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
