/** `newcut trace KEY`: executes a transaction of a development network again, and prints its steps with their gas. */

import { NodeRefusal } from '#client/node/errors.ts'
import { Requests } from '#client/node/requests.ts'
import type { Config } from '#faces/cli/config.ts'
import { painter } from '#faces/cli/line.ts'
import type { traceOptions } from '#faces/cli/options/wallet.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { traceOperation } from '#ground/schema/trace.ts'
import { commandErrors } from './input/errors.ts'
import { checkRequestKey } from './input/sender.ts'
import { withNode } from './input/with-node.ts'
import { deepestFailure, failureText, type TraceStepView, traceLines } from './results/trace-lines.ts'
import { withoutControls } from './results/value-lines.ts'

/** A run has at most 20 s, and may wait for others. */
const TIMEOUT_MS = 60_000

/**
 * The exit code is 0, for a failed transaction too.
 * @throws BAD_OPTION, NodeRefusal for a key that has no trace
 */
export function runTrace(
  requestKey: string,
  config: Config<typeof traceOptions>,
  { out, environment, untilStopped }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  checkRequestKey(requestKey, 'trace')
  const { json, block, all } = config.values
  const body = { requestKey, ...(block !== undefined && { block }) }
  return withNode(config, { untilStopped }, async ({ http }, signal) => {
    const traced = await new Requests(http, '')
      .json(traceOperation, { body, signal, timeoutMs: TIMEOUT_MS })
      .catch((error: unknown) => {
        throw isUnserved(error) ? noTracesError(error) : error
      })
    if (json) {
      print(JSON.stringify(traced.body))
      return 0
    }
    const { trace, ...about } = traced.body
    const root = trace as TraceStepView
    for (const line of headLines(about)) print(line)
    const columns = out.isTTY === true && !all ? out.columns : undefined
    const style = { paint: painter(out, environment), columns, isWhole: all }
    for (const line of traceLines([root], style)) print(line)
    for (const line of failureLines(root)) print(line)
    return 0
  })
}

interface TraceFacts {
  readonly chain: number
  readonly block: { readonly height: number; readonly hash: string; readonly isOrphan: boolean } | null
  readonly status: string
  readonly gas: number
  readonly omitted: number
  readonly note: string | null
}

function headLines({ chain, block, status, gas, omitted, note }: TraceFacts): string[] {
  const where = block === null ? '' : `, height ${block.height}${block.isOrphan ? ', orphaned block' : ''}`
  return [
    `chain ${chain}${where}: ${status}, gas ${gas}`,
    ...(note === null ? [] : [`note: ${withoutControls(note)}`]),
    ...(omitted === 0 ? [] : [`the tree is too large: ${omitted} steps are only counted`]),
  ]
}

/** Where a failed transaction failed. */
function failureLines(root: TraceStepView): string[] {
  const cause = deepestFailure(root)
  return cause === null ? [] : [failureText(cause, 'the code')]
}

/** Whether the node has no traces at all. A node that has them says why there is none. */
function isUnserved(error: unknown): error is NodeRefusal {
  return error instanceof NodeRefusal && error.status === 404 && error.excerpt === ''
}

function noTracesError(cause: NodeRefusal): NewcutError {
  return operatingError(commandErrors.noTraces, undefined, cause)
}
