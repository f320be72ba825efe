/**
 * Serves operations of the node interface. Checks that all endpoints share run in the order of live nodes: unknown
 * chain 404, method 405, Accept 406, media type 415, parameters and body 400 (PROTOCOL.md E.0).
 */

import type { FastifyReply, FastifyRequest, HTTPMethods, RouteShorthandOptions } from 'fastify'
import { parseJson } from '#ground/base/json.ts'
import { notFoundPage, wantsPage } from '#ground/base/not-found-page.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import {
  badRequest,
  EVENT_STREAM,
  type Operation,
  type OperationResponse,
  TEXT,
  TextBody,
  text,
} from '#ground/schema/operation.ts'
import type { Static, TObject, TSchema } from '#ground/schema/typebox.ts'
import { parameterValues, validatorOf } from '#ground/schema/validator.ts'
import { ALLOW_ORIGIN, type App, chooseMediaType, writeRefusal } from './app.ts'
import { type HttpRefusal, unknownChain } from './refusal.ts'

type BodyOf<O extends Operation> = O extends { readonly body: { readonly schema: infer S extends TSchema } }
  ? Static<S>
  : undefined

/** A request that passed all common checks. */
export interface RoutedCall<O extends Operation> {
  readonly params: Static<O['params']>
  readonly query: Static<O['query']>
  /** Parsed JSON, or the bytes (Uint8Array) of a binary body. */
  readonly body: BodyOf<O> extends string ? Uint8Array : BodyOf<O>
  /** Chain of the path; 0 if the path has none. */
  readonly chain: number
  /** Media type of the response. */
  readonly type: string
  readonly request: FastifyRequest
}

export type Handler<O extends Operation> = (
  call: RoutedCall<O>,
  reply: FastifyReply,
) => FastifyReply | Promise<FastifyReply>

interface RouterOptions {
  readonly app: App
  /** `/PRODUCT/0.0/NETWORK` */
  readonly prefix: string
  /** Number of chains of the network. */
  readonly chains: number
  /** Called before all other checks. Returns true if it has responded. */
  readonly intercept?: (operation: Operation, reply: FastifyReply) => boolean | Promise<boolean>
}

/** Headers that a page may send (PROTOCOL.md E.0). */
const CORS_HEADERS = 'Accept, Accept-Language, Content-Language, Content-Type'
/** Methods that a page may use (PROTOCOL.md E.0). PUT is not one of them: pages may not change peers and cuts. */
const CORS_METHODS: readonly string[] = ['GET', 'HEAD', 'POST']
/** Maximum characters of an unknown path that a 404 repeats. */
const MAX_SHOWN_PATH_LENGTH = 200

export class Router {
  readonly app: App
  readonly prefix: string
  readonly #options: RouterOptions
  readonly #served: Operation[] = []
  readonly #methods = new Map<string, HTTPMethods[]>()
  /** URLs of operations that only programs on this machine may use. */
  readonly #notForPages = new Set<string>()

  constructor(options: RouterOptions) {
    this.app = options.app
    this.prefix = options.prefix
    this.#options = options
  }

  /** All served operations, for the description of the interface. */
  get served(): readonly Operation[] {
    return this.#served
  }

  serve<const O extends Operation>(operation: O, handler: Handler<O>): void {
    this.#served.push(operation)
    this.serveAt(this.pathOf(operation), operation, handler)
  }

