/** Finding a node: one that does not answer yet is waited for. */
import { type Clock, sleep } from '../core/clock.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import { NodeClient } from '../node/client.ts'
import { isRetryable } from '../node/errors.ts'
import type { NodeHttpOptions } from '../node/http.ts'

export interface ConnectOptions {
  readonly node: NodeHttpOptions
  /** Throw what goes wrong instead of waiting. */
  readonly failFast: boolean
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Hears once that the node is waited for, and why. */
  readonly onWaiting: (message: string) => void
}

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000
/** Connects to a node as soon as it answers. Throws NewcutError, or the signal's reason when it aborts. */
export async function connect(options: ConnectOptions, signal: AbortSignal): Promise<NodeClient> {
  const { node, failFast, clock, random, onWaiting } = options
  for (let attempt = 0; ; attempt++) {
    try {
      return await NodeClient.connect(node, signal)
    } catch (error) {
      signal.throwIfAborted()
      // A node that is down or starting, or what stands before it, may answer with anything.
      if (failFast || !isRetryable(error)) throw error
      if (attempt === 0) onWaiting(`waiting for the node: ${describeError(error)}${hintOf(error)}`)
    }
    await sleep(clock, random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), signal)
  }
}

function hintOf(error: unknown): string {
  return error instanceof NewcutError && error.hint !== undefined ? ` (${error.hint})` : ''
}
