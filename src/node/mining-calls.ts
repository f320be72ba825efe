/** What a miner asks of a node: work, and whether there can be any. */
import { describeError, FormatError, NewcutError } from '../core/errors.ts'
import type { MinerAccount } from '../core/payload.ts'
import { decodeWorkResponse, type Work } from '../core/work.ts'
import { BINARY } from '../schema/operation.ts'
import { operations } from '../schema/operations.ts'
import { type Context, callOf } from './chain-calls.ts'
import { isFromNode, NodeRefusal } from './errors.ts'
import type { HttpAnswer } from './http.ts'
import { nodeInfo } from './node-calls.ts'
import { judgeWork, WrongAnswer } from './node-info.ts'
import { type CallOptions, misbehaved } from './requests.ts'

/** The end of the year 9999: a node's clock beyond it tells nothing. */
const MAX_TIMESTAMP_SECONDS = 253_402_300_799

/** Work, and how far the node's clock was ahead of ours when it answered: at least `clockAheadMs` (null: not told). */
export interface WorkAnswer {
  readonly work: Work
  readonly clockAheadMs: number | null
}

/** Work that fits the graphs of the node. */
export async function work(
  context: Context,
  account: MinerAccount,
  suggestedChain: number | undefined,
  call: CallOptions,
): Promise<WorkAnswer> {
  const { work: operation } = operations
  const query = { chain: suggestedChain }
  const answer = await context.requests.send(operation, {
    ...callOf(call),
    query,
    body: bodyFor(account),
    accept: BINARY,
  })
  try {
    const work = decodeWorkResponse(answer.body)
    judgeWork(work.fields, context.graphHistory)
    return { work, clockAheadMs: clockAhead(answer) }
  } catch (error) {
    if (error instanceof FormatError) throw misbehaved(operation, answer, describeError(error), { cause: error })
    if (!(error instanceof WrongAnswer)) throw error
    // The next answer may be right: from a node behind the same address, or from one that is on its way up.
    const hint = 'a miner that started before the network changed its graph needs to be started anew'
    throw misbehaved(operation, answer, `work of ${error.message}`, { retryable: true, hint })
  }
}

function bodyFor({ account, predicate, publicKeys }: MinerAccount) {
  return { account, predicate, 'public-keys': publicKeys }
}

function clockAhead({ headers, receivedAtMs }: HttpAnswer): number | null {
  const text = headers['x-server-timestamp'] ?? ''
  const timestamp = /^\d{1,12}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  return timestamp <= MAX_TIMESTAMP_SECONDS ? timestamp * 1000 - receivedAtMs : null
}

/** Hands in solved work. Throws NodeMisbehaved, retryable, for an answer that something else gave in the node's place. */
export async function solved(context: Context, work: Uint8Array, call: CallOptions): Promise<void> {
  const { solved: operation } = operations
  const answer = await context.requests.send(operation, { ...callOf(call), body: work })
  if (isFromNode(answer.headers)) return
  throw misbehaved(operation, answer, 'no version header of a node', { retryable: true })
}

/**
 * Whether mining is switched off in a node that is otherwise well, told from an outage: in this order, /health-check
 * and /info are answered by a node, of the same network, and the request for work with that node's own 404.
 */
export async function isMiningDisabled(context: Context, account: MinerAccount, call: CallOptions): Promise<boolean> {
  try {
    const health = await context.requests.send(operations.healthCheck, callOf(call))
    const { info, answer } = await nodeInfo(context.requests, callOf(call))
    const isNode = isFromNode(health.headers) && isFromNode(answer.headers)
    if (!isNode || info.nodeVersion !== context.info.nodeVersion) return false
    await work(context, account, undefined, call)
    return false
  } catch (error) {
    if (error instanceof NodeRefusal && error.operation === operations.work.id) {
      return error.status === 404 && error.isNodesOwn
    }
    // Everything else may be an outage. A signal's reason, and what the caller got wrong, are told as they are.
    if (error instanceof NewcutError && error.code.startsWith('NODE_')) return false
    throw error
  }
}
