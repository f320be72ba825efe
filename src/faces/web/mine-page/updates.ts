/**
 * Streams updates of a chain to the mining page. The node's own events carry no data (PROTOCOL.md A.3), and EventSource
 * ignores such events, so the gateway forwards each with data:
 *
 *     event: cut      the work of the chain is stale, or the chain can be mined again
 *     event: stands   the node's stream is open; earlier updates were missed
 *     event: broken   the node's stream broke and is reopened; the data give the reason
 *     event: alive    nothing happened for a while
 */
import type { FastifyReply } from 'fastify'
import { describeError } from '#ground/base/errors.ts'
import { EVENT_STREAM_HEADERS } from '#ground/schema/operation.ts'
import type { Gateway } from './gateway.ts'

const ALIVE_MS = 10_000
/** Lifetime of a stream. The page then opens a new one. */
const MAX_STREAM_MS = 10 * 60_000
/** Silence after which the node's stream is reopened, in case the connection is dead. */
const STALL_MS = 150_000
/** Limit of bytes that a client may leave unread. */
const MAX_BACKLOG_BYTES = 16 * 1024

/**
 * Answers with an update stream. It ends when the visitor leaves, when the server stops, after MAX_STREAM_MS, or if it
 * is broken or silent while another node gives work. The page then opens a new one.
 * @throws Refused
 */
export async function openUpdates(gateway: Gateway, chainText: string | undefined, reply: FastifyReply): Promise<void> {
  const { client, chain, release } = await gateway.openStream(chainText)
  const { clock, stopped } = gateway
  const ended = new AbortController()
  const headers = { ...reply.getHeaders(), ...EVENT_STREAM_HEADERS }
  reply.hijack()
  const { raw } = reply
  const end = () => {
    if (ended.signal.aborted) return
    ended.abort()
    stopped.removeEventListener('abort', end)
    cancelEnd()
    cancelAlive()
    raw.end()
    release()
  }
  const cancelEnd = clock.after(MAX_STREAM_MS, end)
  let cancelAlive = () => undefined as unknown
  const send = (event: 'cut' | 'stands' | 'broken' | 'alive', data: string) => {
    if (ended.signal.aborted) return
    raw.write(`event: ${event}\ndata: ${data}\n\n`)
    if (raw.writableLength > MAX_BACKLOG_BYTES) raw.destroy()
    cancelAlive()
    cancelAlive = clock.after(ALIVE_MS, () => sendOrEnd('alive', String(chain)))
  }
  /** Sends the event if the node of the stream still gives work; otherwise ends the stream. */
  const sendOrEnd = (event: 'broken' | 'alive', data: string) => {
    void gateway.givesWork(client).then((givesWork) => (givesWork ? send(event, data) : end()))
  }
  // A visitor who left before the request was handled emits no further event.
  if (raw.destroyed || stopped.aborted) return end()
  raw.once('close', end)
  stopped.addEventListener('abort', end, { once: true })
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200)
  raw.flushHeaders()
  client.updates(chain, {
    signal: ended.signal,
    clock,
    stallMs: STALL_MS,
    onOpen: () => send('stands', String(chain)),
    onNewCut: () => send('cut', String(chain)),
    onError: (error) => sendOrEnd('broken', describeError(error)),
  })
}
