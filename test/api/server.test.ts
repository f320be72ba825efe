/** Which requests the HTTP server of a miner accepts, and its limits. */
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { foreignHostReason } from '../../src/faces/api/host-check.ts'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { type ApiAddress, type ServedPart, startApi } from '../../src/faces/api/server.ts'
import { outerAddress } from '../addresses.ts'
import { Peer } from '../devnet/request.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const snapshot = snapshotWith()

const page: ServedPart = {
  path: '/page',
  addTo: (app) => void app.post('/page', (_request, reply) => reply.send('page')),
}

async function start(address: Partial<ApiAddress> = {}): Promise<Peer> {
  const metrics = new Metrics(() => snapshot, '0.0.0')
  const api = await startApi({ host: '127.0.0.1', port: 0, ...address }, () => snapshot, metrics, page)
  const peer = new Peer(api.url)
  onTestFinished(async () => {
    peer.close()
    await api.close()
  })
  return peer
}

/** Sends raw bytes. Resolves with everything received until the connection closes. */
function sendRaw({ url }: Peer, text: string): Promise<string> {
  const { hostname: host, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), host, () => socket.write(text))
    onTestFinished(() => void socket.destroy())
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

const paths = ['/metrics', '/healthz', '/api/summary', '/page', '/nothing']

