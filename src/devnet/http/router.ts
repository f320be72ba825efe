/**
 * Serves operations of the node interface: what is common to all endpoints is judged here, in the order in which a node
 * does (PROTOCOL.md E.0): unknown chain 404, method 405, Accept 406, media type 415, parameters and body 400.
 */
import { METHODS } from 'node:http'
import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import { parseJson } from '../../core/json.ts'
import {
  badRequest,
  EVENT_STREAM,
  type Operation,
  type OperationResponse,
  TEXT,
  TextBody,
  text,
} from '../../schema/operation.ts'
import { validatorOf } from '../../schema/validator.ts'
import type { Refusal } from '../refusal.ts'
import { type App, accepted, refuse } from './app.ts'

type BodyOf<O extends Operation> = O extends { readonly body: { readonly schema: infer S extends TSchema } }
  ? Static<S>
  : undefined

/** A request that passed every common check. */
export interface Call<O extends Operation> {
  readonly params: Static<O['params']>
  readonly query: Static<O['query']>
  /** JSON as parsed; bytes (Uint8Array) of binary bodies. */
  readonly body: BodyOf<O> extends string ? Uint8Array : BodyOf<O>
  /** The chain of the path; 0 where the path has none. */
  readonly chain: number
  /** The media type to answer with. */
  readonly type: string
  readonly request: FastifyRequest
}

