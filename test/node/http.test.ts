import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { createServer as createTlsServer, type SecureVersion } from 'node:tls'
import { inspect } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { NodeHttp, type NodeHttpOptions } from '../../src/client/node/http.ts'
import { UnreachableError, unreachable } from '../../src/client/node/unreachable.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { until } from '../wait.ts'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url))
const tls = { key: fixture('tls-test-key.pem'), cert: fixture('tls-test-cert.pem') }
/** A certificate for the same key, signed by `authority`. */
const signed = { key: tls.key, cert: fixture('tls-test-signed-cert.pem') }
const authority = fixture('tls-test-authority.pem').toString()
/** Fingerprint of tls-test-cert.pem, as openssl prints it. */
const FINGERPRINT = '7A:01:B8:6A:B1:9F:F2:5A:18:EB:8F:84:B7:E7:9C:FF:8A:BF:D9:25:12:EE:22:6E:B9:52:BC:34:1C:8C:1D:8D'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function listen(server: net.Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => undefined))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

function client(url: string, options: Omit<NodeHttpOptions, 'url'> = {}): NodeHttp {
  const node = new NodeHttp({ url, ...options })
  cleanups.push(() => node.close())
  return node
}

async function failure(promise: Promise<unknown>): Promise<UnreachableError> {
  const error: unknown = await promise.then(
    () => expect.unreachable('it should have failed'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UnreachableError)
  expect(error).toMatchObject({ code: 'NODE_UNREACHABLE', message: expect.not.stringContaining('\n') })
  return error as UnreachableError
}

interface Seen {
  method: string | undefined
  url: string | undefined
  headers: http.IncomingHttpHeaders
  body: string
}

/** A server that describes every request as JSON in its answer. */
const echo: http.RequestListener = async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { method, url, headers } = request
  const seen: Seen = { method, url, headers, body: Buffer.concat(chunks).toString('hex') }
  response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
  response.end(JSON.stringify(seen))
}

const parse = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString()) as Seen

test('the client opens new connections once an answer is overdue, because all existing ones may be dead', async () => {
  let isDead = false
  const old = new Set<net.Socket>()
  const server = http.createServer((request, response) => {
    if (isDead && old.has(request.socket)) return
    old.add(request.socket)
    response.end('here')
  })
  const clock = new VirtualClock()
  const node = client(`http://127.0.0.1:${await listen(server)}`, { clock })
  // The client holds four connections, and all of them die.
  await Promise.all([1, 2, 3, 4].map(() => node.request({ path: '/' })))
  expect(old.size).toBe(4)
  isDead = true
  const lost = node.request({ path: '/' })
  lost.catch(() => undefined)
  await clock.pass(1_100)
  const { status } = await node.request({ path: '/' })
  expect(status).toBe(200)
  expect(old.size).toBe(5)
})

test('a GET with a body arrives with its length, 20 times over one connection', async () => {
  const server = http.createServer(echo)
  const port = await listen(server)
  let connections = 0
  server.on('connection', () => connections++)
  const node = client(`http://127.0.0.1:${port}`)
  for (let i = 0; i < 20; i++) {
    const answer = await node.request({
      path: '/mining/work',
      query: { chain: i, none: undefined },
      body: Uint8Array.of(i, 0, 0, 0),
      contentType: 'application/octet-stream',
      accept: 'text/event-stream',
    })
    const seen = parse(answer.body)
    expect(seen).toMatchObject({ method: 'GET', url: `/mining/work?chain=${i}` })
    expect(seen.body).toBe(Buffer.of(i, 0, 0, 0).toString('hex'))
    expect(seen.headers).toMatchObject({
      'content-length': '4',
      'content-type': 'application/octet-stream',
      accept: 'text/event-stream',
    })
  }
  expect(connections).toBe(1)
})

test('an answer has status, joined headers, url, time and the bytes of its body', async () => {
  const clock = new VirtualClock()
  const node = client(`http://127.0.0.1:${await listen(http.createServer(echo))}/some/prefix/`, { clock })
  const answer = await node.request({ method: 'POST', path: '/a', body: '{"é":1}', contentType: 'application/json' })
  expect(answer.status).toBe(200)
  expect(answer.headers['set-cookie']).toBe('a=1,b=2')
  expect(answer.headers['x-missing']).toBeUndefined()
  expect(answer.url).toBe(`${node.baseUrl}/a`)
  expect(node.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/some\/prefix$/)
  expect(answer.receivedAtMs).toBe(clock.wallMs())
  expect(Object.getPrototypeOf(answer.body)).toBe(Uint8Array.prototype)
  const seen = parse(answer.body)
  expect(seen).toMatchObject({ method: 'POST', url: '/some/prefix/a' })
  expect(Buffer.from(seen.body, 'hex').toString()).toBe('{"é":1}')
})

