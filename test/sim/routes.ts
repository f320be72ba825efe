/** The routes of the embedded node without fastify and sockets: requests and answers are values. */
import { EventEmitter } from 'node:events'
import type { App } from '../../src/devnet/http/app.ts'

export interface NodeRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface NodeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Receives a whole answer, or the head of a stream and then its events. */
export interface AnswerPort {
  answer(answer: NodeAnswer): void
  /** Begins a stream. */
  stream(answer: NodeAnswer, stream: StreamResponse): void
}

interface Route {
  readonly methods: readonly string[]
  readonly pattern: RegExp
  readonly parameters: number
  readonly onRequest: ((request: unknown, reply: Reply, done: () => void) => void) | undefined
  readonly handler: (request: unknown, reply: Reply) => unknown
}

/** A response that stays open. It has the parts of node:http's response that the embedded node uses. */
export class StreamResponse extends EventEmitter {
  readonly chunkedEncoding = true
  readonly writableLength = 0
  readonly socket = { setNoDelay: () => undefined, writable: true, write: (chunk: Buffer) => this.write(chunk) }
  destroyed = false
  writableEnded = false
  onChunk: (chunk: Buffer) => void = () => undefined
  onEnd: () => void = () => undefined
  readonly #onHead: (status: number, headers: Record<string, string>) => void
  readonly #headers: Record<string, string> = {}

  constructor(onHead: (status: number, headers: Record<string, string>) => void) {
    super()
    this.#onHead = onHead
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value
  }

  writeHead(status: number): void {
    this.#onHead(status, this.#headers)
  }

  flushHeaders(): void {
    // The head goes out at once.
  }

  /** Writes a chunk as it appears on the wire. */
  write(chunk: Buffer): boolean {
    this.onChunk(chunk)
    return true
  }

  end(): void {
    if (this.writableEnded) return
    this.writableEnded = true
    this.onEnd()
    this.destroy()
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

class Reply {
  statusCode = 200
  readonly raw: StreamResponse
  readonly #headers: Record<string, string>
  readonly #port: AnswerPort

  constructor(headers: Readonly<Record<string, string>>, port: AnswerPort) {
    this.#headers = { ...headers }
    this.#port = port
    this.raw = new StreamResponse((status, ownHeaders) => {
      port.stream({ status, headers: ownHeaders, body: Buffer.alloc(0) }, this.raw)
    })
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  type(type: string): this {
    return this.header('content-type', type)
  }

  header(name: string, value: string): this {
    this.#headers[name] = value
    return this
  }

  headers(headers: Readonly<Record<string, string>>): this {
    Object.assign(this.#headers, headers)
    return this
  }

  getHeaders(): Readonly<Record<string, string>> {
    return this.#headers
  }

  hasHeader(name: string): boolean {
    return this.#headers[name] !== undefined
  }

  removeHeader(name: string): this {
    delete this.#headers[name]
    return this
  }

  hijack(): this {
    return this
  }

  send(body: string | Buffer = ''): this {
    this.#port.answer({ status: this.statusCode, headers: this.#headers, body: Buffer.from(body as Buffer) })
    return this
  }
}

export class Routes {
  readonly #routes: Route[] = []
  /** Cache of routes without parameters, by method and path. */
  readonly #fixed = new Map<string, Route>()
  #missing: (request: unknown, reply: Reply) => unknown = () => undefined

  /** The app to which the embedded node's routers add routes. */
  get app(): App {
    const app = {
      route: ({ url, method, handler, onRequest }: Record<string, never>) => {
        const path = String(url).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        const pattern = new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`)
        const parameters = String(url).split(':').length - 1
        this.#routes.push({ methods: [method].flat(), pattern, parameters, onRequest, handler })
      },
      setNotFoundHandler: (handler: (request: unknown, reply: Reply) => unknown) => {
        this.#missing = handler
      },
    }
    return app as unknown as App
  }

  /** The matching route with the fewest parameters. */
  #routeOf(method: string, path: string): Route | undefined {
    const name = `${method} ${path}`
    const known = this.#fixed.get(name)
    if (known !== undefined) return known
    const [route] = this.#routes
      .filter((each) => each.methods.includes(method) && each.pattern.test(path))
      .sort((a, b) => a.parameters - b.parameters)
    // The number of paths with parameters is unbounded, so they are not cached.
    if (route?.parameters === 0) this.#fixed.set(name, route)
    return route
  }

  /** Answers a request. @param common headers of all answers */
  take({ method, url, headers, body }: NodeRequest, common: Readonly<Record<string, string>>, port: AnswerPort): void {
    const reply = new Reply(common, port)
    const [path, query = ''] = url.split('?', 2)
    const route = this.#routeOf(method, path)
    const request = {
      params: { ...route?.pattern.exec(path)?.groups },
      query: Object.fromEntries(new URLSearchParams(query)),
      socket: { remoteAddress: '127.0.0.1' },
      raw: { httpVersion: '1.1' },
      headers,
      body,
      url,
    }
    route?.onRequest?.(request, reply, () => undefined)
    const fail = (error: unknown) => void reply.code(500).send(String(error))
    try {
      const answered = (route?.handler ?? this.#missing)(request, reply)
      if (answered instanceof Promise) answered.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}
