import { spawn } from 'node:child_process'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type EventStreamOptions, openEventStream } from '../../src/client/node/event-stream.ts'
import { type HttpStream, MAX_TIMEOUT_MS, NodeHttp } from '../../src/client/node/http.ts'
import type { NewcutError } from '../../src/ground/base/errors.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { freePort } from '../ports.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

interface RawServer {
  port: number
  /** The number of accepted connections. */
  connections: number
  requests: string[]
  open: Set<net.Socket>
  close(): Promise<void>
}

type Script = (socket: net.Socket) => unknown

/** Runs the n-th script for the n-th request, with raw bytes on the socket; later requests get the last script. */
async function serve(scripts: Script[], port = 0): Promise<RawServer> {
  const server = net.createServer((socket) => {
    raw.connections++
    raw.open.add(socket)
    const script = scripts[Math.min(raw.connections, scripts.length) - 1]
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => raw.open.delete(socket))
    socket.once('data', (bytes) => {
      raw.requests.push(bytes.toString('latin1'))
      script(socket)
    })
  })
  const raw: RawServer = {
    port: 0,
    connections: 0,
    requests: [],
    open: new Set(),
    close: async () => {
      for (const socket of raw.open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  raw.port = (server.address() as AddressInfo).port
  cleanups.push(raw.close)
  return raw
}

function open(port: number, options: Partial<EventStreamOptions> = {}) {
  const node = new NodeHttp({ url: `http://127.0.0.1:${port}` })
  const log: string[] = []
  const errors: NewcutError[] = []
  const delaysMs: number[] = []
  const stream = openEventStream({
    http: node,
    path: '/mining/updates',
    body: Uint8Array.of(7, 0, 0, 0),
    events: ['New Cut', 'Refreshed Block', 'BlockHeader'],
    onOpen: () => log.push('open'),
    onEvent: (name, data) => log.push(data === '' ? name : `${name} ${data}`),
    onError: (error, retryInMs) => {
      log.push('error')
      errors.push(error)
      delaysMs.push(retryInMs)
    },
    clock: systemClock,
    random: () => 0.1,
    ...options,
  })
  cleanups.push(() => {
    stream.close()
    return node.close()
  })
  return {
    stream,
    node,
    log,
    errors,
    delaysMs,
    events: () => log.filter((line) => line !== 'open' && line !== 'error'),
  }
}

const stay: Script = (socket) => socket.write(`${HEAD}event:New Cut\n\n`)
const until = (check: () => unknown, value: unknown) => expect.poll(check, { interval: 5 }).toEqual(value)

/** Waits for the n-th failure and the pause after it, and lets the pause pass. */
async function passPause(stream: Pick<ReturnType<typeof open>, 'delaysMs'>, clock: VirtualClock, n: number) {
  await until(() => [stream.delaysMs.length, clock.pending], [n, 1])
  await clock.pass(stream.delaysMs[n - 1])
}

test('a stream delivers events without data, with and without the space, in every split', async () => {
  const bytes = Buffer.from(
    `${HEAD}event:New Cut\n\n: keep-alive\n\nevent: Refreshed Block\r\n\r\nevent:Unknown\n\n` +
      `event:BlockHeader\ndata:{"é":1}\n\nevent:New Cut\n\n`,
  )
  for (const step of [1, 2, 3, 7, bytes.length]) {
    const server = await serve([
      async (socket) => {
        for (let i = 0; i < bytes.length; i += step) {
          socket.write(bytes.subarray(i, i + step))
          await new Promise(setImmediate)
        }
      },
    ])
    const { log, stream } = open(server.port)
    await until(() => log, ['open', 'New Cut', 'Refreshed Block', 'BlockHeader {"é":1}', 'New Cut'])
    expect(server.requests[0]).toMatch(/^GET \/mining\/updates HTTP\/1\.1\r\n/)
    stream.close()
  }
})

test('the GET carries the chain id as its body', async () => {
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { accept, 'content-length': length, 'content-type': type } = request.headers
    response.writeHead(200, { 'content-type': 'Text/Event-Stream;charset=utf-8' })
    const seen = JSON.stringify([request.method, accept, length, type, Buffer.concat(chunks).toString('hex')])
    response.write(`event:BlockHeader\ndata:${seen}\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => server.close())
  const { events } = open((server.address() as AddressInfo).port)
  await until(events, ['BlockHeader ["GET","text/event-stream","4","application/octet-stream","07000000"]'])
})

test('a stream that ends after a second is reopened at once, without an error', async () => {
  const server = await serve([stay])
  const clock = new VirtualClock()
  const { log } = open(server.port, { random: () => 0.99, clock })
  await until(() => log, ['open', 'New Cut'])
  await clock.pass(1_000)
  // The clock stands still from here: a pause would never end.
  for (const socket of server.open) socket.end('event:Refreshed Block\n\nevent:New')
  await until(() => log, ['open', 'New Cut', 'Refreshed Block', 'open', 'New Cut'])
})

test("a server's own retry line does not delay the reopening", async () => {
  const server = await serve([(socket) => socket.write(`${HEAD}retry:60000\n\n`), stay])
  const clock = new VirtualClock()
  const { log } = open(server.port, { clock })
  await until(() => log, ['open'])
  await clock.pass(1_000)
  for (const socket of server.open) socket.end()
  await until(() => log, ['open', 'open', 'New Cut'])
})

test('a server that ends every stream at once is asked again after growing pauses', async () => {
  const server = await serve([(socket) => socket.end(`${HEAD}event:New Cut\n\n`)])
  const clock = new VirtualClock()
  const { errors, delaysMs } = open(server.port, { random: () => 0.999, maxBackoffMs: 600, clock })
  for (const [i, delayMs] of [250, 500, 600, 600].entries()) {
    await until(() => [delaysMs.length, clock.pending], [i + 1, 1])
    expect(delaysMs[i]).toBe(delayMs)
    await clock.pass(delayMs - 1)
    expect(server.connections).toEqual(i + 1)
    expect(clock.pending).toBe(1)
    await clock.pass(1)
  }
  expect(errors[0]).toMatchObject({ code: 'NODE_MISBEHAVED', message: expect.stringContaining('ended the stream') })
})

test('a good stream that breaks is reopened at once: a node breaks the streams of miners that it forgets', async () => {
  let breakOff: () => void = () => undefined
  const server = await serve([
    (socket) => {
      // In chunks, as nodes send: otherwise the end of the connection would be the end of the stream.
      socket.write(`${HEAD.replace(/\r\n\r\n$/, '\r\ntransfer-encoding: chunked\r\n\r\n')}f\r\nevent:New Cut\n\n\r\n`)
      breakOff = () => socket.destroy()
    },
    stay,
  ])
  const clock = new VirtualClock()
  const { log, delaysMs } = open(server.port, { random: () => 0.999, clock })
  await until(() => log, ['open', 'New Cut'])
  await clock.pass(1000)
  breakOff()
  await until(() => log, ['open', 'New Cut', 'error', 'open', 'New Cut'])
  expect(delaysMs).toEqual([0])
  expect(clock.pending).toBe(0)
})

test('a stream reports error statuses with the beginning of their body, and tries again', async () => {
  const refuse = (status: string, body: string): Script => {
    return (socket) => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  }
  const server = await serve([
    refuse('503 Service Unavailable', 'No more update streams available currently. Retry later.\n'),
    refuse('404 Not Found', ''),
    refuse('403 Forbidden', 'x'.repeat(100_000)),
    refuse('204 No Content', ''),
    refuse('302 Found', ''),
    stay,
  ])
  const clock = new VirtualClock()
  const stream = open(server.port, { clock })
  const { log, errors, delaysMs } = stream
  for (let n = 1; n <= 5; n++) await passPause(stream, clock, n)
  await until(() => log, ['error', 'error', 'error', 'error', 'error', 'open', 'New Cut'])
  expect(errors.map((error) => error.code)).toEqual(Array(5).fill('NODE_REFUSED'))
  const url = `http://127.0.0.1:${server.port}/mining/updates`
  expect(errors[0].message).toBe(`${url} answered 503: No more update streams available currently. Retry later.`)
  expect(errors[1].message).toBe(`${url} answered 404`)
  expect(errors[2].message).toBe(`${url} answered 403: ${'x'.repeat(199)}…`)
  expect(delaysMs).toEqual([25, 50, 100, 200, 400])
})

test('an error body without end does not keep the stream from trying again', async () => {
  const server = await serve([(socket) => socket.write('HTTP/1.1 500 Oops\r\n\r\nbroken'), stay])
  const clock = new VirtualClock()
  const stream = open(server.port, { clock })
  const { log, errors } = stream
  // The body timeout is set.
  await until(() => clock.pending, 1)
  await clock.pass(999)
  expect(log).toEqual([])
  await clock.pass(1)
  await passPause(stream, clock, 1)
  await until(() => log, ['error', 'open', 'New Cut'])
  expect(errors[0].message).toMatch(/answered 500: broken \(cut off: .+\)$/)
})

test('a stream reports a wrong content type, and tries again', async () => {
  const wrong: Script = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>\r\n login')
  const server = await serve([wrong, (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), stay])
  const { log, errors } = open(server.port)
  await until(() => log, ['error', 'error', 'open', 'New Cut'])
  expect(errors[0]).toMatchObject({
    code: 'NODE_MISBEHAVED',
    message: expect.stringMatching(/content type text\/html is not an event stream: <html> login$/),
  })
  expect(errors[1].message).toContain('content type none')
})

test('a stream tries a node that is down until it is up', async () => {
  const port = await freePort()
  const { log, errors, events } = open(port)
  await until(() => log.length >= 2, true)
  expect(errors[0]).toMatchObject({ code: 'NODE_UNREACHABLE', reason: 'refused' })
  await serve([stay], port)
  await until(events, ['New Cut'])
})

test('a stream reports a broken connection, and reopens it', async () => {
  const server = await serve([
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.write('f\r\nevent:New Cut\n\n\r\n')
    },
    stay,
  ])
  const { log, errors } = open(server.port)
  await until(() => log, ['open', 'New Cut'])
  for (const socket of server.open) socket.resetAndDestroy()
  await until(() => log, ['open', 'New Cut', 'error', 'open', 'New Cut'])
  expect(errors[0]).toMatchObject({ code: 'NODE_UNREACHABLE', reason: 'disconnected' })
})

test('a stream without events is reopened after the stall time, with keep-alive comments or without', async () => {
  const server = await serve([
    stay,
    stay,
    // This connection is silent even before the headers.
    () => undefined,
    stay,
  ])
  const node = new NodeHttp({ url: `http://127.0.0.1:${server.port}` })
  cleanups.push(() => node.close())
  let chunks = 0
  const counting: EventStreamOptions['http'] = {
    baseUrl: node.baseUrl,
    stream: async (request) => {
      const answer = await node.stream(request)
      const body = (async function* () {
        for await (const chunk of answer.body) {
          chunks++
          yield chunk
        }
      })()
      return { ...answer, body }
    },
  }
  const clock = new VirtualClock()
  const { log, errors, delaysMs } = open(server.port, { http: counting, stallMs: 200, clock })
  /** Expects the stall timer to fire after exactly this many milliseconds, and lets the backoff pass. */
  const expectStall = async (afterMs: number) => {
    const count = errors.length
    await clock.pass(afterMs - 1)
    expect(errors.length).toEqual(count)
    expect(clock.pending).toBe(1)
    await clock.pass(1)
    await until(() => [errors.length, clock.pending], [count + 1, 1])
    await clock.pass(delaysMs[count])
  }
  await until(() => log, ['open', 'New Cut'])
  await expectStall(200)
  expect(errors[0]).toMatchObject({
    code: 'NODE_UNREACHABLE',
    message: expect.stringContaining('no event for 200 ms'),
  })
  await until(() => log, ['open', 'New Cut', 'error', 'open', 'New Cut'])
  await clock.pass(150)
  // The client reads a chunk once it has processed the one before.
  const before = chunks
  for (let i = 1; i <= 3; i++) {
    for (const socket of server.open) socket.write(': keep-alive\n\nevent:Unknown\n\n')
    await until(() => chunks, before + i)
  }
  await expectStall(50)
  await until(() => server.requests.length, 3)
  await expectStall(200)
  const all = ['open', 'New Cut', 'error', 'open', 'New Cut', 'error', 'error', 'open', 'New Cut']
  await until(() => log, all)
  for (let i = 0; i < 5; i++) {
    await clock.pass(150)
    for (const socket of server.open) socket.write('event:Refreshed Block\n\n')
    all.push('Refreshed Block')
    await until(() => log, all)
  }
  expect(errors).toHaveLength(3)
  expect(server.connections).toBe(4)
  await until(() => server.open.size, 1)
})

test('a silent stream without a stall time stays open', async () => {
  const server = await serve([stay])
  const clock = new VirtualClock()
  const { log } = open(server.port, { clock })
  await until(() => log, ['open', 'New Cut'])
  expect(clock.pending).toBe(0)
  await clock.pass(86_400_000)
  expect(log).toEqual(['open', 'New Cut'])
})

test('backoff doubles with jitter up to its maximum, and starts over after a good stream', async () => {
  const timers: { delayMs: number; run: () => void }[] = []
  let nowMs = 0
  let end: () => void = () => undefined
  let lives = false
  const answer = (): HttpStream => ({
    status: lives ? 200 : 500,
    headers: { 'content-type': 'text/event-stream' },
    url: 'http://node/updates',
    receivedAtMs: 0,
    cancel: () => undefined,
    body: (async function* () {
      if (lives) await new Promise<void>((resolve) => (end = resolve))
      yield Buffer.from('late')
    })(),
  })
  const delaysMs: number[] = []
  const draws = [0.5, 0.999, 0, 0.5, 0.5, 0.5, 0.5, 0.5]
  let opened = 0
  const stream = openEventStream({
    http: { baseUrl: 'http://node', stream: async () => answer() },
    path: '/updates',
    events: [],
    onEvent: () => undefined,
    onOpen: () => opened++,
    onError: (_, retryInMs) => delaysMs.push(retryInMs),
    maxBackoffMs: 1_500,
    random: () => draws.shift() ?? 0.5,
    clock: {
      wallMs: () => nowMs,
      monotonicMs: () => nowMs,
      after: (delayMs, run) => {
        const timer = { delayMs, run }
        timers.push(timer)
        return () => {
          if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1)
        }
      },
    },
  })
  cleanups.push(() => stream.close())
  const fire = async (count: number) => {
    await until(() => delaysMs.length, count)
    await until(() => timers.length, 1)
    timers.shift()?.run()
  }
  await fire(1)
  await fire(2)
  // The third random number is 0: no pause, and no timer either.
  await fire(4)
  await fire(5)
  await until(() => delaysMs, [125, 500, 0, 750, 750, 750])
  lives = true
  await fire(6)
  await until(() => opened, 1)
  nowMs += 1_000
  lives = false
  end()
  await until(() => delaysMs.length, 7)
  expect(delaysMs[6]).toBe(125)
  stream.close()
  await until(() => timers.length, 0)
})

test('an AbortError that close() did not cause is retried like any failure', async () => {
  const server = await serve([stay])
  const node = new NodeHttp({ url: `http://127.0.0.1:${server.port}` })
  cleanups.push(() => node.close())
  const abort = () => new DOMException('This operation was aborted', 'AbortError')
  let calls = 0
  const flaky: EventStreamOptions['http'] = {
    baseUrl: node.baseUrl,
    stream: async (request) => {
      calls++
      if (calls === 1) throw abort()
      const answer = await node.stream(request)
      if (calls > 2) return answer
      const body = (async function* () {
        for await (const chunk of answer.body) {
          yield chunk
          throw abort()
        }
      })()
      return { ...answer, body }
    },
  }
  const { log, errors } = open(server.port, { http: flaky })
  await until(() => log, ['error', 'open', 'New Cut', 'error', 'open', 'New Cut'])
  expect(errors[0]).toMatchObject({ name: 'UnreachableError', code: 'NODE_UNREACHABLE' })
})

test('a stream reports an event over its size limit, and drops the connection', async () => {
  const server = await serve([stay])
  const { log, errors } = open(server.port, { maxEventBytes: 50_000 })
  await until(() => log, ['open', 'New Cut'])
  for (const socket of server.open) socket.write(`data:${'x'.repeat(60_000)}`)
  await until(() => log, ['open', 'New Cut', 'error', 'open', 'New Cut'])
  expect(errors[0]).toMatchObject({ code: 'NODE_MISBEHAVED', message: expect.stringContaining('longer than 50000') })
  await until(() => server.open.size, 1)
})

test('no callback runs after close(), even in the middle of a chunk', async () => {
  const server = await serve([(socket) => socket.write(`${HEAD}${'event:New Cut\n\n'.repeat(10)}`)])
  const seen: string[] = []
  const clock = new VirtualClock()
  const { stream } = open(server.port, {
    clock,
    random: () => 0,
    onEvent: (name) => {
      seen.push(name)
      if (seen.length === 3) stream.close()
    },
    onError: () => seen.push('error'),
  })
  await until(() => seen.length, 3)
  await until(() => server.open.size, 0)
  // A stream that retried would reach the server before this one.
  const { events } = open(server.port)
  await until(() => events().length, 10)
  expect(seen).toEqual(['New Cut', 'New Cut', 'New Cut'])
  expect(server.connections).toBe(2)
  expect(clock.pending).toBe(0)
})

test('a signal closes the stream, also one that has aborted before', async () => {
  const server = await serve([stay])
  const controller = new AbortController()
  const { events, log } = open(server.port, { signal: controller.signal })
  await until(events, ['New Cut'])
  controller.abort()
  await until(() => server.open.size, 0)
  const early = open(server.port, { signal: controller.signal })
  const later = open(server.port)
  await until(later.events, ['New Cut'])
  expect(server.connections).toBe(2)
  expect([...early.log, ...log]).toEqual(['open', 'New Cut'])
})

/**
 * Runs the compiled client in its own process. The client closes everything at its first event, in the pause after its
 * first error, or when `isReady` resolves. Its timers last 24 days, so a leftover timer keeps the process running.
 */
async function endOfChild(url: string, closeAt: 'event' | 'error' | { readonly isReady: Promise<unknown> }) {
  const dist = new URL('../../dist/src/client/node/', import.meta.url)
  const script = `
    const { NodeHttp, MAX_TIMEOUT_MS } = await import('${new URL('http.js', dist)}')
    const { openEventStream } = await import('${new URL('event-stream.js', dist)}')
    const { systemClock } = await import('${new URL('../../ground/platform/clock.js', dist)}')
    const clock = { ...systemClock, after: (_, run) => systemClock.after(MAX_TIMEOUT_MS, run) }
    const http = new NodeHttp({ url: '${url}', insecure: true, connectTimeoutMs: MAX_TIMEOUT_MS, clock })
    const finish = () => {
      stream.close()
      void http.close()
      process.on('exit', () => console.log('closed before'))
    }
    const stream = openEventStream({
      http, clock, path: '/', events: ['New Cut'], stallMs: 1, random: () => 0.99,
      onEvent: () => ${closeAt === 'event'} && finish(),
      onError: () => ${closeAt === 'error'} && setImmediate(finish),
    })
    if (${typeof closeAt === 'object'}) process.once('message', finish)`
  const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: [...stdio] })
  cleanups.push(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout?.on('data', (bytes) => {
    output += bytes
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  if (typeof closeAt === 'object') {
    await closeAt.isReady
    child.send('close')
  }
  return { code: await ended, output }
}

test('close() lets the process end, from an open, a waiting and a connecting stream', async () => {
  const closed = { code: 0, output: 'closed before\n' }
  const server = await serve([stay])
  expect(await endOfChild(`http://127.0.0.1:${server.port}`, 'event')).toEqual(closed)
  const refusing = await serve([(socket) => socket.end('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n')])
  expect(await endOfChild(`http://127.0.0.1:${refusing.port}`, 'error')).toEqual(closed)
  // With https, the TLS handshake never ends.
  for (const scheme of ['http', 'https']) {
    let hear: () => void = () => undefined
    const isReady = new Promise<void>((resolve) => {
      hear = resolve
    })
    const silent = await serve([() => hear()])
    expect(await endOfChild(`${scheme}://127.0.0.1:${silent.port}`, { isReady })).toEqual(closed)
  }
})

test('twenty streams over one client and one signal raise no warning of Node', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  cleanups.push(() => process.off('warning', onWarning))
  const server = await serve([stay])
  const node = new NodeHttp({ url: `http://127.0.0.1:${server.port}` })
  const controller = new AbortController()
  let count = 0
  for (let i = 0; i < 20; i++) {
    open(server.port, { http: node, signal: controller.signal, onEvent: () => count++ })
  }
  await until(() => count, 20)
  controller.abort()
  await until(() => server.open.size, 0)
  await node.close()
  expect(warnings).toEqual([])
})

test('a stream closed at once opens no connection', async () => {
  const server = await serve([stay])
  const { stream, log } = open(server.port)
  stream.close()
  const later = open(server.port)
  await until(later.events, ['New Cut'])
  expect(server.connections).toBe(1)
  expect(log).toEqual([])
})

test('a stream reports once that its client was closed, and does not retry', async () => {
  const server = await serve([stay])
  for (const isOpen of [false, true]) {
    const clock = new VirtualClock()
    const { node, log, errors } = open(server.port, { random: () => 0, clock })
    if (isOpen) await until(() => log, ['open', 'New Cut'])
    await node.close()
    const failures = () => log.filter((line) => line === 'error')
    await until(failures, ['error'])
    await clock.pass(86_400_000)
    expect(failures()).toEqual(['error'])
    expect(errors[0]).toMatchObject({ reason: 'closed', retryable: false })
  }
})

test('a stall time beyond the longest timer does not fire after a millisecond', async () => {
  const server = await serve([stay])
  const clock = new VirtualClock()
  const asked = new Set<number>()
  const after = (delayMs: number, run: () => void) => {
    asked.add(delayMs)
    return clock.after(delayMs, run)
  }
  const { log } = open(server.port, { stallMs: 2 ** 40, clock: { ...clock, after } })
  await until(() => log, ['open', 'New Cut'])
  expect([...asked]).toEqual([MAX_TIMEOUT_MS])
  expect(MAX_TIMEOUT_MS).toBe(2 ** 31 - 1)
})