test('an error status and an empty body are answers, not errors', async () => {
  const port = await listen(http.createServer((_, response) => response.writeHead(404).end()))
  const answer = await client(`http://127.0.0.1:${port}`).request({ path: '/' })
  expect(answer).toMatchObject({ status: 404, body: new Uint8Array(0) })
})

test('a body over its limit is refused with NODE_MISBEHAVED, and the client continues', async () => {
  const port = await listen(
    http.createServer((request, response) => {
      if (request.url === '/small') response.end('x'.repeat(1000))
      else if (request.url === '/declared') response.end('x'.repeat(1001))
      else for (let i = 0; i < 4; i++) response.write('x'.repeat(300))
    }),
  )
  const node = client(`http://127.0.0.1:${port}`, { maxBodyBytes: 1000 })
  for (const path of ['/declared', '/endless']) {
    await expect(node.request({ path })).rejects.toMatchObject({ name: 'NewcutError', code: 'NODE_MISBEHAVED' })
    expect((await node.request({ path: '/small' })).body).toHaveLength(1000)
  }
})

test('the timeout of a request covers headers and body', async () => {
  const asked: http.ServerResponse[] = []
  const port = await listen(http.createServer((_, response) => asked.push(response)))
  const clock = new VirtualClock()
  const node = client(`http://127.0.0.1:${port}`, { timeoutMs: 150, clock })
  const silent = () => undefined
  const drips = (response: http.ServerResponse) => void response.write('drip')
  for (const [call, answer] of [
    [() => node.request({ path: '/silent' }), silent],
    [() => node.request({ path: '/drips' }), drips],
    [() => node.stream({ path: '/silent' }), silent],
  ] as const) {
    const before = asked.length
    let isOver = false
    const failed = failure(call()).finally(() => {
      isOver = true
    })
    await until(() => asked.length > before)
    for (const passMs of [50, 50, 49]) {
      answer(asked[before])
      await clock.pass(passMs)
    }
    expect(isOver).toBe(false)
    await clock.pass(1)
    expect(await failed).toMatchObject({ reason: 'timeout' })
  }
})

test('a call rejects with the reason of its signal, in every phase', async () => {
  let isAsked = false
  const markAsked = () => {
    isAsked = true
  }
  const port = await listen(
    http.createServer((request, response) => {
      if (request.url === '/body') response.write('begun', markAsked)
      else markAsked()
    }),
  )
  const node = client(`http://127.0.0.1:${port}`)
  const newer = new Error('newer work')
  await expect(node.request({ path: '/', signal: AbortSignal.abort(newer) })).rejects.toBe(newer)
  for (const path of ['/headers', '/body']) {
    const controller = new AbortController()
    isAsked = false
    const aborted = expect(node.request({ path, signal: controller.signal })).rejects.toBe(newer)
    await until(() => isAsked)
    await settle()
    controller.abort(newer)
    await aborted
  }
})

test('a stream delivers bytes as they arrive, without timeout or limit', async () => {
  const sent: http.ServerResponse[] = []
  const port = await listen(
    http.createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('one')
      sent.push(response)
    }),
  )
  const clock = new VirtualClock()
  const node = client(`http://127.0.0.1:${port}`, { timeoutMs: 3_000, maxBodyBytes: 4, clock })
  const answer = await node.stream({ path: '/', body: Uint8Array.of(1, 0, 0, 0) })
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  const chunks = answer.body[Symbol.asyncIterator]()
  // Each part is sent once the one before has been read, so parts arrive one by one even on a slow machine.
  const read = async () => Buffer.from((await chunks.next()).value ?? []).toString()
  expect(await read()).toBe('one')
  sent[0].write('two')
  expect(await read()).toBe('two')
  const third = read()
  await clock.pass(86_400_000)
  sent[0].end('three')
  expect(await third).toBe('three')
  expect((await chunks.next()).done).toBe(true)
})

