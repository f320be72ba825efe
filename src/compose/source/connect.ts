/** Connects to a node, with retries. */

import { NodeClient } from '#client/node/client.ts'
import type { ConnectorFactory } from '#client/node/dial.ts'
import { isRetryable } from '#client/node/errors.ts'
import { backoffMs } from '#ground/base/backoff.ts'
import { sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import type { NetworkDefinition } from '#ground/chain/network.ts'
import { systemClock } from '#ground/platform/clock.ts'
import type { NodeTrust, StartPolicy } from '../setup.ts'

/** The address of a node, and how to connect to it. */
export interface NodeAddress extends StartPolicy {
  /** Root of the node: `http://HOST:PORT`. */
  readonly url: string
  readonly trust: NodeTrust
  /** Networks of the user's files. Default: none. */
  readonly networks?: readonly NetworkDefinition[] | undefined
  /** Upper bound of the backoff. Default: 1.5 s. */
  readonly maxPauseMs?: number | undefined
  readonly dial?: ConnectorFactory | undefined
}

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 1_500

/**
 * Connects to a node as soon as it answers, with exponential backoff and jitter.
 * @param onWaiting called once, with the reason of the first retry
 * @throws NewcutError for failures that a retry cannot cure, or the signal's reason.
 */
export async function connect(
  setup: NodeAddress,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<NodeClient> {
  const { failFast, maxWaitMs = Number.POSITIVE_INFINITY, maxPauseMs = MAX_PAUSE_MS } = setup
  const endMs = systemClock.monotonicMs() + maxWaitMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await connectOnce(setup, signal)
    } catch (error) {
      signal.throwIfAborted()
      // A node that is starting, or a proxy in front of one that is down, may answer with any of these errors.
      if (failFast || !isRetryable(error) || systemClock.monotonicMs() >= endMs) throw error
      if (attempt === 0) onWaiting(`waiting for the node: ${describeError(error)}${hintOf(error)}`)
    }
    await sleep(systemClock, backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: maxPauseMs }, attempt, Math.random), signal)
  }
}

/**
 * One attempt.
 * @throws NewcutError, or the signal's reason
 */
export function connectOnce(
  {
    url,
    trust: { insecure, fingerprint, ca },
    networks,
    dial,
  }: Pick<NodeAddress, 'url' | 'trust' | 'networks' | 'dial'>,
  signal: AbortSignal,
): Promise<NodeClient> {
  const options = {
    ...(fingerprint && { fingerprint }),
    ...(ca && { ca }),
    ...(dial && { dial }),
    ...(networks && { networks }),
  }
  return NodeClient.connect({ url, insecure, ...options }, signal)
}

function hintOf(error: unknown): string {
  return error instanceof NewcutError && error.hint !== undefined ? ` (${error.hint})` : ''
}
