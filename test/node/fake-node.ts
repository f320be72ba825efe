/** A real node:http server with scripted answers, for endpoints that differ between nodes and for wrong answers. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { NodeClient } from '../../src/client/node/public.ts'
import type { NodeClientOptions } from '../../src/client/node/verify-network.ts'

export const JSON_TYPE = 'application/json;charset=utf-8'
export const OBJECT_TYPE = 'application/json;blockheader-encoding=object'
export const TEXT = 'text/plain;charset=utf-8'
export const BINARY = 'application/octet-stream'
export const PREFIX = '/chainweb/0.0/development'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

export interface Reply {
  readonly status?: number
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /**
   * Whether the answer imitates a proxy in front of the node: it lacks the headers that a node adds to every answer.
   */
  readonly isProxy?: boolean
}

/** Headers that a node puts on every answer (PROTOCOL.md E.0). */
const nodeHeaders = { 'x-chainweb-node-version': '2.30' }

/** @returns a reply, or undefined if it writes the response itself */
export type Answer = (seen: ReceivedRequest, response: http.ServerResponse) => Reply | undefined

export const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': JSON_TYPE },
  body: typeof value === 'string' ? value : JSON.stringify(value),
})
export const text = (body: string, status = 200): Reply => ({ status, headers: { 'content-type': TEXT }, body })

/** /info of a network of two chains. */
export const pairInfo = {
  nodeVersion: 'development',
  nodeApiVersion: '0.0',
  nodeChains: ['0', '1'],
  nodeNumberOfChains: 2,
  nodeGraphHistory: [
    [
      0,
      [
        [0, [1]],
        [1, [0]],
      ],
    ],
  ],
  nodeBlockDelay: 30_000_000,
}

export class FakeNode {
  readonly url: string
  /** All requests except those for /info. */
  readonly requests: ReceivedRequest[] = []
  readonly #answers = new Map<string, Answer>()
  #otherwise: Answer = () => ({ status: 404 })

  private constructor(url: string) {
    this.url = url
  }

  static async start(info: unknown = pairInfo): Promise<FakeNode> {
    const server = http.createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      node.#answer(request, response, Buffer.concat(chunks))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const node = new FakeNode(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    return node.on('GET', '/info', () => json(info))
  }

  /** Sets the answer for a path. A path without one gets status 404 without a body. */
  on(method: string, path: string, answer: Answer): this {
    this.#answers.set(`${method} ${path}`, answer)
    return this
  }

  /** Sets the answer for all other paths. */
  setDefaultAnswer(answer: Answer): void {
    this.#otherwise = answer
  }

  /** As `on`, for a path below the network path. */
  onNetwork(method: string, path: string, answer: Answer): this {
    return this.on(method, PREFIX + path, answer)
  }

  async connect(options: Omit<NodeClientOptions, 'url'> = {}): Promise<NodeClient> {
    const client = await NodeClient.connect({ url: this.url, timeoutMs: 0, ...options })
    onTestFinished(() => client.close())
    return client
  }

  get last(): ReceivedRequest {
    const last = this.requests.at(-1)
    if (last === undefined) throw new Error('the node received no request')
    return last
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse, body: Buffer): void {
    const url = new URL(request.url ?? '', this.url)
    const seen: ReceivedRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body,
    }
    if (url.pathname !== '/info') this.requests.push(seen)
    const answer = this.#answers.get(`${seen.method} ${seen.path}`) ?? this.#otherwise
    const reply = answer(seen, response)
    if (reply !== undefined) {
      const headers = { ...(reply.isProxy ? {} : nodeHeaders), ...reply.headers }
      response.writeHead(reply.status ?? 200, headers).end(reply.body)
    }
  }
}

/** A node and a client of it, for one test. */
export async function startFakeNode(info: unknown = pairInfo): Promise<{ node: FakeNode; client: NodeClient }> {
  const node = await FakeNode.start(info)
  return { node, client: await node.connect() }
}

/** The error that rejects a promise or ends an iteration. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error('it should have failed')
}
