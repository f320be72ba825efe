/** Calls about the node as a whole, its backups, and its mempools. */
import type { ProductWord } from '#ground/chain/header-json.ts'
import type { BackupStatus, Command, NodeInfo, PendingTransactions } from '#ground/schema/bodies.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import { type ClientContext, callOf, chainText, type Hash, textOfHash } from './chain-calls.ts'
import { NodeMisbehaved, NodeRefusal, NotFound, NotRecognised } from './errors.ts'
import type { HttpAnswer } from './http.ts'
import { type CheckedNodeInfo, dropUnusableValues, judgeInfo, WrongAnswer } from './node-info.ts'
import { type CallOptions, misbehaviourOf, type Requests, readJson } from './requests.ts'

/** Fetches and judges the current description of the node. @throws NodeMisbehaved, and the errors of Requests.send */
export async function fetchJudgedInfo(
  requests: Requests,
  call: CallOptions,
): Promise<CheckedNodeInfo & { readonly answer: HttpAnswer }> {
  const { body, answer } = await fetchInfo(requests, call)
  return { ...judgeInfoAnswer(body, answer), answer }
}

/** Fetches /info. The body lacks the values that dropUnusableValues removes, and is not judged yet. */
export async function fetchInfo(
  requests: Requests,
  call: CallOptions,
): Promise<{ readonly body: NodeInfo; readonly answer: HttpAnswer }> {
  const answer = await requests.send(operations.nodeInfo, { ...call, accept: 'application/json' })
  return { body: readJson(operations.nodeInfo, answer, JSON_TYPE, dropUnusableValues) as NodeInfo, answer }
}

/** Judges the body of a response to /info. @throws NodeMisbehaved */
export function judgeInfoAnswer(body: NodeInfo, answer: HttpAnswer): CheckedNodeInfo {
  try {
    return judgeInfo(body)
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error
    throw misbehaviourOf(operations.nodeInfo, answer, `an impossible description of itself: ${error.message}`)
  }
}

/**
 * Fetches and judges the description of a node, and its word in paths.
 * @throws NotRecognised if the server is not a node
 */
export async function recogniseNode(
  requests: Requests,
  call: CallOptions,
): Promise<{ readonly judged: CheckedNodeInfo; readonly product: ProductWord }> {
  const { body, answer } = await expectNode(fetchInfo(requests, call))
  const product = answer.headers['x-ledger-node-version'] === undefined ? 'chainweb' : 'ledger'
  return { judged: judgeInfoAnswer(body, answer), product }
}

async function expectNode<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const isOther = error instanceof NodeMisbehaved || (error instanceof NodeRefusal && !error.retryable)
    throw isOther ? new NotRecognised(error) : error
  }
}

/** Starts a backup job. @returns its id. @throws NodeRefusal 404 if backups are off */
export async function startBackup(
  { requests, url }: ClientContext,
  backupPact: boolean,
  call: CallOptions,
): Promise<string> {
  const { makeBackup: operation } = operations
  const request = { ...callOf(call), query: { backupPact: backupPact ? '' : undefined } }
  let id: string
  try {
    id = await requests.text(operation, request)
  } catch (error) {
    // Live nodes serve it below the path of the network.
    if (!isMissing(error)) throw error
    id = await requests.text(operation, request, 'network').catch((second: unknown) => {
      if (!isMissing(second)) throw second
      throw new NodeRefusal(second, 'backups are off: live nodes want --enable-backup-api and --backup-directory')
    })
  }
  if (/^[\w-]{1,128}$/.test(id)) return id
  const message = `${url} answered with a malformed backup id: ${JSON.stringify(id.slice(0, 80))}`
  throw new NodeMisbehaved(message, { url, excerpt: id.slice(0, 200), operation: operation.id })
}

/** @returns the status of a backup job. @throws NotFound */
export async function checkBackup({ requests }: ClientContext, id: string, call: CallOptions): Promise<BackupStatus> {
  const { checkBackup: operation } = operations
  const request = { ...callOf(call), params: { backupId: id } }
  const refusals: NodeRefusal[] = []
  for (const scope of ['root', 'network'] as const) {
    try {
      return (await requests.text(operation, request, scope)) as BackupStatus
    } catch (error) {
      if (!isMissing(error)) throw error
      refusals.push(error)
    }
  }
  // The response with a text is from the path where the endpoint exists.
  const refusal = refusals.find(({ excerpt }) => excerpt !== '') ?? refusals[0]
  throw new NotFound(refusal, id, refusal.excerpt || 'no such backup, or backups are off')
}

function isMissing(error: unknown): error is NodeRefusal {
  return error instanceof NodeRefusal && error.status === 404
}

/** Start of a query for pending transactions: the `highwaterMark` of the previous one. */
export type HighwaterMark = PendingTransactions['highwaterMark']

/** Fetches hashes of pending transactions. */
export async function fetchPending(
  { requests }: ClientContext,
  chain: number,
  { since, ...call }: CallOptions & { readonly since?: HighwaterMark },
): Promise<PendingTransactions> {
  const { mempoolPending: operation } = operations
  const params = { chain: chainText(operation, chain) }
  // Both or none: a node ignores one without the other.
  const query = since === undefined ? {} : { nonce: String(since[0]), since: String(since[1]) }
  return (await requests.json(operation, { ...callOf(call), params, query })).body
}

/** Fetches one entry for each key. @throws NodeMisbehaved if the node returns fewer or more entries */
export async function fetchMempoolEntries<Id extends 'mempoolMember' | 'mempoolLookup'>(
  { requests }: ClientContext,
  id: Id,
  { chain, keys, call }: { readonly chain: number; readonly keys: readonly Hash[]; readonly call: CallOptions },
) {
  const operation = operations[id]
  const params = { chain: chainText(operation, chain) }
  const { body, answer } = await requests.json(operation, { ...callOf(call), params, body: keys.map(textOfHash) })
  const { length } = body as readonly unknown[]
  if (length === keys.length) return body
  const message = `${answer.url} answered with ${length} entries for ${keys.length} request keys`
  throw new NodeMisbehaved(message, { url: answer.url, status: answer.status, operation: id })
}

/** Adds transactions. */
export async function insertIntoMempool(
  { requests }: ClientContext,
  { chain, commands, call }: { chain: number; commands: readonly (string | Command)[]; call: CallOptions },
): Promise<void> {
  const { mempoolInsert: operation } = operations
  const body = commands.map((command) => (typeof command === 'string' ? command : JSON.stringify(command)))
  await requests.send(operation, { ...callOf(call), params: { chain: chainText(operation, chain) }, body })
}
