/** Serves the mining page and its gateway: everything at /mine and below. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { SAFE_HEADERS, sendAsset } from '../assets.ts'
import { readMinePage } from './files.ts'
import { Gateway, type GatewayOptions } from './gateway.ts'
import { Refused } from './refused.ts'
import { openUpdates } from './updates.ts'
import { foreignReason } from './visitor.ts'

const TEXT = 'text/plain;charset=utf-8'
/** Limit of an account body. An account takes some hundred bytes, more with many keys. */
const MAX_ACCOUNT_BYTES = 8 * 1024
/** Limit of a solution body. Work has 286 bytes; the margin lets the answer name a wrong length. */
const MAX_SOLUTION_BYTES = 1024
type ServedNode = 'GET' | 'POST'

const GATEWAY: readonly (readonly [string, ServedNode])[] = [
  ['/mine/about', 'GET'],
  ['/mine/work', 'POST'],
  ['/mine/solved', 'POST'],
  ['/mine/updates', 'GET'],
]

/** Adds the routes and reads the files. Call it before the server listens. */
export function addMinePage(app: FastifyInstance, options: GatewayOptions): void {
  const files = readMinePage()
  const gateway = new Gateway(options)
  app.addHook('preClose', () => gateway.close())
  // A separate scope limits these hooks to the page's paths.
  app.register(async (scope) => {
    prepare(scope)
    for (const [path, asset] of files) serve(scope, 'GET', path, {}, (_request, reply) => sendAsset(reply, asset))
    addGateway(scope, gateway)
    const methods = new Map(GATEWAY)
    for (const path of files.keys()) methods.set(path, 'GET')
    refuseOthers(scope, methods)
  })
}

function prepare(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  scope.addHook('onRequest', async (request, reply) => {
    // A node accepts a trailing slash, but at /mine/ the page's relative links would break.
    if (/\/(\?|$)/.test(request.url)) return reply.callNotFound()
    // A node lets all sites read its answers, but only the page itself may read these.
    reply.removeHeader('access-control-allow-origin')
    reply.headers(SAFE_HEADERS)
  })
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    if (error instanceof Refused) return refuse(reply, error.status, error.message)
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refuse(reply, 413, 'request body: it is too long')
    return refuse(reply, error.statusCode ?? 500, error.message)
  })
}

function serve(
  scope: FastifyInstance,
  method: ServedNode,
  url: string,
  limits: { readonly bodyLimit?: number },
  handler: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  scope.route({ method, url, exposeHeadRoute: false, ...limits, handler })
}

/** Answers 405 to other methods of served paths. One route covers all paths, because the site has 60. */
function refuseOthers(scope: FastifyInstance, served: ReadonlyMap<string, ServedNode>): void {
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const { '*': rest } = request.params as { readonly '*'?: string }
    const method = served.get(rest === undefined ? '/mine' : `/mine/${rest}`)
    return method === undefined
      ? reply.callNotFound()
      : refuse(reply.header('allow', method), 405, `expected ${method}`)
  }
  const methods = scope.supportedMethods as HTTPMethods[]
  scope.route({ method: methods.filter((method) => method !== 'GET'), url: '/mine', exposeHeadRoute: false, handler })
  scope.route({ method: methods, url: '/mine/*', exposeHeadRoute: false, handler })
}

function addGateway(scope: FastifyInstance, gateway: Gateway): void {
  serve(scope, 'GET', '/mine/about', {}, async (request) => {
    checkVisitor(request)
    return gateway.about()
  })
  serve(scope, 'POST', '/mine/work', { bodyLimit: MAX_ACCOUNT_BYTES }, async (request, reply) => {
    checkVisitor(request)
    expectType(request, 'application/json')
    const { chain } = request.query as { readonly chain?: string }
    const work = await gateway.work(bytesOf(request), chain)
    return reply.type('application/octet-stream').send(Buffer.from(work))
  })
  serve(scope, 'POST', '/mine/solved', { bodyLimit: MAX_SOLUTION_BYTES }, async (request) => {
    checkVisitor(request)
    expectType(request, 'application/octet-stream')
    return gateway.submit(bytesOf(request))
  })
  serve(scope, 'GET', '/mine/updates', {}, async (request, reply) => {
    checkVisitor(request)
    const { chain } = request.query as { readonly chain?: string }
    await openUpdates(gateway, chain, reply)
    return reply
  })
}

function checkVisitor({ headers }: FastifyRequest): void {
  const reason = foreignReason(headers)
  if (reason !== null) throw new Refused(403, reason)
}

/** Checks the media type. Pages of other sites cannot send these types without a CORS preflight, which fails. */
function expectType({ headers }: FastifyRequest, expected: string): void {
  const type = (headers['content-type'] ?? '').split(';')[0].trim().toLowerCase()
  if (type !== expected) throw new Refused(415, `content-type: ${type || 'none'}, expected ${expected}`)
}

const bytesOf = ({ body }: FastifyRequest) => new Uint8Array(Buffer.isBuffer(body) ? body : Buffer.alloc(0))

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).type(TEXT).send(message)
}
