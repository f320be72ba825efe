/** HTTP face of a running miner: /metrics, /healthz, /api/summary, and what others add. */
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { NewcutError } from '../core/errors.ts'
import type { Snapshot } from '../mine/stats.ts'
import type { Metrics } from './metrics.ts'

export interface ApiServer {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly close: () => Promise<void>
}

/** What is served beside the miner's own endpoints. */
export interface Extension {
  readonly path: string
  readonly addTo: (app: FastifyInstance) => void
}

/** Starts serving. Throws NewcutError PORT_BUSY when it cannot listen. */
export async function startApi(
  address: { readonly host: string; readonly port: number },
  snapshot: () => Snapshot,
  metrics: Metrics,
  extension?: Extension,
): Promise<ApiServer> {
  const app = fastify({ forceCloseConnections: true })
  extension?.addTo(app)
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.scrape()
    return reply.type(metrics.registry.contentType).send(text)
  })
  app.get('/healthz', (_request, reply) => {
    const { work, connected, idleReason } = snapshot()
    if (idleReason !== null) return reply.code(503).send({ status: 'nothing searches', reason: idleReason, connected })
    if (work === null) return reply.code(503).send({ status: 'no work', connected })
    return reply.send({ status: 'mining', connected })
  })
  app.get('/api/summary', (_request, reply) => reply.send(snapshot()))
  app.setNotFoundHandler((_request, reply) => {
    const endpoints = ['/metrics', '/healthz', '/api/summary', ...(extension ? [extension.path] : [])]
    return reply.code(404).send({ error: 'not found', endpoints })
  })
  try {
    await app.listen(address)
  } catch (error) {
    const { host, port } = address
    throw new NewcutError('PORT_BUSY', `cannot serve metrics on ${host}:${port}: ${(error as Error).message}`, {
      hint: 'choose another address with --http HOST:PORT, or --http off',
      cause: error,
    })
  }
  const { port } = app.server.address() as AddressInfo
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return { url: `http://${host}:${port}`, close: () => app.close() }
}
