/** Calls of a miner: work, solutions, and whether mining is disabled. */
import { describeError, FormatError, NewcutError } from '#ground/base/errors.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { decodeWorkResponse, type Work } from '#ground/chain/work.ts'
import { BINARY } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import { type ClientContext, callOf } from './chain-calls.ts'
import { isFromNode, NodeRefusal, serverMsOf } from './errors.ts'
import type { HttpAnswer } from './http.ts'
import { fetchJudgedInfo } from './node-calls.ts'
import { judgeWork, WrongAnswer } from './node-info.ts'
import { type CallOptions, misbehaviourOf } from './requests.ts'

/** Work, and the least time that the clock of the node was ahead of ours when it responded; null if it sent none. */
export interface WorkAnswer {
  readonly work: Work
  readonly clockAheadMs: number | null
}

/**
 * Fetches work that fits the graphs of the node.
 * @throws UnauthorizedMiner, MinersPoolFull, NodeRefusal 503 without work, a retryable NodeMisbehaved for other work
 */
export async function requestWork(
  context: ClientContext,
  account: MinerAccount,
  suggestedChain: number | undefined,
  call: CallOptions,
): Promise<WorkAnswer> {
  const { work: operation } = operations
  const query = { chain: suggestedChain }
  const answer = await context.requests.send(operation, {
    ...callOf(call),
    query,
    body: accountBody(account),
    accept: BINARY,
  })
  try {
    const work = decodeWorkResponse(answer.body)
    judgeWork(work.fields, context.graphHistory)
    return { work, clockAheadMs: clockAheadMsOf(answer) }
  } catch (error) {
    if (error instanceof FormatError) throw misbehaviourOf(operation, answer, describeError(error), { cause: error })
    if (!(error instanceof WrongAnswer)) throw error
    // The next response may be right: from another node at the same address, or from one that is still starting.
    const hint = 'a miner that started before the network changed its graph has to be restarted'
    throw misbehaviourOf(operation, answer, `work of ${error.message}`, { retryable: true, hint })
  }
}

function accountBody({ account, predicate, publicKeys }: MinerAccount) {
  return { account, predicate, 'public-keys': publicKeys }
}

function clockAheadMsOf({ headers, receivedAtMs }: HttpAnswer): number | null {
  const serverMs = serverMsOf(headers)
  return serverMs === null ? null : serverMs - receivedAtMs
}

/** Submits solved work. @throws a retryable NodeMisbehaved if something else responded in place of the node */
export async function submitWork(context: ClientContext, work: Uint8Array, call: CallOptions): Promise<void> {
  const { solved: operation } = operations
  const answer = await context.requests.send(operation, { ...callOf(call), body: work })
  if (isFromNode(answer.headers)) return
  throw misbehaviourOf(operation, answer, 'no version header of a node', { retryable: true })
}

/**
 * Whether mining is disabled on an otherwise healthy node, as opposed to an outage. In this order, a node of the same
 * network must respond to /health-check and /info, and to the request for work with its own 404.
 */
export async function isMiningDisabled(
  context: ClientContext,
  account: MinerAccount,
  call: CallOptions,
): Promise<boolean> {
  try {
    const health = await context.requests.send(operations.healthCheck, callOf(call))
    const { info, answer } = await fetchJudgedInfo(context.requests, callOf(call))
    const isNode = isFromNode(health.headers) && isFromNode(answer.headers)
    if (!isNode || info.nodeVersion !== context.info.nodeVersion) return false
    await requestWork(context, account, undefined, call)
    return false
  } catch (error) {
    if (error instanceof NodeRefusal && error.operation === operations.work.id) {
      return error.status === 404 && error.isNodesOwn
    }
    // Anything else may be an outage. The reason of a signal, and errors of the caller, pass as they are.
    if (error instanceof NewcutError && error.code.startsWith('NODE_')) return false
    throw error
  }
}
