/** Typed client of a node's HTTP interface: the part that mining needs. */
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { encodeBase64Url } from '../core/bytes.ts'
import type { Clock } from '../core/clock.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import { decodeHeader, type Header } from '../core/header.ts'
import type { ProductWord } from '../core/header-json.ts'
import { parseJson } from '../core/json.ts'
import type { MinerAccount } from '../core/payload.ts'
import { minerDataJson } from '../core/payload.ts'
import { chainBytes, decodeWorkResponse, type Work } from '../core/work.ts'
import { CutHashes, NodeInfo } from '../schema/bodies.ts'
import { type EventStream, openEventStream } from './event-stream.ts'
import { type HttpAnswer, type HttpRequest, NodeHttp, type NodeHttpOptions } from './http.ts'

const EXCERPT_CHARACTERS = 200
const BINARY = 'application/octet-stream'

/** The node answered with an error status. */
export class NodeRefusal extends NewcutError {
  readonly status: number
  readonly url: string
  /** The beginning of the answer's body. */
  readonly excerpt: string

  constructor(answer: HttpAnswer, hint?: string) {
    const excerpt = excerptOf(answer.body)
    super('NODE_REFUSED', `${answer.url} answered ${answer.status}${excerpt === '' ? '' : `: ${excerpt}`}`, { hint })
    this.status = answer.status
    this.url = answer.url
    this.excerpt = excerpt
  }
}

/** Work, and how far the node's clock was ahead of ours when it answered: at least `clockAheadMs` (null: not told). */
export interface WorkAnswer {
  readonly work: Work
  readonly clockAheadMs: number | null
}

export interface UpdateHandlers {
  /** The work of the chain is over, or possible again. */
  readonly onNewCut: () => void
  /** The stream stands; what happened before was missed. */
  readonly onOpen: () => void
  readonly onError: (error: NewcutError, retryInMs: number) => void
  /** Longest silence before the stream is opened anew; 0: none. */
  readonly stallMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

export class NodeClient {
  readonly http: NodeHttp
  readonly info: NodeInfo
  readonly product: ProductWord
  readonly #prefix: string

  private constructor(http: NodeHttp, info: NodeInfo, product: ProductWord) {
    this.http = http
    this.info = info
    this.product = product
    this.#prefix = `/${product}/0.0/${encodeURIComponent(info.nodeVersion)}`
  }

  /**
   * Asks a node what it is. Throws NewcutError NODE_UNREACHABLE or NODE_NOT_RECOGNISED, or the reason of `signal` when
   * that aborts before there is an answer; later it has no effect.
   */
  static async connect(options: NodeHttpOptions, signal?: AbortSignal): Promise<NodeClient> {
    const http = new NodeHttp(options)
    try {
      const answer = await http.request({ path: '/info', accept: 'application/json', ...(signal && { signal }) })
      if (answer.status !== 200) throw notRecognised(answer.url, `status ${answer.status}`)
      const product: ProductWord = answer.headers['x-ledger-node-version'] === undefined ? 'chainweb' : 'ledger'
      return new NodeClient(http, parseBody(NodeInfo, answer, notRecognised), product)
    } catch (error) {
      await http.close()
      throw error
    }
  }

  /** Asks for work, for a chain if one is suggested. Throws NodeRefusal, NewcutError. */
  async work(account: MinerAccount, suggestedChain?: number): Promise<WorkAnswer> {
    const answer = await this.#request({
      path: '/mining/work',
      query: { chain: suggestedChain },
      body: minerDataJson(account),
      contentType: 'application/json',
      accept: BINARY,
    })
    const timestamp = Number(answer.headers['x-server-timestamp'] ?? 'none')
    const clockAheadMs = Number.isSafeInteger(timestamp) ? timestamp * 1000 - answer.receivedAtMs : null
    try {
      return { work: decodeWorkResponse(answer.body), clockAheadMs }
    } catch (error) {
      throw misbehaved(answer.url, describeError(error))
    }
  }

  /** Hands in solved work bytes. Success says that the node took them, not that they became a block. */
  async solved(work: Uint8Array): Promise<void> {
    await this.#request({ method: 'POST', path: '/mining/solved', body: work, contentType: BINARY })
  }

  /** Follows the work updates of a chain until it is closed; reopens the stream by itself. */
  updates(chain: number, handlers: UpdateHandlers): EventStream {
    return openEventStream({
      http: this.http,
      path: `${this.#prefix}/mining/updates`,
      body: chainBytes(chain),
      // `Refreshed Block` (same parent, other transactions) leaves work valid, but shows that the stream lives.
      events: ['New Cut', 'Refreshed Block'],
      onEvent: (name) => {
        if (name === 'New Cut') handlers.onNewCut()
      },
      onOpen: handlers.onOpen,
      onError: handlers.onError,
      stallMs: handlers.stallMs,
      clock: handlers.clock,
      signal: handlers.signal,
    })
  }

  /** The header with this hash, or null when the chain has none. */
  async header(chain: number, hash: Uint8Array): Promise<Header | null> {
    try {
      const path = `/chain/${chain}/header/${encodeBase64Url(hash)}`
      const answer = await this.#request({ path, accept: BINARY })
      return decodeHeader(answer.body)
    } catch (error) {
      // A missing route answers 404 as well, but without naming the key.
      if (error instanceof NodeRefusal && error.status === 404 && error.excerpt.includes('key')) return null
      throw error
    }
  }

  /** The node's current cut. */
  async cut(): Promise<CutHashes> {
    return parseBody(CutHashes, await this.#request({ path: '/cut', accept: 'application/json' }), misbehaved)
  }

  close(): Promise<void> {
    return this.http.close()
  }

  async #request(request: HttpRequest): Promise<HttpAnswer> {
    const answer = await this.http.request({ ...request, path: this.#prefix + request.path })
    if (answer.status < 200 || answer.status > 299) throw new NodeRefusal(answer)
    return answer
  }
}

function excerptOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 4 * EXCERPT_CHARACTERS))
  return text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT_CHARACTERS)
}

function parseBody<T extends TSchema>(
  schema: T,
  answer: HttpAnswer,
  failure: (url: string, what: string) => NewcutError,
): Static<T> {
  let json: unknown
  try {
    json = parseJson(new TextDecoder().decode(answer.body))
  } catch (error) {
    throw failure(answer.url, `a body that is no JSON (${describeError(error)})`)
  }
  if (Value.Check(schema, json)) return json
  const [first] = Value.Errors(schema, json)
  throw failure(answer.url, `a body in which ${first?.instancePath || 'the whole'} ${first?.message ?? 'is wrong'}`)
}

function misbehaved(url: string, what: string): NewcutError {
  return new NewcutError('NODE_MISBEHAVED', `${url} answered with ${what}`)
}

function notRecognised(url: string, what: string): NewcutError {
  return new NewcutError('NODE_NOT_RECOGNISED', `${url} answered with ${what}: that is no service API of a node`, {
    hint: 'give the root address of the service API, usually http://HOST:1848',
  })
}
