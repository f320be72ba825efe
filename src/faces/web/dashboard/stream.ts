/** `GET /api/events`: the event stream of the dashboard. state.ts describes the events. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { foreignPage, type PageHeaders } from '#ground/base/host.ts'
import { type Hub, MAX_READERS } from './hub.ts'

export const EVENTS_PATH = '/api/events'

/** A slow client is skipped until its buffer drains, then gets a full `state` event. */
const MAX_BACKLOG_BYTES = 64 * 1024
/** A client that reads nothing for this long is disconnected. */
const MAX_SILENT_MS = 30_000
/** Reconnect delay of plain EventSource clients. The dashboard page has its own backoff. */
const RETRY_MS = 1_000

/** Adds the stream. It ends when the server closes. */
export function addEvents(app: FastifyInstance, hub: Hub): void {
  app.addHook('preClose', async () => hub.close())
  app.get(EVENTS_PATH, { exposeHeadRoute: false }, (request, reply) => {
    const { headers } = request
    if (foreignPage(headers) !== null) return reply.code(403).send({ error: foreignText(headers) })
    if (!hub.hasRoom) {
      const error = `${MAX_READERS} event streams are open, and there are no more; close one, or try again later`
      return reply.code(503).header('retry-after', '5').send({ error })
    }
    open(hub, reply)
    return reply
  })
}

/** Pages of other sites could not read a stream, but they could occupy all of them. */
const foreignText = ({ host }: PageHeaders) =>
  `only the page of this miner, at http://${host}/, and programs may listen, not pages of other sites`

function open(hub: Hub, reply: FastifyReply): void {
  reply.hijack()
  const { raw } = reply
  // A client that left before its request was handled emits no further event.
  if (raw.destroyed) return
  let isBehind = false
  let cancelDrop: () => void = () => undefined
  const write = (name: string, json: string) => raw.write(`event: ${name}\ndata: ${json}\n\n`)
  const onEvent = (name: string, json: string) => {
    if (raw.writableLength > MAX_BACKLOG_BYTES) {
      if (!isBehind) cancelDrop = hub.clock.after(MAX_SILENT_MS, () => raw.destroy())
      isBehind = true
    } else if (isBehind) {
      cancelDrop()
      isBehind = false
      write('state', hub.stateText())
    } else write(name, json)
  }
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  })
  raw.write(`retry: ${RETRY_MS}\n\n`)
  const end = hub.read(onEvent, () => raw.end())
  raw.once('close', () => {
    cancelDrop()
    end()
  })
}
