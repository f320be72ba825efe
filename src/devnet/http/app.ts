/** The HTTP interface of a network, shared by all endpoints: common headers, plain-text errors, event streams. */
import { type IncomingMessage, METHODS, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ServedPage } from '#ground/base/not-found-page.ts'
import type { ProductWord } from '#ground/chain/header-json.ts'
import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from '#ground/platform/fastify.ts'
import { EVENT_STREAM_HEADERS, JSON_TYPE, TEXT } from '#ground/schema/operation.ts'
import { type HttpRefusal, refusalOf } from './refusal.ts'

export interface App extends FastifyInstance {
  /** Pages that browsers can open, which the answer for a missing path links to. */
  readonly pages: ServedPage[]
  /** Answers a request with a refusal, whatever its handler still does. The answer must not have begun. */
  readonly turnAway: (response: ServerResponse, refusal: HttpRefusal) => void
}

/** Largest request body: 2 MiB (PROTOCOL.md E.0). */
const MAX_BODY_BYTES = 2 * 1024 * 1024
/** Lets pages of any site read a response. */
export const ALLOW_ORIGIN = 'access-control-allow-origin'
/** Error code of the HTTP parser -> status of the response; 400 for all others. */
const PARSER_STATUS: ReadonlyMap<string | undefined, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
])
/** Methods of all endpoints. */
const METHODS_IN_USE: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT']
const WITHOUT_BODY = { hasBody: false, overrideExisting: true }
/** The maximum of node:http, so that every path reaches its route and is validated there. */
const MAX_PATH_PART_LENGTH = 16 * 1024

/** Time a client has to close its connection after the response to an unreadable request. */
const MAX_FAREWELL_MS = 1000

interface AppOptions {
  readonly product: ProductWord
  /** Release of the live node that the network follows. */
  readonly packageVersion: string
  readonly nowMs: () => number
}

/**
 * Creates a fastify application that responds like a live node: errors as text, 405 without a body, bodies on GET. It
 * does not listen: the port of the node (port.ts) passes requests to it.
 */
export function createApp(options: AppOptions): App {
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Live nodes treat `/info/` like `/info`, and public examples of their interface write such paths.
    routerOptions: { maxParamLength: MAX_PATH_PART_LENGTH, ignoreTrailingSlash: true },
    // Hooks do not run for a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      reply.headers(commonHeaders(options, request.socket))
      return sendError(reply, error)
    },
    clientErrorHandler: (error, socket) => refuseRaw(options, error, socket),
  })
  // Methods that no endpoint has are registered only for their 405; fastify would require a body for some of them.
  for (const method of METHODS) if (!METHODS_IN_USE.includes(method)) app.addHttpMethod(method, WITHOUT_BODY)
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const replies = new WeakMap<ServerResponse, FastifyReply>()
  app.addHook('onRequest', (request, reply, done) => {
    replies.set(reply.raw, reply)
    reply.headers(commonHeaders(options, request.socket))
    if (request.headers.host !== undefined || request.raw.httpVersion !== '1.1') done()
    else writeRefusal(reply, { status: 400, message: 'an HTTP/1.1 request needs a Host header' })
  })
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(reply, error))
  app.server.on('checkExpectation', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const message = '100-continue is the only expectation that is supported'
    const ownHeaders = { 'content-type': TEXT, 'content-length': message.length, connection: 'close' }
    response.writeHead(417, { ...commonHeaders(options, socket), ...ownHeaders }).end(message)
  })
  return Object.assign(app, {
    pages: [],
    turnAway: (response: ServerResponse, { status, message }: HttpRefusal) => {
      const headers = replies.get(response)?.getHeaders() ?? commonHeaders(options, response.req.socket)
      response.writeHead(status, { ...(headers as OutgoingHttpHeaders), 'content-type': TEXT }).end(message)
    },
  })
}

function sendError(reply: FastifyReply, error: FastifyError): FastifyReply {
  return writeRefusal(reply, refusalOf(error) ?? { status: error.statusCode ?? 500, message: error.message })
}

/** Responds to requests that the HTTP parser rejects or that take too long. There is no reply object for them. */
function refuseRaw(options: AppOptions, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = PARSER_STATUS.get(error.code) ?? 400
  const headers = Object.entries({
    ...commonHeaders(options, socket),
    'content-type': TEXT,
    'content-length': Buffer.byteLength(error.message),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers, '', error.message].join('\r\n'))
  // A client that sends slowly may also read slowly, or never close.
  setTimeout(() => socket.destroy(), MAX_FAREWELL_MS).unref()
}

function commonHeaders({ product, packageVersion, nowMs }: AppOptions, { remoteAddress, remotePort }: Socket) {
  const address = remoteAddress?.includes(':') ? `[${remoteAddress}]` : remoteAddress
  return {
    'x-peer-addr': `${address}:${remotePort}`,
    'x-server-timestamp': Math.floor(nowMs() / 1000).toString(),
    [`x-${product}-node-version`]: packageVersion,
    [ALLOW_ORIGIN]: '*',
  }
}