test('cancelling, aborting and leaving a stream each drop its connection', async () => {
  let connections = 0
  const server = http.createServer((_, response) => response.write('x')).on('connection', () => connections++)
  const port = await listen(server)
  const node = client(`http://127.0.0.1:${port}`)
  const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

  const cancelled = await node.stream({ path: '/' })
  cancelled.cancel()
  const left = await node.stream({ path: '/' })
  for await (const _ of left.body) break
  const controller = new AbortController()
  const aborted = await node.stream({ path: '/', signal: controller.signal })
  const reason = new Error('stop')
  let chunks = 0
  const readAll = async () => {
    for await (const chunk of aborted.body) chunks += chunk.length
  }
  const reading = expect(readAll()).rejects.toBe(reason)
  await until(() => chunks === 1)
  controller.abort(reason)
  await reading
  await expect.poll(open).toBe(0)
  // An undici Agent would have opened a new connection for each earlier call.
  const last = await node.stream({ path: '/' })
  expect(connections).toBe(4)
  last.cancel()
})

test('a connection that breaks within a body is an UnreachableError, not a short answer', async () => {
  const port = await listen(
    http.createServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy())
    }),
  )
  const error = await failure(client(`http://127.0.0.1:${port}`).request({ path: '/' }))
  expect(error).toMatchObject({ reason: 'disconnected', message: expect.stringContaining(`127.0.0.1:${port}`) })
})

test('UnreachableError names the kind of network failure, and hints at what to do', async () => {
  const closed = net.createServer()
  const port = await listen(closed)
  await cleanups.pop()?.()
  expect(await failure(client(`http://127.0.0.1:${port}`).request({ path: '/' }))).toMatchObject({
    reason: 'refused',
    message: `http://127.0.0.1:${port}: connection refused (ECONNREFUSED)`,
    hint: expect.stringContaining('is the node running'),
  })
  expect(await failure(client(`http://localhost:${port}`).request({ path: '/' }))).toMatchObject({ reason: 'refused' })
  // A label of a name has at most 63 characters, so this name fails at once, without a query to a slow resolver.
  const unknown = `http://${'x'.repeat(64)}.invalid:1848`
  expect(await failure(client(unknown).request({ path: '/' }))).toMatchObject({
    reason: 'unknown-host',
    message: expect.stringMatching(new RegExp(`^${unknown}: unknown host \\(E\\w+\\)$`)),
  })
  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    expect(unreachable('http://node', Object.assign(new Error('getaddrinfo'), { code }))).toMatchObject({
      reason: 'unknown-host',
      message: `http://node: unknown host (${code})`,
    })
  }
  const babble = await listen(net.createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')))
  expect(await failure(client(`http://127.0.0.1:${babble}`).request({ path: '/' }))).toMatchObject({
    reason: 'not-http',
  })
  const rude = await listen(net.createServer((socket) => socket.once('data', () => socket.destroy())))
  expect(await failure(client(`http://127.0.0.1:${rude}`).request({ path: '/' }))).toMatchObject({
    reason: 'disconnected',
  })
})

test('a TLS handshake that never ends is timed out', async () => {
  const port = await listen(net.createServer())
  const node = client(`https://127.0.0.1:${port}`, { connectTimeoutMs: 200 })
  expect(await failure(node.request({ path: '/' }))).toMatchObject({ reason: 'timeout' })
})

test('UnreachableError says when http and https were confused', async () => {
  const plain = await listen(http.createServer(echo))
  expect(await failure(client(`https://127.0.0.1:${plain}`).request({ path: '/' }))).toMatchObject({
    reason: 'not-tls',
    message: expect.stringContaining('not TLS on that port'),
    hint: expect.stringContaining('http://'),
  })
  const secure = await listen(https.createServer(tls, echo))
  const error = await failure(client(`http://127.0.0.1:${secure}`).request({ path: '/' }))
  expect(error.hint).toContain('https://')
})

test('an untrusted certificate is refused with a hint, unless insecure', async () => {
  const port = await listen(https.createServer(tls, echo))
  expect(await failure(client(`https://localhost:${port}`).request({ path: '/' }))).toMatchObject({
    reason: 'untrusted',
    message: expect.stringContaining('certificate not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'),
    hint: expect.stringMatching(/`fingerprint: SHA256`.*`insecure: true`/),
  })
  const answer = await client(`https://localhost:${port}`, { insecure: true }).request({ path: '/' })
  expect(answer.status).toBe(200)
})

