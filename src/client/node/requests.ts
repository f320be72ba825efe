/**
 * Calls of operations. Path, query, media types and bodies come from the table of operations. Every response is limited
 * in size, judged by status and type, and checked against its schema before the caller gets it.
 */
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { withoutSecrets } from '#ground/base/host.ts'
import { parseExactJson, parseJson, parsePlainJson, stringifyJson } from '#ground/base/json.ts'
import { BINARY, JSON_TYPE, type Operation, TEXT } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { Static, TSchema } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { nodeErrors } from './error-rows.ts'
import {
  type AnswerDetails,
  BranchBoundsExceeded,
  excerptOf,
  isFromNode,
  MAX_REFUSAL_CHARACTERS,
  MinersPoolFull,
  NodeMisbehaved,
  NodeRefusal,
  NotAcceptable,
  NotFound,
  retryAfterMsOf,
  serverMsOf,
  UnauthorizedMiner,
} from './errors.ts'
import type { HttpAnswer, NodeHttp } from './http.ts'
import { UnreachableError } from './unreachable.ts'

/** Options of every call. */
export interface CallOptions {
  /** When it aborts, the call ends at once and rejects with the reason of the signal as it is. */
  readonly signal?: AbortSignal
  /** From sending a request to the last byte of its response; default: that of the client (10 s). 0 sets no limit. */
  readonly timeoutMs?: number
}

/** A call in terms of the table; missing parameters are left out. */
export interface OperationCall extends CallOptions {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly accept?: string
}

/** JSON body of a successful response to an operation, by media type. */
export type AnswerBody<O extends Operation, Type extends string = typeof JSON_TYPE> = O extends {
  readonly responses: { readonly 200: { readonly content: Readonly<Record<Type, infer Schema extends TSchema>> } }
}
  ? Static<Schema>
  : never

const MIB = 1024 * 1024
/**
 * Maximum bytes of a response by operation. They bound the memory that a node can take. A block can have megabytes, and
 * a page has up to 360 blocks.
 */
const MAX_BODY_BYTES: Partial<Record<string, number>> = {
  blocks: 64 * MIB,
  blockBranch: 64 * MIB,
  payload: 16 * MIB,
  payloadOutputs: 16 * MIB,
  payloads: 64 * MIB,
  payloadsOutputs: 64 * MIB,
  mempoolPending: 16 * MIB,
  mempoolLookup: 16 * MIB,
  poll: 64 * MIB,
  local: 16 * MIB,
  listen: 16 * MIB,
  replay: 64 * MIB,
  trace: 64 * MIB,
}
const MAX_OTHER_BODY_BYTES = 4 * MIB
/** Maximum for plain text: the health check, backup ids and states. */
const MAX_TEXT_BYTES = 64 * 1024

export class Requests {
  readonly #http: NodeHttp
  readonly #prefix: string

  /** @param prefix `/PRODUCT/0.0/NETWORK` */
  constructor(http: NodeHttp, prefix: string) {
    this.#http = http
    this.#prefix = prefix
  }

  /** Path of an operation; `scope` moves it to the root or below the prefix. */
  pathOf(operation: Operation, params: Readonly<Record<string, string>> = {}, scope = operation.scope): string {
    const path = operation.path.replace(/\{(\w+)\}/g, (_match, name: string) => {
      if (params[name] === undefined) throw new RangeError(`${operation.id}: no ${name} for its path`)
      return encodeURIComponent(params[name])
    })
    return scope === 'root' ? path : this.#prefix + path
  }