describe('a server on a loopback address', () => {
  it('a server on a loopback address answers requests for this machine at any port', async () => {
    const peer = await start()
    for (const host of ['localhost:4148', 'LOCALHOST', '127.0.0.1', '127.0.0.1:1', '[::1]:4148', '127.9.9.9']) {
      expect((await peer.get('/healthz', { headers: { host } })).status, host).toBe(200)
    }
  })

  it.each(['evil.example', 'evil.example:4148', '10.0.0.1:4148', 'localhost.evil.example', '[fd00::1]', 'rig.lan'])(
    'a server on a loopback address refuses all requests for %s with 403, and says what would be right',
    async (host) => {
      const peer = await start()
      for (const path of paths) {
        const method = path === '/page' ? 'POST' : 'GET'
        const { status, body } = await peer.request(method, path, { headers: { host } })
        const text = body.toString()
        expect(text, path).toContain('expected localhost, 127.0.0.1')
        expect(status, path).toBe(403)
        expect(JSON.parse(text)).toEqual({ error: expect.stringContaining('--http NAME:PORT') })
        expect(text).not.toContain('newcut_')
      }
    },
  )

  it('a server on a loopback address refuses a request without a host', async () => {
    const peer = await start()
    expect(await sendRaw(peer, 'GET /metrics HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 [\s\S]*names no host/)
    expect(await sendRaw(peer, 'GET /metrics HTTP/1.1\r\nhost: \r\nconnection: close\r\n\r\n')).toMatch(/ 403 /)
  })
})

describe('a server that other machines may reach', () => {
  it('a server that other machines may reach answers requests for its addresses and its name, and refuses other names', async (context) => {
    const outer = outerAddress()
    if (outer === undefined) return context.skip('this machine has no address but loopback')
    const local = await start({ host: '0.0.0.0' })
    const peer = new Peer(local.url.replace('0.0.0.0', outer))
    onTestFinished(() => peer.close())
    for (const host of [undefined, outer, `${hostname()}:4148`, 'localhost']) {
      const { status } = await peer.get('/metrics', { headers: host === undefined ? {} : { host } })
      expect(status, host).toBe(200)
    }
    const refused = await peer.get('/metrics', { headers: { host: 'evil.example' } })
    expect(JSON.parse(refused.body.toString())).toEqual({
      error: expect.stringContaining(`expected an IP address, localhost or ${hostname()} in the URL`),
    })
    expect(refused.status).toBe(403)
  })

  it.each([
    ['rig.lan:4148', 'rig.lan', true],
    ['RIG.lan', 'Rig.LAN', true],
    ['rig7:80', '0.0.0.0', true],
    ['[2001:db8::1]:80', '::', true],
    ['192.0.2.1', '192.0.2.7', true],
    ['other.lan', 'rig.lan', false],
    ['rig7.evil.example', '0.0.0.0', false],
    ['192.0.2.1.evil.example', '0.0.0.0', false],
  ])('a request for host %s is answered at --http %s: %s', (header, listening, isAnswered) => {
    expect(foreignHostReason(header, listening, 'rig7') === null).toBe(isAnswered)
  })

  it('the refusal of a long host repeats only its beginning', () => {
    expect(foreignHostReason('x'.repeat(10_000), '127.0.0.1', 'rig7')?.length).toBeLessThan(400)
  })
})

describe('a server', () => {
  it('the server sends metrics with the type of Prometheus, and lists its endpoints for unknown paths', async () => {
    const peer = await start()
    expect((await peer.get('/metrics')).headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    const { status, body } = await peer.get('/nothing')
    expect(JSON.parse(body.toString())).toEqual({
      error: 'not found',
      endpoints: ['/metrics', '/healthz', '/api/summary', '/page'],
    })
    expect(status).toBe(404)
  })

  it('the server has a page for browsers at a path that it does not serve, with a guess', async () => {
    const peer = await start()
    const { status, headers, body } = await peer.get('/helthz', { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([status, headers['content-type']]).toEqual([404, 'text/html;charset=utf-8'])
    expect(body.toString()).toContain('Did you mean <a href="/healthz">/healthz</a>?')
    expect(body.toString()).toContain('<a href="/api/summary">Figures as JSON</a>')
  })

  it('the error about an address in use names the address, and how to choose another', async () => {
    const { url } = await start()
    const port = Number(new URL(url).port)
    await expect(start({ port })).rejects.toMatchObject({
      code: 'PORT_BUSY',
      message: expect.stringContaining(`cannot serve metrics on 127.0.0.1:${port}: `),
      hint: expect.stringContaining('`http: off`'),
    })
  })

  it('the URL of the server has brackets around an IPv6 address', async (context) => {
    const peer = await start({ host: '::1' }).catch(() => context.skip('this machine has no IPv6'))
    expect(peer.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await peer.get('/healthz')).status).toBe(200)
  })
})

describe('a server that closes', () => {
  /** A server with a page that never finishes, and a count of its requests. */
  async function closing() {
    let asked: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => (asked = resolve))
    const slow: ServedPart = {
      path: '/slow',
      addTo: (app) => void app.get('/slow', () => new Promise(() => asked())),
    }
    const api = await startApi(
      { host: '127.0.0.1', port: 0 },
      () => snapshot,
      new Metrics(() => snapshot, '0.0.0'),
      slow,
    )
    return { api, isAsked }
  }

  it('a server that closes does not wait for incomplete requests', async () => {
    const { api } = await closing()
    const { hostname: host, port } = new URL(api.url)
    const socket = connect(Number(port), host)
    onTestFinished(() => void socket.destroy())
    const ended = new Promise((resolve) => socket.on('close', resolve))
    socket.on('error', () => undefined)
    // The first request is answered, so the incomplete second one has arrived too.
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /metrics HTTP/1.1\r\nhost: loc')
    await new Promise((resolve) => socket.once('data', resolve))
    await api.close()
    await ended
  })

  it('a server that closes does not wait for pending answers', async () => {
    const { api, isAsked } = await closing()
    const failed = expect(fetch(`${api.url}/slow`)).rejects.toThrow()
    await isAsked
    await api.close()
    await failed
  })
})

describe('a server has limits:', () => {
  const head = 'host: localhost\r\n'

  it('the server answers headers of more than 16 KiB with 431', async () => {
    const peer = await start()
    const text = `GET /metrics HTTP/1.1\r\n${head}x: ${'y'.repeat(17_000)}\r\n\r\n`
    expect(await sendRaw(peer, text)).toMatch(/^HTTP\/1\.1 431 /)
    expect((await peer.get('/healthz')).status).toBe(200)
  })

  it('the server answers a body of more than 1 KiB with 413', async () => {
    const peer = await start()
    const headers = { 'content-type': 'application/json' }
    const small = await peer.request('POST', '/page', { headers, body: JSON.stringify('x'.repeat(900)) })
    expect(small.status).toBe(200)
    const large = await peer.request('POST', '/page', { headers, body: JSON.stringify('x'.repeat(1100)) })
    expect(large.status).toBe(413)
  })

  it.each([
    ['headers', `GET /metrics HTTP/1.1\r\n${head}`],
    ['a body', `POST /page HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 20\r\n\r\n`],
  ])('the server answers %s that do not arrive in time with 408, and closes the connection', async (_, text) => {
    expect(await sendRaw(await start({ requestTimeoutMs: 200 }), text)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('the server closes a connection without any data', async () => {
    await sendRaw(await start({ requestTimeoutMs: 200 }), '')
  })

  /** A server with few connections and an endless stream, and a reader of that stream. */
  async function streaming(maxConnections: number) {
    const stream: ServedPart = {
      path: '/stream',
      addTo: (app) =>
        void app.get('/stream', (_request, reply) => {
          reply.hijack()
          reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
          reply.raw.write('event: first\n\n')
        }),
    }
    const address = { host: '127.0.0.1', port: 0, maxConnections }
    const api = await startApi(address, () => snapshot, new Metrics(() => snapshot, '0.0.0'), stream)
    onTestFinished(() => api.close())
    const read = async () => {
      const { url } = api
      const end = new AbortController()
      onTestFinished(() => end.abort())
      const { body } = await fetch(`${url}/stream`, { signal: end.signal })
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toBe('event: first\n\n')
      return { end, next: () => reader.read().then(({ done }) => `ended: ${done}`, String) }
    }
    return { url: api.url, read }
  }

  /** Opens idle connections, each accepted. `closed` lists the numbers of closed ones, in order. */
  async function idle(url: string, count: number) {
    const { hostname: host, port } = new URL(url)
    const closed: number[] = []
    for (let i = 0; i < count; i++) {
      const socket = connect(Number(port), host)
      onTestFinished(() => void socket.destroy())
      socket.on('error', () => undefined).on('close', () => closed.push(i))
      await new Promise((resolve) => socket.once('connect', resolve))
    }
    return closed
  }

  it('300 idle connections keep nobody out, and the oldest are closed first', async () => {
    const peer = await start({ requestTimeoutMs: 60_000 })
    const closed = await idle(peer.url, 300)
    expect((await peer.get('/healthz')).status).toBe(200)
    // 256 stay open: 255 idle connections and the one that was answered.
    await expect.poll(() => closed.length).toBe(45)
    expect(closed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 45 }, (_, i) => i))
    expect((await peer.get('/healthz')).status).toBe(200)
  })

  it('a recently used connection outlives one that was idle before', async () => {
    const peer = await start({ maxConnections: 3 })
    expect((await peer.get('/healthz')).status).toBe(200)
    const closed = await idle(peer.url, 2)
    // This connection is the oldest, but also the most recently used.
    expect((await peer.get('/healthz')).status).toBe(200)
    const other = new Peer(peer.url)
    onTestFinished(() => other.close())
    expect((await other.get('/healthz')).status).toBe(200)
    await expect.poll(() => closed).toEqual([0])
  })

  it('a closed connection frees its place', async () => {
    const peer = await start({ maxConnections: 3 })
    const first = await peer.get('/healthz')
    for (let i = 0; i < 6; i++) {
      // The server may notice the close a moment later, so one of them may still count.
      await sendRaw(peer, 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    }
    expect((await peer.get('/healthz')).from).toBe(first.from)
  })

  it('the end of a connection ends the requests that wait behind another on it', async () => {
    let open = 0
    const stream: ServedPart = {
      path: '/stream',
      addTo: (app) =>
        void app.get('/stream', (_request, reply) => {
          reply.hijack()
          reply.raw.once('close', () => open--)
          reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
          reply.raw.write(`event: ${++open}\n\n`)
        }),
    }
    const api = await startApi({ host: '127.0.0.1', port: 0 }, () => snapshot, new Metrics(() => snapshot, '0'), stream)
    onTestFinished(() => api.close())
    const { hostname: host, port } = new URL(api.url)
    const socket = connect(Number(port), host)
    socket.write(`GET /stream HTTP/1.1\r\n${head}\r\n`.repeat(40))
    await expect.poll(() => open).toBe(40)
    socket.destroy()
    await expect.poll(() => open).toBe(0)
  })

  it('event streams are not idle: the server closes connections above the limit, and existing ones continue', async () => {
    const { url, read } = await streaming(2)
    const [first, second] = [await read(), await read()]
    let isEnded = false
    void Promise.race([first.next(), second.next()]).then(() => (isEnded = true))
    const third = new Peer(url)
    onTestFinished(() => third.close())
    await expect(third.get('/healthz')).rejects.toThrow()
    expect(isEnded).toBe(false)
    second.end.abort()
    await expect.poll(() => third.get('/healthz').then(({ status }) => status, String)).toBe(200)
    // The answered connection is idle and gets evicted; the stream continues.
    const fourth = new Peer(url)
    onTestFinished(() => fourth.close())
    expect((await fourth.get('/healthz')).status).toBe(200)
    await expect(Promise.race([first.next(), Promise.resolve('goes on')])).resolves.toBe('goes on')
  })
})