test('a pinned fingerprint is checked on every connection, in each spelling', async () => {
  const server = https.createServer(tls, echo)
  const port = await listen(server)
  let connections = 0
  server.on('secureConnection', () => connections++)
  const hex = FINGERPRINT.replaceAll(':', '')
  const right = [FINGERPRINT, hex, hex.toLowerCase(), Buffer.from(hex, 'hex').toString('base64url')]
  for (const fingerprint of right) {
    const node = client(`https://127.0.0.1:${port}`, { fingerprint })
    // If the second connection resumed the TLS session of the first, a certificate to compare would be missing.
    const before = connections
    const lost = new Promise<void>((resolve) => node.onLost(resolve, new AbortController().signal))
    expect((await node.request({ path: '/' })).status).toBe(200)
    server.closeAllConnections()
    await lost
    expect((await node.request({ path: '/', body: 'x' })).status).toBe(200)
    expect(connections).toBe(before + 2)
  }
})

test('the client reports connections that the server ends, idle or not, except a graceful end or its own', async () => {
  const server = http.createServer((request, response) => {
    if (request.url === '/hang') return
    if (request.url === '/last') response.setHeader('connection', 'close')
    response.end('there')
  })
  const node = client(`http://127.0.0.1:${await listen(server)}`)
  let lost = 0
  let all = 0
  const heard = new AbortController()
  node.onLost(() => lost++, heard.signal)
  node.onLost(() => all++, new AbortController().signal)
  const ended = async (path: string, end: () => void) => {
    const stop = new AbortController()
    const request = node.request({ path, signal: stop.signal }).catch(() => undefined)
    if (path !== '/hang') await request
    else await new Promise((resolve) => server.once('request', resolve))
    if (end === abort) stop.abort(new Error('enough'))
    else end()
    await request
  }
  const abort = () => undefined
  const kill = () => server.closeAllConnections()
  await ended('/', kill)
  await expect.poll(() => lost).toBe(1)
  await ended('/hang', kill)
  await expect.poll(() => lost).toBe(2)
  await ended('/hang', abort)
  await ended('/last', () => undefined)
  // Those two would be reported before this one.
  await ended('/', kill)
  await until(() => all > 2)
  expect(lost).toBe(3)
  expect(all).toBe(3)
  heard.abort()
  await ended('/', kill)
  await until(() => all > 3)
  expect(lost).toBe(3)
  expect(all).toBe(4)
})

/** A TLS server that records what arrives within TLS. `ended` counts closed connections. */
async function recordingServer({ maxVersion = 'TLSv1.3' as SecureVersion, host = '127.0.0.1' } = {}) {
  const seen = { ended: 0, bytes: '' }
  const server = createTlsServer({ ...tls, maxVersion }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      seen.bytes += chunk.toString('latin1')
    })
  })
  server.on('connection', (socket) => socket.on('close', () => seen.ended++))
  return { seen, url: `https://${host}:${await listen(server, host)}` }
}

const versions = ['TLSv1.2', 'TLSv1.3'] as const
test.each(versions)(
  'a wrong fingerprint is refused even when insecure, before a byte is sent over %s',
  async (version) => {
    const { seen, url } = await recordingServer({ maxVersion: version })
    const node = client(url, { fingerprint: '00'.repeat(32), insecure: true })
    const call = { path: '/secret-path', body: 'secret-body', method: 'POST' } as const
    for (const sent of [node.request(call), node.stream(call), node.request(call)]) {
      expect(await failure(sent)).toMatchObject({
        reason: 'fingerprint',
        message: expect.stringMatching(/fingerprint mismatch, its certificate has 7a01b86a\w+, not the pinned 0000/),
      })
    }
    await expect.poll(() => seen).toEqual({ ended: 3, bytes: '' })
    // The same server receives the request of a client that accepts its certificate.
    const trusting = client(url, { fingerprint: FINGERPRINT })
    const cut = new AbortController()
    const open = trusting.request({ ...call, signal: cut.signal }).catch(() => undefined)
    await expect.poll(() => seen.bytes).toMatch(/^POST \/secret-path [\s\S]*secret-body$/)
    cut.abort()
    await open
  },
)