export type Handler<O extends Operation> = (call: Call<O>, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>

export interface RouterOptions {
  readonly app: App
  /** `/PRODUCT/0.0/NETWORK` */
  readonly prefix: string
  readonly hasChain: (chain: number) => boolean
  /** Asked before anything else is; true: it has answered. */
  readonly intercept?: (operation: Operation, reply: FastifyReply) => Promise<boolean>
}

/** Headers that a page may send along (PROTOCOL.md E.0). */
const CORS_HEADERS = 'Accept, Accept-Language, Content-Language, Content-Type'
/** Methods that a page may use (PROTOCOL.md E.0): what changes peers and cuts is not for pages. */
const CORS_METHODS: readonly string[] = ['GET', 'HEAD', 'POST']
/** CONNECT has no path. */
const ALL_METHODS: readonly HTTPMethods[] = METHODS.filter((method) => method !== 'CONNECT')

export class Router {
  readonly app: App
  readonly prefix: string
  readonly #options: RouterOptions
  readonly #served: Operation[] = []
  readonly #methods = new Map<string, HTTPMethods[]>()

  constructor(options: RouterOptions) {
    this.app = options.app
    this.prefix = options.prefix
    this.#options = options
  }

  /** What is served, for the description of the interface. */
  get served(): readonly Operation[] {
    return this.#served
  }

  serve<const O extends Operation>(operation: O, handler: Handler<O>): void {
    this.#served.push(operation)
    this.serveAt(this.pathOf(operation), operation, handler)
  }

  /** As serve, at another path too: where nodes differ about the place of the same thing. */
  serveAt<const O extends Operation>(path: string, operation: O, handler: Handler<O>): void {
    const url = path.replace(/\{(\w+)\}/g, ':$1')
    // What streams or hands out work is not to be asked for without its body.
    const hasHead = operation.method === 'GET' && operation.group !== 'stream' && operation.group !== 'mining'
    const methods: HTTPMethods[] = hasHead ? ['GET', 'HEAD'] : [operation.method]
    this.#methods.set(url, [...(this.#methods.get(url) ?? []), ...methods])
    const bodyOf = bodyReader(operation)
    const typeOf = typeChooser(offeredBy(operation))
    const refusalOf = requestJudge(operation, typeOf)
    this.app.route({
      url,
      method: methods,
      schema: { params: operation.params, querystring: operation.query },
      preValidation: (request, reply, done) => {
        const { chain } = request.params as { chain?: string }
        const judge = () => {
          const refusal = refusalOf(request)
          if (refusal === null) done()
          else send(reply, refusal)
        }
        if (chain !== undefined && !this.#isChain(chain)) reply.code(404).send()
        else if (this.#options.intercept === undefined) judge()
        else this.#options.intercept(operation, reply).then((hasAnswered) => (hasAnswered ? undefined : judge()), done)
      },
      handler: (request, reply) => {
        const body = bodyOf(request)
        if (body instanceof BadBody) return refuse(reply, { status: 400, message: body.message })
        const { chain } = request.params as { chain?: string }
        const { params, query } = request
        const type = typeOf(request)
        return handler({ params, query, body, chain: Number(chain ?? 0), type, request } as never, reply)
      },
    })
  }

  /** After the last serve: 405 for all other methods of a path, and the answer to a page that asks what it may do. */
  finish(): void {
    for (const [url, allowed] of this.#methods) {
      const allow = [...new Set(allowed)].join(', ')
      const forPages = CORS_METHODS.filter((method) => allowed.includes(method as HTTPMethods)).join(', ')
      this.app.route({
        url,
        method: ALL_METHODS.filter((method) => !allowed.includes(method)),
        handler: (request, reply) => {
          const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method']
          if (!isPreflight || !reply.hasHeader('access-control-allow-origin')) {
            return reply.code(405).header('allow', allow).send()
          }
          reply.headers({ 'access-control-allow-methods': forPages, 'access-control-allow-headers': CORS_HEADERS })
          return reply.code(200).send()
        },
      })
    }
  }

  /** Where an operation is served; parameters as `{name}`. */
  pathOf({ scope, path }: Operation): string {
    return scope === 'root' ? path : this.prefix + path
  }

  /** The chain of a path, if the network has it: `3`, not `03`. */
  #isChain(text: string): boolean {
    const chain = Number(text)
    return /^\d{1,9}$/.test(text) && String(chain) === text && this.#options.hasChain(chain)
  }
}

/** What can be said of a request before its parameters and its body are looked at; null: nothing. */
function requestJudge(operation: Operation, typeOf: (request: FastifyRequest) => string | null) {
  const expected = operation.body?.type
  return (request: FastifyRequest): Refusal | null => {
    if (typeOf(request) === null) return { status: 406, message: '' }
    if (expected !== undefined && mediaTypeOf(request) !== expected) {
      return { status: 415, message: `expected a body of type ${expected}` }
    }
    const wrong = malformedInteger(operation.query, request.query as Record<string, unknown>)
    return wrong === null ? null : { status: 400, message: wrong }
  }
}

/** All answers of an operation by status: its own, and those to requests that never reach it. */
export function answersOf(operation: Operation): Record<number, OperationResponse> {
  const { params, query, body, responses } = operation
  const isOnChain = 'chain' in params.properties
  const parameters = Object.keys({ ...params.properties, ...query.properties }).length - (isOnChain ? 1 : 0)
  return {
    ...((parameters > 0 || body?.type === 'application/json') && { 400: badRequest }),
    ...(isOnChain && { 404: { description: 'no such chain' } }),
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

function send(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return refusal.message === '' ? reply.code(refusal.status).send() : refuse(reply, refusal)
}

/** Most Accept headers that an operation remembers; clients send few different ones. */
const ACCEPT_LIMIT = 64

/** Chooses the type of the answer: '' where there is no choice, null when what there is is not acceptable. */
function typeChooser(offered: readonly string[]): (request: FastifyRequest) => string | null {
  if (offered.length === 0) return () => ''
  const known = new Map<string, string | null>()
  return (request) => {
    const header = request.headers.accept ?? '*/*'
    let type = known.get(header)
    if (type === undefined) {
      type = accepted(header, offered)
      if (known.size < ACCEPT_LIMIT) known.set(header, type)
    }
    return type
  }
}

/** Types to choose from; none where the answer has one type only, and clients do not care to name it. */
function offeredBy(operation: Operation): readonly string[] {
  const types = Object.keys(operation.responses[200]?.content ?? {})
  return types.length === 1 && (types[0] === TEXT || types[0] === EVENT_STREAM) ? [] : types
}

/** A body without a type is binary. */
function mediaTypeOf(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? 'application/octet-stream').split(';')[0].trim().toLowerCase()
}

/** Query values are converted, and `0x10` or `1e3` would pass as numbers. */
function malformedInteger(schema: TObject, query: Record<string, unknown>): string | null {
  for (const [name, value] of Object.entries(query)) {
    const property = schema.properties[name] as { type?: string } | undefined
    if (property?.type !== 'integer' || (typeof value === 'string' && /^\d{1,15}$/.test(value))) continue
    return `${name}: ${JSON.stringify(value)} is not a whole number`
  }
  return null
}

class BadBody {
  readonly message: string

  constructor(message: string) {
    this.message = `Error in the request body: ${message}`
  }
}

/** Reads the body that an operation asks for. */
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
      return new BadBody(error instanceof Error ? error.message : String(error))
    }
    return validator.accepts(json) ? json : new BadBody(validator.complaint(json))
  }
}
