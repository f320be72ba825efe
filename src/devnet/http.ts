/** What every endpoint of the embedded node shares: headers on each response, plain-text errors, event streams. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import type { ProductWord } from '../core/header-json.ts'
import type { Refusal } from './coordinator.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export const TEXT = 'text/plain;charset=utf-8'
export const JSON_TYPE = 'application/json;charset=utf-8'
export const OBJECT_JSON_TYPE = 'application/json;blockheader-encoding=object'
export const BINARY = 'application/octet-stream'

/** Largest request body: 2 MiB (PROTOCOL.md E.0). */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024
/** Any part of a path that node:http lets through reaches its route and is judged there. */
const PATH_PART_LIMIT = 16 * 1024

export interface AppOptions {
  readonly product: ProductWord
  readonly packageVersion: string
  readonly nowMs: () => number
}

/** A fastify application with the manners of a node: 404 and 405 without a body, errors as text, bodies on GET. */
export function createApp(options: AppOptions): App {
  const app: App = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: PATH_PART_LIMIT },
    ajv: { customOptions: { coerceTypes: true, removeAdditional: false } },
    // Hooks do not run for a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      reply.headers(commonHeaders(options, request))
      return sendError(reply, error)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders(options, request))
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send())
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(reply, error))
  return app
}

function sendError(reply: FastifyReply, error: FastifyError): FastifyReply {
  return refuse(reply, { status: error.statusCode ?? 500, message: error.message })
}

function commonHeaders({ product, packageVersion, nowMs }: AppOptions, request: Pick<FastifyRequest, 'socket'>) {
  return {
    'x-peer-addr': `${request.socket.remoteAddress}:${request.socket.remotePort}`,
    'x-server-timestamp': Math.floor(nowMs() / 1000).toString(),
    [`x-${product}-node-version`]: packageVersion,
    'access-control-allow-origin': '*',
  }
}

/** Answers every method but these with 405 at a path that exists. */
export function refuseOtherMethods(app: App, url: string, allowed: readonly HTTPMethods[]): void {
  const all: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']
  app.route({
    url,
    method: all.filter((method) => !allowed.includes(method)),
    handler: (_request, reply) => reply.code(405).header('allow', allowed.join(', ')).send(),
  })
}

export function refuse(reply: FastifyReply, { status, message }: Refusal): FastifyReply {
  return reply.code(status).type(TEXT).send(message)
}

/** JSON text under exactly this content type: given a string, fastify would rewrite the type's parameters. */
export function sendJson(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply.type(type).send(Buffer.from(text))
}

/** The body of a 404 for a key that does not exist; sent whatever the Accept header says. */
export function keyNotFound(reply: FastifyReply, key: string): FastifyReply {
  return sendJson(reply.code(404), JSON_TYPE, JSON.stringify({ reason: 'key not found', key }))
}

/** The first of `offered` that an Accept header allows; none or a wildcard means the first. null: not acceptable. */
export function accepted(request: FastifyRequest, offered: readonly string[]): string | null {
  const normal = (type: string) => type.toLowerCase().replace(/\s*;\s*(q=[0-9.]+|charset=utf-8)|\s/g, '')
  const wanted = (request.headers.accept ?? '*/*').split(',').map(normal)
  for (const range of wanted) {
    const match = offered.find((type) => {
      const mime = normal(type)
      return range === mime || range === '*/*' || range === `${mime.split('/')[0]}/*`
    })
    if (match !== undefined) return match
  }
  return null
}

/** An open server-sent event stream. A reader that lets more than `BACKLOG_LIMIT_BYTES` wait is dropped. */
export interface EventStream {
  readonly send: (text: string) => void
  readonly close: () => void
}

const BACKLOG_LIMIT_BYTES = 1024 * 1024

/** Starts an event stream with the common headers; `onClose` runs once, whoever ends it. */
export function openEventStream(reply: FastifyReply, onClose: () => void): EventStream {
  const headers = reply.getHeaders()
  reply.hijack()
  const raw = reply.raw
  raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' } as never)
  raw.flushHeaders()
  raw.socket?.setNoDelay(true)
  // A reader that left before its request was handled emits no further event.
  if (raw.destroyed) onClose()
  else raw.once('close', onClose)
  return {
    send: (text) => {
      // Between its end and 'close' a stream still hears of blocks; a write would be an unhandled error.
      if (raw.writableEnded || raw.destroyed) return
      raw.write(text)
      if (raw.writableLength > BACKLOG_LIMIT_BYTES) raw.destroy()
    },
    close: () => raw.end(),
  }
}