  /** Like serve, at another path: nodes differ about the path of some operations. */
  serveAt<const O extends Operation>(path: string, operation: O, handler: Handler<O>): void {
    const url = urlOf(path)
    // No HEAD for streams and work: without its body the response is useless.
    const hasHead = operation.method === 'GET' && operation.group !== 'mining' && !isStream(operation)
    const methods: HTTPMethods[] = hasHead ? ['GET', 'HEAD'] : [operation.method]
    this.#methods.set(url, [...(this.#methods.get(url) ?? []), ...methods])
    if (operation.forThisMachine) this.#notForPages.add(url)
    const callOf = requestReader(operation)
    this.app.route({
      url,
      method: methods,
      ...this.#corsOf(url),
      handler: (request, reply) => {
        const { chain } = request.params as { chain?: string }
        if (chain !== undefined && !this.#isChain(chain)) {
          return writeRefusal(reply, unknownChain(chain, this.#options.chains))
        }
        const run = () => {
          const call = callOf(request)
          return 'refused' in call ? writeRefusal(reply, call.refused) : handler(call as never, reply)
        }
        const hasAnswered = this.#options.intercept?.(operation, reply) ?? false
        if (typeof hasAnswered === 'boolean') return hasAnswered ? reply : run()
        return hasAnswered.then((isOver) => (isOver ? reply : run()))
      },
    })
  }

  /**
   * Responds to all other methods of a path, and to paths that do not exist; call it after the last serve. A route for
   * each of the 34 methods of each path would take a third of the start-up time of a node.
   */
  finish(): void {
    const served = [...this.#methods].map(([url, allowed]) => ({ url, pattern: patternOf(url), allowed }))
    // `/hash` before `/{id}`, the order in which routes match.
    served.sort((one, other) => parametersIn(one.url) - parametersIn(other.url))
    for (const { url, allowed } of served) {
      // Otherwise `GET /payload/batch` would match `GET /payload/{hash}`.
      const alike = served.filter((other) => other.url !== url && other.pattern.test(url))
      const method = alike.flatMap((other) => other.allowed).filter((each) => !allowed.includes(each))
      if (method.length === 0) continue
      this.app.route({
        url,
        method: [...new Set(method)],
        ...this.#corsOf(url),
        handler: (request, reply) => refuseMethod(request, reply, allowed),
      })
    }
    this.app.setNotFoundHandler((request, reply) => {
      const path = pathIn(request.url)
      const found = served.find(({ pattern }) => pattern.test(path))
      if (found === undefined) return this.#refusePath(request, reply)
      if (this.#notForPages.has(found.url)) reply.removeHeader(ALLOW_ORIGIN)
      return refuseMethod(request, reply, found.allowed)
    })
  }

  /** Answers 404: a page to a browser, and a text to programs. */
  #refusePath({ method, url, headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { pages } = this.app
    if (pages.length === 0 || (method !== 'GET' && method !== 'HEAD') || !wantsPage(headers.accept)) {
      return writeRefusal(reply, { status: 404, message: this.#notFoundText(url) })
    }
    const readable = this.#served.filter((operation) => operation.method === 'GET')
    const page = notFoundPage(
      url,
      pages,
      readable.map((operation) => this.pathOf(operation)),
    )
    return reply.removeHeader(ALLOW_ORIGIN).code(404).headers(page.headers).send(page.html)
  }

  /** Text of the 404 for a path at which nothing is served. */
  #notFoundText(url: string): string {
    const path = url.split('?', 1)[0].slice(0, MAX_SHOWN_PATH_LENGTH)
    const [, product, version, network] = path.split('/')
    const asked = `/${product}/${version}/${network}`
    const [, ownProduct, ownVersion] = this.prefix.split('/')
    const isOfNetwork = network !== undefined && (product === ownProduct || version === ownVersion)
    if (isOfNetwork && asked !== this.prefix) return `this node serves ${this.prefix}, not ${asked}`
    const guess = suggestName(
      path,
      this.#served.map((operation) => this.pathOf(operation)),
    )
    return `nothing is served at ${path}; GET /openapi.json lists what is${guess}`
  }

  /** Keeps pages from reading responses for programs on this machine, however the path is spelled. */
  #corsOf(url: string): Pick<RouteShorthandOptions, 'onRequest'> {
    if (!this.#notForPages.has(url)) return {}
    return {
      onRequest: (_request, reply, done) => {
        reply.removeHeader(ALLOW_ORIGIN)
        done()
      },
    }
  }

  /** Path of an operation, with parameters as `{name}`. */
  pathOf({ scope, path }: Operation): string {
    return scope === 'root' ? path : this.prefix + path
  }

  /** Whether the network has the chain of a path: `3`, not `03`. */
  #isChain(text: string): boolean {
    const chain = Number(text)
    return /^\d{1,9}$/.test(text) && String(chain) === text && chain < this.#options.chains
  }
}

/** Answers a CORS preflight. Any other request whose method the path does not have gets 405. */
function refuseMethod(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method']
  if (!isPreflight || !reply.hasHeader(ALLOW_ORIGIN)) {
    return reply
      .code(405)
      .header('allow', [...new Set(allowed)].join(', '))
      .send()
  }
  const forPages = CORS_METHODS.filter((method) => allowed.includes(method)).join(', ')
  reply.headers({ 'access-control-allow-methods': forPages, 'access-control-allow-headers': CORS_HEADERS })
  return reply.code(200).send()
}

const parametersIn = (url: string) => url.split(':').length - 1

/** Matches the paths that a route with this URL takes. */
function patternOf(url: string): RegExp {
  const parts = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
  return new RegExp(`^${parts.join('/')}$`)
}

/** Path of a request as routes see it: decoded except for reserved characters, without host and query. */
function pathIn(url: string): string {
  return decodeURI(url.replace(/^https?:\/\/.*?\//, '/').split(/[?#]/, 1)[0])
}
/** Converts a path of the operation table to the syntax of the server: `:name` for `{name}`. */
export const urlOf = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

type RefusedCall = { readonly refused: HttpRefusal }
const refuseCall = (status: number, message: string): RefusedCall => ({ refused: { status, message } })

/** Parses requests of an operation, and validates them by the schemas of its row in the table. */
function requestReader(operation: Operation): (request: FastifyRequest) => RoutedCall<Operation> | RefusedCall {
  const typeOf = typeChooser(offeredBy(operation))
  const bodyOf = bodyReader(operation)
  const paramsOf = parameterReader('path', operation.params)
  const queryOf = parameterReader('query', operation.query)
  const expected = operation.body?.type
  return (request) => {
    const type = typeOf(request)
    if (type === null) return refuseCall(406, '')
    if (expected !== undefined && mediaTypeOf(request) !== expected) {
      return refuseCall(415, `expected a body of type ${expected}`)
    }
    const params = paramsOf(request.params)
    if (params instanceof MalformedRequest) return refuseCall(400, params.message)
    const query = queryOf(request.query)
    if (query instanceof MalformedRequest) return refuseCall(400, query.message)
    const body = bodyOf(request)
    if (body instanceof MalformedRequest) return refuseCall(400, body.message)
    const { chain } = request.params as { readonly chain?: string }
    return { params, query, body: body as never, chain: Number(chain ?? 0), type, request }
  }
}

type Parameters = Record<string, unknown>

class MalformedRequest {
  readonly message: string

  constructor(place: 'path' | 'query' | 'request body', complaint: string) {
    this.message = `Error in the ${place}: ${complaint}`
  }
}

/** Parses the parameters of a path or a query; ignores those that the schema does not name. */
function parameterReader(place: 'path' | 'query', schema: TObject): (texts: unknown) => Parameters | MalformedRequest {
  if (Object.keys(schema.properties).length === 0) return (texts) => texts as Parameters
  const validator = validatorOf(schema)
  return (texts) => {
    const values = parameterValues(schema, texts as Readonly<Record<string, unknown>>)
    return validator.accepts(values) ? values : new MalformedRequest(place, validator.complaint(values))
  }
}

/** All responses of an operation by status: its own, and those of the common checks. */
export function answersOf(operation: Operation): Record<number, OperationResponse> {
  const { params, query, body, responses } = operation
  const isOnChain = 'chain' in params.properties
  const parameters = Object.keys({ ...params.properties, ...query.properties }).length - (isOnChain ? 1 : 0)
  return {
    ...((parameters > 0 || body?.type === 'application/json') && { 400: badRequest }),
    ...(isOnChain && { 404: text(TextBody, 'no such chain') }),
    ...(offeredBy(operation).length > 0 && {
      406: { description: 'the Accept header allows nothing that is offered' },
    }),
    ...(body !== undefined && {
      413: text(TextBody, 'a body of more than 2 MiB'),
      415: text(TextBody, `not ${body.type}`),
    }),
    ...responses,
  }
}

/** Maximum Accept headers that an operation caches; clients send few different ones. */
const MAX_ACCEPT_HEADERS = 64

/** Chooses the media type of a response: '' if there is nothing to choose, null if nothing on offer is acceptable. */
function typeChooser(offered: readonly string[]): (request: FastifyRequest) => string | null {
  if (offered.length === 0) return () => ''
  const known = new Map<string, string | null>()
  return (request) => {
    const header = request.headers.accept ?? '*/*'
    let type = known.get(header)
    if (type === undefined) {
      type = chooseMediaType(header, offered)
      if (known.size < MAX_ACCEPT_HEADERS) known.set(header, type)
    }
    return type
  }
}

/** Media types to choose from. Empty for operations that respond with text or events only: they ignore Accept. */
function offeredBy(operation: Operation): readonly string[] {
  const types = Object.keys(operation.responses[200]?.content ?? {})
  return types.length === 1 && (types[0] === TEXT || types[0] === EVENT_STREAM) ? [] : types
}

const isStream = ({ responses }: Operation) => EVENT_STREAM in (responses[200]?.content ?? {})

/** A body without a type is binary. */
function mediaTypeOf(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? 'application/octet-stream').split(';')[0].trim().toLowerCase()
}

/** Parses the request body of an operation. */
function bodyReader({ body }: Operation): (request: FastifyRequest) => unknown {
  if (body === undefined) return () => undefined
  const bytesOf = (request: FastifyRequest) => (Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
  if (body.type !== 'application/json') return (request) => new Uint8Array(bytesOf(request))
  const validator = validatorOf(body.schema)
  return (request) => {
    let json: unknown
    try {
      json = parseJson(bytesOf(request).toString('utf8'))
    } catch (error) {
      return new MalformedRequest('request body', error instanceof Error ? error.message : String(error))
    }
    return validator.accepts(json) ? json : new MalformedRequest('request body', validator.complaint(json))
  }
}
