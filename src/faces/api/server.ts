/** The HTTP server of a running miner: /metrics, /healthz, /api/summary, and added parts. */
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { operatingError } from '#ground/base/errors.ts'
import { limitConnections } from '#ground/platform/connection-limit.ts'
import { type FastifyInstance, fastify } from '#ground/platform/fastify.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { apiErrors } from './errors.ts'
import { foreignHostReason } from './host-check.ts'
import type { Metrics } from './metrics.ts'

/** Default limit of a request body: only short control requests have one. */
const MAX_BODY_BYTES = 1024
/** Limit of request line and headers; node:http answers 431 above it. */
const MAX_HEADER_BYTES = 16 * 1024
/** Limit of connections: scrapers, dashboards, and the mining page. One more closes the longest idle one. */
const MAX_CONNECTIONS = 256
/** Timeout of an arriving request, which is then answered with 408. */
const REQUEST_TIMEOUT_MS = 10_000
/** Upper bound of the interval of timeout checks. */
const MAX_CHECK_INTERVAL_MS = 5000

/** Paths that a person opens, with the texts of links. */
const PAGES: Readonly<Record<string, string>> = {
  '/': 'Dashboard',
  '/mine': 'Mine in this browser',
  '/api/summary': 'Figures as JSON',
}

const namedPages = (paths: readonly string[]) =>
  Object.entries(PAGES).flatMap(([path, name]) => (paths.includes(path) ? [{ path, name }] : []))

export interface ApiServer {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly close: () => Promise<void>
}

/** A part that the server adds to the miner's own endpoints. */
export interface ServedPart {
  readonly path: string
  readonly addTo: (app: FastifyInstance) => void
}

/** The listening address, and limits that tests lower. */
export interface ApiAddress {
  readonly host: string
  readonly port: number
  readonly requestTimeoutMs?: number
  readonly maxConnections?: number
}

/**
 * Starts the server.
 * @throws NewcutError PORT_BUSY if it cannot listen
 */
export async function startApi(
  { host, port, requestTimeoutMs = REQUEST_TIMEOUT_MS, maxConnections = MAX_CONNECTIONS }: ApiAddress,
  snapshot: () => Snapshot,
  metrics: Metrics,
  ...extensions: readonly ServedPart[]
): Promise<ApiServer> {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: requestTimeoutMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, MAX_CHECK_INTERVAL_MS),
    },
  })
  limitConnections(app.server, maxConnections)
  app.addHook('onRequest', async ({ headers }, reply) => {
    const error = foreignHostReason(headers.host, host, hostname())
    if (error !== null) return reply.code(403).send({ error })
  })
  for (const { addTo } of extensions) addTo(app)
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.scrape()
    return reply.type(metrics.registry.contentType).send(text)
  })
  app.get('/healthz', (_request, reply) => {
    const { work, connected, idleReason, waitReason, paused, fleet } = snapshot()
    // A deliberate pause is healthy.
    if (paused) return reply.send({ status: 'paused', connected })
    // A standby may take over at any moment.
    if (fleet?.isLeading === false && fleet.leader !== null) {
      return reply.send({ status: 'stands by', leader: fleet.leader, connected })
    }
    if (idleReason !== null) return reply.code(503).send({ status: 'nothing searches', reason: idleReason, connected })
    if (waitReason !== undefined) return reply.send({ status: `waits ${waitReason}`, connected })
    if (work === null) return reply.code(503).send({ status: 'no work', connected })
    return reply.send({ status: 'mining', connected })
  })
  app.get('/api/summary', (_request, reply) => reply.send(snapshot()))
  app.setNotFoundHandler(async ({ method, url, headers }, reply) => {
    const endpoints = ['/metrics', '/healthz', '/api/summary', ...extensions.map(({ path }) => path)]
    if (method === 'GET' && headers.accept?.includes('text/html')) {
      const { notFoundPage, wantsPage } = await import('#ground/base/not-found-page.ts')
      const page = notFoundPage(url, namedPages(endpoints), endpoints)
      if (wantsPage(headers.accept)) return reply.code(404).headers(page.headers).send(page.html)
    }
    return reply.code(404).send({ error: 'not found', endpoints })
  })
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw operatingError(
      apiErrors.addressUnusable,
      { address: `${host}:${port}`, why: (error as Error).message },
      error,
    )
  }
  const { port: boundPort } = app.server.address() as AddressInfo
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`, close: () => app.close() }
}
