import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeError } from '../../src/ground/base/errors.ts'
import { AnswerError, fetchAnswer, MAX_ANSWER_BYTES, textOfAnswer } from '../../src/ground/base/http-answer.ts'
import { RemoteNode } from '../../src/language/copy/remote-node.ts'

const MIB = 1024 * 1024
const timeoutMs = 60_000

async function serve(answer: (response: http.ServerResponse, url: string) => void): Promise<string> {
  const server = http.createServer(({ url = '' }, response) => answer(response, url))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** 1 GiB of zeros as 1,024 members of gzip: 1.06 MB. */
const gibibyte = () => Buffer.concat(new Array<Buffer>(1024).fill(gzipSync(Buffer.alloc(MIB))))

/** Counts the bytes that readers of streams take. */
function countedReads(): { bytes: number } {
  const count = { bytes: 0 }
  const read = ReadableStreamDefaultReader.prototype.read
  const spy = vi.spyOn(ReadableStreamDefaultReader.prototype, 'read').mockImplementation(async function (
    this: ReadableStreamDefaultReader,
  ) {
    const part = await read.call(this)
    count.bytes += part.value?.length ?? 0
    return part
  })
  onTestFinished(() => spy.mockRestore())
  return count
}

describe('an answer of another machine', () => {
  it('an HTTP answer comes with its status and headers', async () => {
    const url = await serve((response) => response.writeHead(404, { 'x-page': '2' }).end('gone \u00fc'))
    const answer = await fetchAnswer(url, { timeoutMs })
    expect(answer.status).toBe(404)
    expect(answer.ok).toBe(false)
    expect(answer.headers.get('x-page')).toBe('2')
    expect(textOfAnswer(answer)).toBe('gone \u00fc')
  })

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('an answer in %s is unpacked up to the limit and refused above it', async (encoding, pack) => {
    const url = await serve((response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(pack(Buffer.alloc(MIB)))
    })
    expect((await fetchAnswer(url, { timeoutMs, maxBytes: MIB })).bytes).toHaveLength(MIB)
    await expect(fetchAnswer(url, { timeoutMs, maxBytes: MIB - 1 })).rejects.toMatchObject({ reason: 'too long' })
  })

  it.each([301, 302, 303, 307, 308])('a redirect with status %d is refused', async (status) => {
    const asked: string[] = []
    const url = await serve((response, path) => {
      asked.push(path)
      response.writeHead(status, { location: 'http://other.example/secret?key=1' }).end()
    })
    await expect(fetchAnswer(`${url}/a`, { timeoutMs })).rejects.toThrow(
      `${url}: status ${status}, a redirect to http://other.example: newcut follows no redirect`,
    )
    expect(asked).toEqual(['/a'])
  })

  it('a redirect to another path of the same server is refused', async () => {
    const asked: string[] = []
    const url = await serve((response, path) => {
      asked.push(path)
      response.writeHead(302, { location: '/b' }).end()
    })
    await expect(fetchAnswer(`${url}/a`, { timeoutMs })).rejects.toThrow('a redirect to /b')
    expect(asked).toEqual(['/a'])
  })

  it('an endless answer is given up at the deadline', async () => {
    const url = await serve((response) => response.writeHead(200).write('{'))
    await expect(fetchAnswer(url, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: `${url}: no answer within 50 ms`,
    })
  })

  it("an answer is given up for the reason of the caller's signal", async () => {
    const ending = new AbortController()
    const url = await serve((response) => {
      response.writeHead(200).write('{')
      ending.abort(new Error('stopped by the user'))
    })
    await expect(fetchAnswer(url, { timeoutMs, signal: ending.signal })).rejects.toThrow('stopped by the user')
  })

  it('an endless answer is given up at the deadline, whatever else may end it', async () => {
    const url = await serve((response) => response.writeHead(200).write('{'))
    const { signal } = new AbortController()
    await expect(fetchAnswer(url, { timeoutMs: 50, signal })).rejects.toMatchObject({ reason: 'timeout' })
  })

  it.each([
    ['too long', 200],
    ['redirect', 302],
  ] as const)('a refused answer frees its connection: %s', async (reason, status) => {
    const answers: http.ServerResponse[] = []
    const url = await serve((response) => {
      answers.push(response)
      response.writeHead(status, { location: '/b' }).write('more than one byte')
    })
    await expect(fetchAnswer(url, { timeoutMs, maxBytes: 1 })).rejects.toMatchObject({ reason })
    await expect.poll(() => answers.map(({ closed }) => closed)).toEqual([true])
  })

  it('the error of a redirect shows the beginning of its target', async () => {
    const url = await serve((response) => response.writeHead(302, { location: `/${'b'.repeat(10_000)}` }).end())
    const { what } = (await fetchAnswer(url, { timeoutMs }).catch((thrown: AnswerError) => thrown)) as AnswerError
    expect(what).toMatch(/^status 302, a redirect to \/b{98}…: newcut follows no redirect$/)
  })

  it('the deadline covers the whole request', async () => {
    const server = http.createServer((request, response) => {
      response.write(`${request.method} ${request.headers.accept} `)
      request.pipe(response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const request = { method: 'POST', headers: { accept: 'text/csv' }, body: 'a \u00fc', timeoutMs } as const
    expect(textOfAnswer(await fetchAnswer(url, request))).toBe('POST text/csv a \u00fc')
  })

  it.each(['me:secret@', 'secret@', ':secret@'])(
    'a URL with a user or a password is not requested, and the error hides both: %s',
    async (user) => {
      const asked: string[] = []
      const url = await serve((response, path) => {
        asked.push(path)
        response.end()
      })
      const error = await fetchAnswer(url.replace('//', `//${user}`), { timeoutMs }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'BAD_OPTION', message: expect.stringContaining(`${url}: its`) })
      expect(asked).toEqual([])
      expect(describeError(error)).not.toContain('secret')
    },
  )

  it('a missing answer is an error with the reason', async () => {
    const error = await fetchAnswer('http://127.0.0.1:1', { timeoutMs }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AnswerError)
    expect(error).toMatchObject({ code: 'NODE_UNREACHABLE', reason: 'unreachable' })
  })
})

describe('a forked node', () => {
  const forked = (url: string) => new RemoteNode({ url, perSecond: 1e6, timeoutMs })

  it('an answer of a forked node that unpacks to 1 GiB is refused after 64 MiB, without a retry', async () => {
    const url = await serve((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gibibyte()))
    const node = forked(url)
    const count = countedReads()
    await expect(node.get('/info')).rejects.toMatchObject({
      code: 'NODE_MISBEHAVED',
      message: `the forked node ${url}: the answer is longer than ${MAX_ANSWER_BYTES} bytes`,
    })
    expect(node.requests).toBe(1)
    expect(count.bytes).toBeGreaterThan(MAX_ANSWER_BYTES)
    expect(count.bytes).toBeLessThan(MAX_ANSWER_BYTES + MIB)
  })

  it('a redirect of a forked node is an error with a text, without a retry', async () => {
    const url = await serve((response) => response.writeHead(307, { location: 'http://other.example/' }).end())
    const node = forked(url)
    await expect(node.post('/local', {})).rejects.toMatchObject({
      code: 'NODE_MISBEHAVED',
      message: `the forked node ${url}: status 307, a redirect to http://other.example: newcut follows no redirect`,
    })
    expect(node.requests).toBe(1)
  })

  it('an answer of a forked node with 150,000 levels is an error with a text, without a retry', async () => {
    const levels = 150_000
    const url = await serve((response) => response.end(`${'['.repeat(levels)}${']'.repeat(levels)}`))
    const node = forked(url)
    await expect(node.get('/cut')).rejects.toMatchObject({
      code: 'NODE_MISBEHAVED',
      message: `the forked node ${url}: the JSON nests more than 1200 levels`,
    })
    expect(node.requests).toBe(1)
  })
})
