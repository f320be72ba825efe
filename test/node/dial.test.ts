/** Connections and the abort signal that ends them: the signal lives as long as the client, connections come and go. */
import { getEventListeners, once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type ConnectorFactory, createDial } from '../../src/client/node/dial.ts'
import { NodeHttp } from '../../src/client/node/http.ts'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))
const tls = { key: fixture('tls-test-key.pem'), cert: fixture('tls-test-cert.pem') }
const CONNECTIONS = 200

async function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A client, and the number of listeners on the signal of its connections. */
function clientOf(url: string): { readonly client: NodeHttp; readonly listeners: () => number } {
  const signals: AbortSignal[] = []
  const dial: ConnectorFactory = (signal) => {
    signals.push(signal)
    return createDial(new URL(url), { insecure: true })(signal)
  }
  const client = new NodeHttp({ url, dial })
  onTestFinished(() => client.close())
  return { client, listeners: () => getEventListeners(signals[0], 'abort').length }
}

const answer: http.RequestListener = (_request, response) => void response.end('here')
const servers = {
  http: () => http.createServer({ keepAlive: false }, answer),
  https: () => https.createServer(tls, answer),
}

test.each(['http', 'https'] as const)('closed %s connections leave nothing behind', async (protocol) => {
  const server = servers[protocol]()
  let connections = 0
  server.on('connection', () => connections++)
  // One request per connection.
  server.maxRequestsPerSocket = 1
  const { client, listeners } = clientOf(`${protocol}://127.0.0.1:${await listen(server)}`)
  const before = listeners()
  for (let i = 0; i < CONNECTIONS; i++) expect((await client.request({ path: '/' })).status).toBe(200)
  expect(connections).toBe(CONNECTIONS)
  await expect.poll(listeners).toBe(before)
})

test('failed connections leave nothing behind', async () => {
  const server = net.createServer()
  const port = await listen(server)
  server.close()
  const { client, listeners } = clientOf(`http://127.0.0.1:${port}`)
  const before = listeners()
  for (let i = 0; i < CONNECTIONS; i++) {
    await expect(client.request({ path: '/' })).rejects.toMatchObject({ reason: 'refused' })
  }
  await expect.poll(listeners).toBe(before)
})

test.each(['http', 'https'] as const)(
  '%s sockets end when the signal aborts, also one that is connecting',
  async (protocol) => {
    // The server never answers, so the TLS handshake never completes.
    let gone = 0
    const port = await listen(net.createServer((socket) => socket.resume().on('close', () => gone++)))
    const ends = new AbortController()
    const connect = createDial(new URL(`${protocol}://127.0.0.1`), {})(ends.signal)
    const target = { hostname: '127.0.0.1', host: '127.0.0.1', protocol: `${protocol}:`, port: String(port) }
    const result = new Promise<unknown>((resolve) => connect(target, (error, socket) => resolve(error ?? socket)))
    await expect.poll(() => getEventListeners(ends.signal, 'abort').length).toBe(1)
    if (protocol === 'http') expect(await result).toBeInstanceOf(net.Socket)
    const reason = new Error('it is over')
    ends.abort(reason)
    if (protocol === 'https') expect(await result).toBe(reason)
    else {
      const socket = (await result) as net.Socket
      socket.on('error', () => undefined)
      expect(socket.destroyed).toBe(true)
    }
    if (protocol === 'http') await expect.poll(() => gone).toBe(1)
    expect(getEventListeners(ends.signal, 'abort')).toHaveLength(0)
  },
)
