/** A proxy in front of a real node that forwards every request, or lies as instructed. */
import { setMaxListeners } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export type Endpoint = 'info' | 'health' | 'work' | 'solved' | 'updates' | 'cut' | 'chain' | 'other'

export interface Answer {
  readonly status: number
  readonly headers: http.OutgoingHttpHeaders
  readonly body: Buffer
}

/** One request to the proxy. */
export interface Exchange {
  readonly endpoint: Endpoint
  readonly method: string
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
  /** Number of this request at its endpoint since the lie began, starting at 1. */
  readonly number: number
  readonly response: http.ServerResponse
  /** Aborts when the lie ends or the connection of this request closes. */
  readonly over: AbortSignal
  /** Fetches the node's answer. Not for streams. */
  readonly forward: () => Promise<Answer>
  /** Adds what the lie did to this exchange to the history of the proxy. */
  readonly note: (text: string) => void
}

/** An answer to send; `done` if the responder has answered or never will; null to forward the request unchanged. */
export type ProxyReply = Answer | 'done' | null

/** Answers requests in place of the node. */
export type Responder = (exchange: Exchange) => ProxyReply | Promise<ProxyReply>

const PATTERNS: readonly (readonly [RegExp, Endpoint])[] = [
  [/^\/info$/, 'info'],
  [/^\/health-check$/, 'health'],
  [/\/mining\/work$/, 'work'],
  [/\/mining\/solved$/, 'solved'],
  [/\/mining\/updates$/, 'updates'],
  [/\/cut$/, 'cut'],
  [/\/chain\/\d+\//, 'chain'],
]

/**
 * Delay of honest work in ms, as on live networks. With instant work the miner would keep the machine busy with blocks.
 */
const WORK_MS = 100

/** Exchanges that the history keeps. */
const MAX_HISTORY = 400

/** Headers of a single connection, which a proxy does not forward. */
const HOP_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host']

export class LyingProxy {
  readonly url: string
  /** Requests by endpoint since the lie began. */
  asked = new Map<Endpoint, number>()
  /** The highest number of open connections since the lie began. */
  mostSockets = 0
  /** Called with every request and its body. */
  onRequest: (endpoint: Endpoint, body: Buffer) => void = () => undefined
  /** The newest exchanges, and the begin and end of each lie: a line each, for the report of a failure. */
  readonly history: string[] = []
  readonly #startMs = performance.now()
  readonly #server: http.Server
  readonly #node: URL
  readonly #agent = new http.Agent({ keepAlive: true })
  readonly #sockets = new Set<Socket>()
  readonly #streams = new Set<http.ServerResponse>()
  #lie: { readonly respond: Responder; readonly over: AbortController } | null = null

  private constructor(server: http.Server, node: string) {
    this.#server = server
    this.#node = new URL(node)
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      this.mostSockets = Math.max(this.mostSockets, this.#sockets.size)
      socket.on('error', () => undefined)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    // The miner may disconnect at any point; then nobody needs an answer.
    server.on('request', (request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  static async start(node: string): Promise<LyingProxy> {
    const server = http.createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new LyingProxy(server, node)
  }

  get sockets(): number {
    return this.#sockets.size
  }

  get isUp(): boolean {
    return this.#server.listening
  }

  countOf(endpoints: readonly Endpoint[] | 'all'): number {
    let sum = 0
    for (const [endpoint, count] of this.asked) if (endpoints === 'all' || endpoints.includes(endpoint)) sum += count
    return sum
  }

  /** Starts lying. Update streams end, so that clients reopen them. */
  begin(respond: Responder, title = ''): void {
    this.#record(`the lie begins: ${title}`)
    this.asked = new Map()
    this.mostSockets = this.#sockets.size
    const over = new AbortController()
    // Every request that meets the lie listens to this signal.
    setMaxListeners(0, over.signal)
    this.#lie = { respond, over }
    this.dropStreams()
  }

  /** Ends all honest update streams. */
  dropStreams(): void {
    for (const response of this.#streams) response.destroy()
  }

  /** Stops lying, and drops everything that the lie holds open. */
  end(): void {
    if (this.#lie !== null) this.#record('the lie ends')
    this.#lie?.over.abort()
    this.#lie = null
  }

  #record(text: string): void {
    this.history.push(`${((performance.now() - this.#startMs) / 1000).toFixed(3)} s ${text}`)
    if (this.history.length > MAX_HISTORY) this.history.shift()
  }

  /** Refuses connections until `up` is called. */
  async down(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async up(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(Number(new URL(this.url).port), '127.0.0.1', resolve))
  }

  async close(): Promise<void> {
    this.end()
    if (this.isUp) await this.down()
    this.#agent.destroy()
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const path = request.url ?? ''
    const { pathname } = new URL(path, this.url)
    const endpoint = PATTERNS.find(([pattern]) => pattern.test(pathname))?.[1] ?? 'other'
    const number = (this.asked.get(endpoint) ?? 0) + 1
    this.asked.set(endpoint, number)
    this.onRequest(endpoint, body)
    const { method = 'GET', headers } = request
    const asked = { endpoint, method, path, headers, body }
    const notes: string[] = []
    const note = (text: string) => void notes.push(text)
    const reply = this.#lie === null ? null : await this.#lieTo({ ...asked, number, response, note }, this.#lie)
    const answered =
      reply === null ? 'honest' : reply === 'done' ? 'done' : `${reply.status}, ${reply.body.length} bytes`
    this.#record([`${method} ${endpoint} ${number}: ${answered}`, ...notes].join(', '))
    if (reply === null) await this.#pass(asked, response)
    else if (reply !== 'done') send(response, reply)
  }

  async #lieTo(
    asked: Omit<Exchange, 'over' | 'forward'>,
    { respond, over }: { readonly respond: Responder; readonly over: AbortController },
  ): Promise<ProxyReply> {
    const { response } = asked
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const reply = await respond({
      ...asked,
      over: AbortSignal.any([over.signal, gone.signal]),
      forward: () => this.#forward(asked),
    })
    if (reply !== 'done') return reply
    // Connections that the responder left open close with the lie.
    const drop = () => response.socket?.destroy()
    if (over.signal.aborted) drop()
    else if (!response.writableEnded) over.signal.addEventListener('abort', drop, { once: true })
    return reply
  }

  async #pass(
    asked: Pick<Exchange, 'endpoint' | 'method' | 'path' | 'headers' | 'body'>,
    response: http.ServerResponse,
  ) {
    if (asked.endpoint === 'work') await delay(WORK_MS)
    if (asked.endpoint !== 'updates') return send(response, await this.#forward(asked))
    const answer = await this.#request(asked)
    this.#streams.add(response)
    response.once('close', () => {
      this.#streams.delete(response)
      answer.destroy()
    })
    answer.once('close', () => response.destroy())
    response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' })
    response.flushHeaders()
    answer.pipe(response)
  }

  async #forward(asked: Pick<Exchange, 'method' | 'path' | 'headers' | 'body'>): Promise<Answer> {
    const answer = await this.#request(asked)
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    return { status: answer.statusCode ?? 502, headers: withoutHops(answer.headers), body: Buffer.concat(chunks) }
  }

  #request({ method, path, headers, body }: Pick<Exchange, 'method' | 'path' | 'headers' | 'body'>) {
    return new Promise<http.IncomingMessage>((resolve, reject) => {
      const { hostname, port } = this.#node
      const sent = { ...withoutHops(headers), 'content-length': body.length }
      const request = http.request({ hostname, port, method, path, headers: sent, agent: this.#agent }, resolve)
      request.on('error', reject)
      request.end(body)
    })
  }
}

function withoutHops(headers: http.OutgoingHttpHeaders): http.OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.includes(name)))
}

/** Sends an answer with its content length, unless its headers set another one. */
export function send(response: http.ServerResponse, { status, headers, body }: Answer): void {
  const hasBody = status >= 200 && status !== 204 && status !== 304
  response.writeHead(status, hasBody ? { 'content-length': body.length, ...headers } : headers)
  response.end(hasBody ? body : undefined)
}
