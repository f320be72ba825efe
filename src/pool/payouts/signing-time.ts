/**
 * Compares the clock of this machine with that of the node before anything is signed. The node's clock counts, by the
 * header that it sends with every answer: `/send` judges the creation time of a transaction by it (PROTOCOL.md E.3). The
 * newest block may be hours old, and the `Date` of an answer may be that of a proxy.
 */

import type { NodeClient } from '#client/node/client.ts'
import { serverMsOf } from '#client/node/errors.ts'
import { Requests } from '#client/node/requests.ts'
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { operations } from '#ground/schema/operations.ts'

/** The connection to a node whose answers state its time. */
export type ClockNode = Pick<NodeClient, 'http'>

/** Maximum difference between the clocks: nodes accept 95 s, and answers may be late. */
const MAX_DIFFERENCE_MS = 30_000
/** The header has whole seconds. */
const HEADER_MS = 999

/** The clocks of this machine and of the node differ too much. Code COMMAND_FAILED. */
export class ClockSkew extends NewcutError {
  constructor(hereMs: number, nodeMs: number) {
    const [here, there] = [hereMs, nodeMs].map((ms) => new Date(ms).toISOString())
    const seconds = Math.round(Math.abs(hereMs - nodeMs) / 1000)
    const most = MAX_DIFFERENCE_MS / 1000
    super(
      'COMMAND_FAILED',
      `the clock here says ${here}, and that of the node ${there}: they differ by ${seconds} s, and the maximum is ${most} s`,
      { hint: 'set the clock that is wrong, and run newcut payouts --pay again; nothing was signed' },
    )
  }
}

/**
 * The time for a transaction to sign, milliseconds since 1970: that of the slower clock, so that the node does not find
 * it in the future. If a node does not state its time, the clock of this machine counts.
 * @throws ClockSkew, and the errors of NodeClient
 */
export async function signingTime({ http }: ClockNode, clock: Clock, signal: AbortSignal): Promise<number> {
  const beforeMs = clock.wallMs()
  const { headers } = await new Requests(http, '').send(operations.healthCheck, { signal })
  const nodeMs = serverMsOf(headers)
  const afterMs = clock.wallMs()
  if (nodeMs === null) return afterMs
  const isAhead = beforeMs - (nodeMs + HEADER_MS) > MAX_DIFFERENCE_MS
  const isBehind = nodeMs - afterMs > MAX_DIFFERENCE_MS
  if (isAhead || isBehind) throw new ClockSkew(afterMs, nodeMs)
  return Math.min(afterMs, nodeMs)
}