export function writeRefusal(reply: FastifyReply, { status, message }: HttpRefusal): FastifyReply {
  // An empty text has no content type.
  return message === '' ? reply.code(status).send() : reply.code(status).type(TEXT).send(message)
}

/** Sends JSON under exactly this content type. Given a string, fastify would rewrite the parameters of the type. */
export function sendJson(reply: FastifyReply, type: string, json: string | Buffer): FastifyReply {
  return reply.type(type).send(typeof json === 'string' ? Buffer.from(json) : json)
}

/** Sends the 404 of a key that does not exist, whatever the Accept header says. */
export function keyNotFound(reply: FastifyReply, key: string): FastifyReply {
  return sendJson(reply.code(404), JSON_TYPE, JSON.stringify({ reason: 'key not found', key }))
}

/**
 * Negotiates the content type (RFC 9110 section 12.5.1): by quality, then by position in the Accept header, then by
 * position in `offered`.
 * @returns null if none is acceptable
 */
export function chooseMediaType(header: string, offered: readonly string[]): string | null {
  const wanted = header.split(',').map(mediaRange)
  let best = { type: null as string | null, quality: 0, place: 0 }
  for (const type of offered) {
    const { range } = mediaRange(type)
    // The most specific range decides: it may exclude a type that a wildcard allows.
    const ranges = [range, `${range.split('/')[0]}/*`, '*/*']
    const match = ranges.find((each) => wanted.some((one) => one.range === each))
    const place = wanted.findIndex((one) => one.range === match)
    if (place < 0) continue
    const { quality } = wanted[place]
    if (quality > best.quality || (quality > 0 && quality === best.quality && place < best.place)) {
      best = { type, quality, place }
    }
  }
  return best.type
}

/** Parses a media range and its quality, 0 to 1. The charset is always UTF-8, so it is ignored. */
function mediaRange(text: string): { range: string; quality: number } {
  const [mime, ...parameters] = text.toLowerCase().replace(/\s/g, '').split(';')
  const quality = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1)
  const kept = parameters.filter((each) => !/^(q=|charset=utf-8$)/.test(each))
  return { range: [mime, ...kept].join(';'), quality: quality >= 0 && quality <= 1 ? quality : 1 }
}

/** An event, encoded once for any number of streams. */
interface StreamEvent {
  readonly text: Buffer
  /** As a chunk of HTTP/1.1. */
  readonly chunk: Buffer
}

export function streamEvent(text: string): StreamEvent {
  const bytes = Buffer.from(text)
  return { text: bytes, chunk: Buffer.from(`${bytes.length.toString(16)}\r\n${text}\r\n`) }
}

/** An open server-sent event stream. A reader with more than `MAX_BACKLOG_BYTES` unread bytes is disconnected. */
export interface ServedStream {
  readonly send: (event: string | StreamEvent) => void
  readonly close: () => void
}

/** Maximum unread bytes of a stream. A reader that falls further behind is disconnected, not buffered. */
const MAX_BACKLOG_BYTES = 1024 * 1024
/** Time a reader has for the rest of a stream that has ended. */
const MAX_END_GRACE_MS = 5000

/** Opens an event stream with the common headers. Calls `onClose` once, whichever side closes it. */
export function serveEventStream(reply: FastifyReply, onClose: () => void): ServedStream {
  const headers = { ...reply.getHeaders(), ...EVENT_STREAM_HEADERS }
  reply.hijack()
  const raw = reply.raw
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200)
  raw.flushHeaders()
  raw.socket?.setNoDelay(true)
  // The response of a reader that left before its request was handled emits no further event.
  let isOver = raw.destroyed
  let grace: NodeJS.Timeout | undefined
  if (isOver) onClose()
  raw.once('close', () => {
    if (isOver) return
    isOver = true
    clearTimeout(grace)
    onClose()
  })
  return {
    send: (event) => {
      // Between end and 'close' there may be events to send; a write would be an unhandled error.
      if (raw.writableEnded || raw.destroyed) return
      // Measured before this event: one event over the limit must not disconnect a reader that keeps up.
      if (raw.writableLength > MAX_BACKLOG_BYTES) {
        raw.destroy()
        return
      }
      const { text, chunk } = typeof event === 'string' ? streamEvent(event) : event
      // A response gets its socket once all earlier ones on the connection are over. A write to the socket sends bytes
      // that all streams share: 23 ms of CPU time for 2,000 streams instead of 34.
      if (raw.chunkedEncoding && raw.socket?.writable) raw.socket.write(chunk)
      else raw.write(text)
    },
    close: () => {
      raw.end()
      // The end comes after the unread events. A reader that does not read them must not keep its slot for long.
      if (!isOver) grace ??= setTimeout(() => raw.destroy(), MAX_END_GRACE_MS).unref()
    },
  }
}
