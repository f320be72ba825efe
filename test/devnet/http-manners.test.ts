import { METHODS } from 'node:http'
import net from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { itWith } from '../needs.ts'
import { brief, CheckedPeer, JSON_TYPE, PREFIX, TEXT } from './common.ts'
import { Peer } from './request.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const noIpv6 = hasIpv6 ? null : 'this machine has no address ::1: sysctl net.ipv6.conf.lo.disable_ipv6=0'

let devnet: Devnet
let peer: CheckedPeer

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 1n })
  peer = new CheckedPeer(devnet.url)
})

afterAll(async () => {
  peer.close()
  await devnet.close()
})

/** Sends raw bytes. Returns the whole answer, up to the end of the connection. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(new URL(devnet.url).port), '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

describe('CORS, as a live node', () => {
  const preflight = (path: string, method: string) =>
    peer.request('OPTIONS', path, {
      headers: { origin: 'https://page.example', 'access-control-request-method': method },
    })

  it('a preflight says which simple methods and headers a page may use', async () => {
    for (const [path, methods] of [
      ['/info', 'GET, HEAD'],
      [`${PREFIX}/chain/0/header`, 'GET, HEAD'],
      [`${PREFIX}/chain/0/header/branch`, 'POST'],
      [`${PREFIX}/mining/solved`, 'POST'],
      [`${PREFIX}/header/updates`, 'GET'],
    ]) {
      const answer = await preflight(path, methods.split(', ')[0])
      expect(brief(answer), path).toEqual([200, undefined, ''])
      expect(answer.headers['access-control-allow-methods']).toBe(methods)
      expect(answer.headers['access-control-allow-headers']).toBe(
        'Accept, Accept-Language, Content-Language, Content-Type',
      )
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      // Without the headers of a preflight, OPTIONS is a method that the path does not support.
      expect((await peer.request('OPTIONS', path)).status).toBe(405)
    }
  })

  it('a page may not put cuts or peers', async () => {
    const answer = await preflight(`${PREFIX}/cut`, 'PUT')
    expect(answer.status).toBe(200)
    expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD')
    const peers = await preflight(`${PREFIX}/cut/peer`, 'PUT')
    expect(peers.headers['access-control-allow-methods']).toBe('GET, HEAD')
  })

  it('pages cannot read a control path, in any spelling', async () => {
    const page = new Peer(devnet.url)
    onTestFinished(() => page.close())
    for (const path of ['/devnet/make-blocks', '/%64evnet/make-blocks', '/devnet/%6dake-blocks', '/%6Dake-blocks']) {
      const asked = await page.request('OPTIONS', path, {
        headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
      })
      expect(asked.status, path).toBe(405)
      expect(asked.headers['access-control-allow-origin'], path).toBeUndefined()
      const body = { headers: { 'content-type': 'application/json' }, body: '{"0":0}' }
      const done = await page.request('POST', path, body)
      expect(done.status, path).toBe(200)
      expect(done.headers['access-control-allow-origin'], path).toBeUndefined()
    }
  })

  it('pages cannot read a control path by other forms of requests', async () => {
    const answer = await sendRaw(
      'GET http://node/devnet/status HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(answer).not.toContain('access-control')
  })

  it('a preflight for an unknown path is refused', async () => {
    expect((await preflight('/nowhere', 'GET')).status).toBe(404)
  })
})

it('an unsupported method is a 405 that lists the supported ones', async () => {
  for (const method of METHODS.filter((each) => !['GET', 'HEAD', 'CONNECT'].includes(each))) {
    const answer = await peer.request(method, `${PREFIX}/chain/0/hash`)
    expect(answer.status, method).toBe(405)
    expect(answer.headers.allow, method).toBe('GET, HEAD')
    expect(answer.body.length, method).toBe(0)
    expect((await peer.request(method, '/nowhere')).status, method).toBe(404)
  }
})

itWith(noIpv6, 'X-Peer-Addr has IPv6 addresses in brackets, as in a URL', async () => {
  const node = await startDevnet({ port: 0, host: '::1', graph: 'singleton', pow: false })
  onTestFinished(() => node.close())
  const own = new Peer(node.url)
  onTestFinished(() => own.close())
  expect((await own.get('/info')).headers['x-peer-addr']).toMatch(/^\[::1\]:\d+$/)
})

describe('HEAD', () => {
  it('a HEAD request gets the answer of GET without the body', async () => {
    for (const path of [
      '/info',
      '/config',
      '/openapi.json',
      `${PREFIX}/cut`,
      `${PREFIX}/chain/0/hash`,
      '/health-check',
    ]) {
      const get = await peer.get(path)
      const head = await peer.request('HEAD', path)
      expect(head.status).toBe(200)
      expect(head.body.length).toBe(0)
      for (const name of ['content-type', 'content-length']) expect(head.headers[name]).toBe(get.headers[name])
    }
  })
})

describe('malformed requests', () => {
  /** Checks status line, common headers and message of an answer from the HTTP parser. */
  const check = (answer: string, status: string) => {
    const [head, message] = answer.split('\r\n\r\n')
    expect(head.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`)
    for (const name of [
      'x-peer-addr: 127',
      'x-server-timestamp: \\d{10}',
      'x-chainweb-node-version: ',
      `content-type: ${TEXT}`,
    ]) {
      expect(head).toMatch(new RegExp(`\\r\\n${name}`))
    }
    expect(head).toContain('\r\naccess-control-allow-origin: *')
    expect(head).toContain(`\r\ncontent-length: ${message.length}`)
    expect(message).not.toBe('')
    expect(message).not.toMatch(/\n|^ {4}at /)
  }

  it('malformed requests are answered with the common headers and a message', async () => {
    check(await sendRaw('hello\r\n\r\n'), '400 Bad Request')
    check(await sendRaw('GET / HTTP/9.9\r\n\r\n'), '400 Bad Request')
    check(
      await sendRaw(`GET / HTTP/1.1\r\nhost: n\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`),
      '431 Request Header Fields Too Large',
    )
    check(await sendRaw('POST / HTTP/1.1\r\nhost: n\r\ncontent-length: x\r\n\r\n'), '400 Bad Request')
  })

  it('malformed requests without a host, or with an unknown expectation, are refused with the common headers too', async () => {
    const noHost = await sendRaw('GET /info HTTP/1.1\r\nconnection: close\r\n\r\n')
    check(noHost, '400 Bad Request')
    expect(noHost).toContain('\r\n\r\nan HTTP/1.1 request needs a Host header')
    check(await sendRaw('GET /info HTTP/1.1\r\nhost: n\r\nexpect: more\r\n\r\n'), '417 Expectation Failed')
    expect(await sendRaw('GET /health-check HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 OK/)
  })

  it('malformed requests do not disturb other requests', async () => {
    expect((await peer.get('/health-check')).status).toBe(200)
  })
})

describe('Accept', () => {
  const ask = (accept: string) => peer.get(`${PREFIX}/chain/0/header`, { headers: { accept } })
  const objects = 'application/json;blockheader-encoding=object'

  it('the Accept header chooses the type by quality', async () => {
    for (const [accept, type] of [
      [`${objects};q=0.5, application/json;q=0.4`, objects],
      [`${objects};q=0.4, application/json;q=0.5`, JSON_TYPE],
      [`${objects};q=0, */*`, JSON_TYPE],
      ['application/json;q=0, */*;q=0.1', objects],
    ]) {
      // The second round uses the cached choice.
      for (let i = 0; i < 2; i++) {
        const answer = await ask(accept)
        expect(answer.status, accept).toBe(200)
        expect(answer.headers['content-type'], accept).toEqual(type)
      }
    }
  })

  it('the Accept header is answered with 406 if no available type is acceptable, after any number of different headers', async () => {
    expect((await ask('*/*;q=0')).status).toBe(406)
    // More headers than the cache holds.
    for (let i = 0; i < 100; i++) expect((await ask(`text/x${i}`)).status).toBe(406)
    expect((await ask(`text/x, ${objects}`)).headers['content-type']).toBe(objects)
  })

  it('the Accept header is judged before the media type and the body: 406 comes before 415 and 400', async () => {
    const post = await peer.request('POST', `${PREFIX}/chain/0/hash/branch`, {
      headers: { accept: 'text/html' },
      body: 'x',
    })
    expect(brief(post)).toEqual([406, undefined, ''])
  })
})

it('the oldest of the idle connections closes at the limit, so that nobody is kept out', async () => {
  const small = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 1n }, { maxConnections: 8 })
  onTestFinished(() => small.close())
  const closed: number[] = []
  for (let i = 0; i < 10; i++) {
    const socket = net.connect(Number(new URL(small.url).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined).on('close', () => closed.push(i))
    await new Promise((resolve) => socket.once('connect', resolve))
  }
  const other = new Peer(small.url)
  onTestFinished(() => other.close())
  expect((await other.get('/info')).status).toBe(200)
  await expect.poll(() => closed.toSorted()).toEqual([0, 1, 2])
})
