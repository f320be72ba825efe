import net from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type App, createApp, type ServedStream, serveEventStream } from '../../src/devnet/http/app.ts'
import { until } from '../wait.ts'
import { OpenResponse } from './request.ts'

/** A server with a single path, /stream, that opens an event stream after `before`. */
async function serve(before: (socketClosed: Promise<unknown>) => unknown = () => undefined) {
  const app: App = createApp({ product: 'chainweb', packageVersion: '0', nowMs: Date.now })
  const sockets: net.Socket[] = []
  app.server.on('connection', (socket) => void sockets.push(socket))
  const seen = { closed: 0, stream: null as ServedStream | null }
  app.get('/stream', async (request, reply) => {
    await before(new Promise((resolve) => request.raw.socket.once('close', resolve)))
    seen.stream = serveEventStream(reply, () => seen.closed++)
    return reply
  })
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/stream`
  onTestFinished(() => app.close())
  return { url, seen, sockets }
}

it('a stream ends after all events that were sent before; later ones are lost', async () => {
  const { url, seen } = await serve()
  const response = await OpenResponse.open(url)
  seen.stream?.send('event:a\n\n')
  seen.stream?.close()
  seen.stream?.send('event:b\n\n')
  seen.stream?.close()
  await response.closed
  expect(response.text).toBe('event:a\n\n')
  await until(() => seen.closed > 0)
  seen.stream?.send('event:c\n\n')
  await turn()
  expect(seen.closed).toBe(1)
})

it('a stream ends at once if its reader left before it was opened', async () => {
  const { url, seen } = await serve((socketClosed) => {
    socket.destroy()
    return socketClosed
  })
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('GET /stream HTTP/1.1\r\nhost: node\r\n\r\n')
  await until(() => seen.stream !== null)
  expect(seen.closed).toBe(1)
  seen.stream?.send('event:a\n\n')
  await turn()
  expect(seen.closed).toBe(1)
})

it('a stream drops a reader that does not read', async () => {
  const { url, seen } = await serve()
  const response = await OpenResponse.open(url)
  response.pause()
  const event = `event:${'x'.repeat(256 * 1024)}\n\n`
  for (let sent = 0; seen.closed === 0; sent++) {
    expect(sent).toBeLessThan(200)
    seen.stream?.send(event)
    await turn()
  }
  response.destroy()
  seen.stream?.send(event)
  await turn()
  expect(seen.closed).toBe(1)
})

it('a stream that has ended closes after some seconds if its reader does not read', async () => {
  const { url, seen, sockets } = await serve()
  const response = await OpenResponse.open(url)
  response.pause()
  const event = `event:${'x'.repeat(256 * 1024)}\n\n`
  const [socket] = sockets
  while (socket.writableLength === 0) {
    seen.stream?.send(event)
    await turn()
  }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  seen.stream?.close()
  await turn()
  expect(seen.closed).toBe(0)
  vi.advanceTimersByTime(5000)
  while (seen.closed === 0) await turn()
  response.destroy()
})