  /**
   * Sends a request.
   * @returns any 2xx response
   * @throws UnreachableError, NodeRefusal, NodeMisbehaved, and NewcutError BAD_OPTION for arguments outside the schema
   */
  async send(operation: Operation, call: OperationCall = {}, scope = operation.scope): Promise<HttpAnswer> {
    const { id } = operation
    checkArgument(operation, 'parameter', operation.params, call.params ?? {})
    checkArgument(operation, 'query', operation.query, withoutUndefined(call.query))
    const isText = operation.responses[200]?.content?.[TEXT] !== undefined
    try {
      const answer = await this.#http.request({
        method: operation.method,
        path: this.pathOf(operation, call.params, scope),
        ...(call.query && { query: call.query }),
        ...bodyOf(operation, call.body),
        ...(call.accept !== undefined && { accept: call.accept }),
        ...(call.signal && { signal: call.signal }),
        ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
        maxBodyBytes: isText ? MAX_TEXT_BYTES : (MAX_BODY_BYTES[id] ?? MAX_OTHER_BODY_BYTES),
      })
      if (answer.status < 200 || answer.status > 299) throw refusalOf(operation, answer)
      return answer
    } catch (error) {
      if (error instanceof UnreachableError && error.reason !== 'closed') throw error.forOperation(id)
      if (!(error instanceof NewcutError) || error.code !== 'NODE_MISBEHAVED') throw error
      const url = this.#http.baseUrl + this.pathOf(operation, call.params, scope)
      throw new NodeMisbehaved(error.message, { url, operation: id, hint: error.hint, cause: error })
    }
  }

  /**
   * @returns the body of a 2xx response, checked against the schema of the media type `type`
   * @throws like send
   */
  async json<const O extends Operation, Type extends string = typeof JSON_TYPE>(
    operation: O,
    call: OperationCall = {},
    type: Type = JSON_TYPE as Type,
  ): Promise<{ body: AnswerBody<O, Type>; answer: HttpAnswer }> {
    const answer = await this.send(operation, { ...call, accept: type.replace(/;charset=.*/, '') })
    return { body: readJson(operation, answer, type) as AnswerBody<O, Type>, answer }
  }

  /**
   * @returns the body of a 2xx response as one line of text, checked against its schema
   * @throws like send
   */
  async text(operation: Operation, call: OperationCall = {}, scope = operation.scope): Promise<string> {
    const answer = await this.send(operation, call, scope)
    const text = decodeText(operation, answer).trim()
    checkAnswer(operation, answer, TEXT, text)
    return text
  }
}

/**
 * Parses and checks a JSON response; the decimals of command results stay exact.
 * @param usable removes parts of the JSON that must not be checked
 * @throws NodeMisbehaved
 */
export function readJson(
  operation: Operation,
  answer: HttpAnswer,
  type: string,
  usable: (json: unknown) => unknown = (json) => json,
): unknown {
  if (!hasMediaType(answer, JSON_TYPE)) {
    throw misbehaviourOf(operation, answer, `a body of type ${answer.headers['content-type']}, not JSON`)
  }
  let json: unknown
  try {
    json = usable((operation.group === 'command' ? parseExactJson : parseJson)(decodeText(operation, answer)))
  } catch (error) {
    if (error instanceof NewcutError) throw error
    throw misbehaviourOf(operation, answer, `a body that is not JSON (${describeError(error)})`)
  }
  checkAnswer(operation, answer, type, json)
  return json
}

/** Whether a response has this media type, whatever its parameters. A response without a type matches any. */
export function hasMediaType({ headers }: Pick<HttpAnswer, 'headers'>, type: string): boolean {
  const actual = headers['content-type']
  const bare = (text: string) => text.split(';')[0].trim().toLowerCase()
  return actual === undefined || bare(actual) === bare(type)
}

/** @returns the error of a 2xx response with a wrong content: `URL answered with WHAT` */
export function misbehaviourOf(
  operation: Operation,
  answer: HttpAnswer,
  what: string,
  more: { readonly cause?: unknown; readonly retryable?: boolean; readonly hint?: string } = {},
): NodeMisbehaved {
  const { url, status, headers, body } = answer
  const details = {
    url,
    status,
    excerpt: excerptOf(body),
    operation: operation.id,
    isFromNode: isFromNode(headers),
    ...more,
  }
  return new NodeMisbehaved(`${url} answered with ${what}`, details)
}