test('a certificate signed by a given authority is trusted, and no other', async () => {
  const port = await listen(https.createServer(signed, echo))
  const url = `https://localhost:${port}`
  expect(await failure(client(url).request({ path: '/' }))).toMatchObject({ reason: 'untrusted' })
  for (const ca of [authority, `# comment\r\n${tls.cert}\n${authority}`]) {
    const node = client(url, { ca })
    expect((await node.request({ path: '/' })).status).toBe(200)
    expect((await node.stream({ path: '/' })).status).toBe(200)
  }
  // An authority that did not sign this certificate.
  expect(await failure(client(url, { ca: tls.cert.toString() }).request({ path: '/' }))).toMatchObject({
    reason: 'untrusted',
    hint: expect.stringContaining('`ca: FILE`'),
  })
  const selfSigned = `https://localhost:${await listen(https.createServer(tls, echo))}`
  expect(await failure(client(selfSigned, { ca: authority }).request({ path: '/' }))).toMatchObject({
    reason: 'untrusted',
  })
  expect((await client(selfSigned, { ca: tls.cert.toString() }).request({ path: '/' })).status).toBe(200)
})

test('a given authority does not make a certificate good for another host, before a byte is sent', async () => {
  // The certificate is valid for localhost and 127.0.0.1 only.
  const { seen, url } = await recordingServer({ host: '127.0.0.2' })
  const node = client(url, { ca: tls.cert.toString() })
  expect(await failure(node.request({ path: '/' }))).toMatchObject({
    reason: 'untrusted',
    message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
  })
  await expect.poll(() => seen).toEqual({ ended: 1, bytes: '' })
})

test('NodeHttp refuses options that cannot work with BAD_OPTION', () => {
  const bad: NodeHttpOptions[] = [
    { url: 'localhost:1848' },
    { url: 'ftp://localhost' },
    { url: '' },
    { url: 'http://user:word@localhost' },
    { url: 'http://localhost/?a=1' },
    { url: 'http://localhost', fingerprint: FINGERPRINT },
    { url: 'https://localhost', fingerprint: FINGERPRINT.slice(3) },
    { url: 'https://localhost', fingerprint: 'g'.repeat(64) },
    { url: 'http://localhost', ca: authority },
    { url: 'https://localhost', ca: authority, insecure: true },
    { url: 'https://localhost', ca: '' },
    { url: 'https://localhost', ca: tls.key.toString() },
    { url: 'https://localhost', ca: authority.replace('MII', 'MIX') },
    { url: 'http://localhost', timeoutMs: Number.POSITIVE_INFINITY },
    { url: 'http://localhost', timeoutMs: -1 },
    { url: 'http://localhost', timeoutMs: Number.NaN },
    { url: 'http://localhost', connectTimeoutMs: 2 ** 31 },
  ]
  for (const options of bad) {
    expect(() => new NodeHttp(options)).toThrow(expect.objectContaining({ name: 'NewcutError', code: 'BAD_OPTION' }))
  }
})

test.each([
  'http://me:hunter2@node',
  'https://hunter2@node:1',
  'ftp://me:hunter2@node',
  'me:hunter2@node:1848',
  'http://me:hunter2@node:port',
  'http://node/?key=hunter2',
  'http://node/#hunter2',
  'http://no de/?key=hunter2',
])('NodeHttp refuses %s without repeating what is secret', (url) => {
  const error: unknown = (() => {
    try {
      return new NodeHttp({ url })
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toMatchObject({ code: 'BAD_OPTION' })
  expect(inspect(error)).not.toContain('hunter2')
})

test('NodeHttp refuses a timeout longer than timers can wait', async () => {
  const node = new NodeHttp({ url: 'http://127.0.0.1:1' })
  const late = { path: '/', timeoutMs: 2 ** 31 }
  for (const call of [node.request(late), node.stream(late)]) {
    await expect(call).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: '`timeoutMs` 2147483648 is not a time from 0 to 2147483647 ms',
    })
  }
  await node.close()
})

test('close() ends open calls at once, and later calls too', async () => {
  const port = await listen(
    http.createServer((request, response) => {
      if (request.url === '/stream') response.write('x')
    }),
  )
  const abort = new AbortController()
  for (const viaSignal of [false, true]) {
    const node = client(`http://127.0.0.1:${port}`, viaSignal ? { signal: abort.signal } : {})
    const pending = failure(node.request({ path: '/' }))
    const stream = await node.stream({ path: '/stream' })
    const reading = failure(
      (async () => {
        for await (const chunk of stream.body) expect(chunk).toHaveLength(1)
      })(),
    )
    if (viaSignal) abort.abort()
    else await node.close()
    expect(await pending).toMatchObject({ reason: 'closed' })
    expect(await reading).toMatchObject({ reason: 'closed' })
    expect(await failure(node.request({ path: '/' }))).toMatchObject({ reason: 'closed' })
  }
})