function decodeText(operation: Operation, answer: HttpAnswer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(answer.body)
  } catch {
    throw misbehaviourOf(operation, answer, 'a body that is not UTF-8 text')
  }
}

function checkAnswer(operation: Operation, answer: HttpAnswer, type: string, value: unknown): void {
  const schema = operation.responses[200]?.content?.[type]
  if (schema === undefined) return
  const validator = validatorOf(schema)
  if (validator.accepts(value)) return
  throw misbehaviourOf(operation, answer, `a body in which ${validator.complaint(value)}`)
}

/**
 * Checks arguments by the schema of the operation: an error here costs no request.
 * @throws NewcutError BAD_OPTION
 */
function checkArgument(operation: Operation, part: string, schema: TSchema, value: unknown): void {
  const validator = validatorOf(schema)
  if (validator.accepts(value)) return
  throw operatingError(nodeErrors.badArgument, { operation: operation.id, part, complaint: validator.complaint(value) })
}

function withoutUndefined(query: OperationCall['query'] = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

function bodyOf(operation: Operation, value: unknown): { body?: Uint8Array | string; contentType?: string } {
  const { body } = operation
  if (body === undefined) return {}
  if (body.type === BINARY) return { body: value as Uint8Array, contentType: BINARY }
  checkArgument(operation, 'body', body.schema, value)
  return { body: stringifyJson(value), contentType: body.type }
}

function refusalOf(operation: Operation, answer: HttpAnswer): NodeRefusal {
  const { url, status, headers, body } = answer
  const excerpt = excerptOf(body, MAX_REFUSAL_CHARACTERS)
  const { location } = headers
  const from = {
    isFromNode: isFromNode(headers),
    serverMs: serverMsOf(headers),
    retryAfterMs: retryAfterMsOf(headers),
    location,
  }
  const details: AnswerDetails = { url, status, excerpt, operation: operation.id, ...from }
  if (MinersPoolFull.is(details)) return new MinersPoolFull(details)
  if (UnauthorizedMiner.is(details)) return new UnauthorizedMiner(details)
  if (status === 406) return new NotAcceptable(details)
  const isBranch = operation.path.endsWith('/branch')
  if (status === 400 && isBranch && /bound|^$/i.test(details.excerpt)) return new BranchBoundsExceeded(details)
  const named = status === 404 ? notFoundBody(body) : null
  if (named !== null) return new NotFound(details, named.key, named.reason)
  return new NodeRefusal(details, hintFor(operation, answer))
}

/** Key and reason in the body of a 404. @returns null if it has none: the endpoint or the chain is missing */
function notFoundBody(body: Uint8Array): { key: string | null; reason: string } | null {
  const { 404: response } = operations.header.responses
  let json: unknown
  try {
    json = parsePlainJson(new TextDecoder().decode(body))
  } catch {
    // Live nodes send an empty body, or text, if there is no such endpoint.
    return null
  }
  if (!validatorOf(response.content[JSON_TYPE]).accepts(json)) return null
  const { key, reason } = json as { key?: string; reason: string }
  return { key: key ?? null, reason }
}

/** Operations outside of the mempool that live nodes serve on their P2P port only. */
const P2P_OPERATIONS: readonly string[] = ['config', 'putCut', 'putCutPeer', 'cutPeers']

function hintFor(operation: Operation, { status, headers, body }: HttpAnswer): string | undefined {
  if (status >= 300 && status < 400) {
    return `redirections (here to ${withoutSecrets(headers.location ?? 'nowhere')}) are not followed`
  }
  // A text says what is wrong; a 404 without one means that the path is not served.
  if (status !== 404 || body.length > 0) return undefined
  if (operation.group === 'mempool' || P2P_OPERATIONS.includes(operation.id)) {
    return 'live nodes serve it on their P2P port (1789, https), not on the service port'
  }
  return 'this node does not have the endpoint, or the network not the chain'
}
