/**
 * Serves the interface to a client, and judges its requests. It forwards them to a node, and situations
 * replace or change some of the answers.
 */
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Clock } from '#ground/base/clock.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { conformanceErrors } from '../errors.ts'
import { MAX_ANSWER_BYTES, sizeErrorOf } from '../wire.ts'
import { CORS_HEADERS, changeAnswer, recordedAnswerOf, sendAnswer } from './answers.ts'
import type { ServedNetwork } from './client-history.ts'
import { type ClientAnswer, type ClientRequest, endpointOf, parseBody } from './client-request.ts'
import { ClientJudge } from './judge.ts'
import type { ClientSituation } from './situation-file.ts'
import type { SituationState } from './situations.ts'

interface ServeOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Address of the node that answers, such as `http://127.0.0.1:1234`. */
  readonly node: string
  readonly served: ServedNetwork
  readonly situations: readonly ClientSituation[]
  readonly clock: Clock
  /** Called with each request, after it was judged. */
  readonly onRequest?: (clientRequest: ClientRequest) => void
}

/** A request, and the answer that it gets. */
interface Exchange {
  readonly request: http.IncomingMessage
  readonly response: http.ServerResponse
  /** Called at the end of the answer, or at the start of a stream in another form. */
  readonly done: () => void
}

/** Headers that concern one connection only. */
const HOP_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date'])
/** Maximum of a body in memory. The rules see the rest as cut off; real clients send up to 2 MiB. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** Time until an idle connection closes: as the embedded node has it, so that a client can keep one between polls. */
const KEEP_ALIVE_MS = 72_000

export class ClientServer {
  readonly judge: ClientJudge
  readonly #options: ServeOptions
  readonly #server: http.Server
  #requests = 0

  constructor(options: ServeOptions) {
    this.#options = options
    this.judge = new ClientJudge(options.served, options.situations)
    const settings = { keepAliveTimeout: KEEP_ALIVE_MS }
    this.#server = http.createServer(settings, (request, response) => this.#receive(request, response))
    this.#server.on('clientError', (error, socket) => this.#refuseMalformed(error, socket as Socket))
  }

  /** @returns the address for clients. @throws NewcutError PORT_BUSY */
  async listen(): Promise<string> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) =>
        reject(operatingError(conformanceErrors.portTaken, { host, port, why: error.message }, error)),
      )
      this.#server.listen(port, host, resolve)
    })
    const { address, port: own, family } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${own}`
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  #refuseMalformed(error: Error, socket: Socket): void {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') this.judge.recordMalformed(describeError(error))
    socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
  }

  #receive(request: http.IncomingMessage, response: http.ServerResponse): void {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_BODY_BYTES) chunks.push(chunk)
    })
    request.on('error', () => response.destroy())
    request.on('end', () => {
      const clientRequest = this.#requestOf(request, Buffer.concat(chunks))
      const state = this.judge.judgeRequest(clientRequest)
      this.#options.onRequest?.(clientRequest)
      const done = runAtMostOnce(() => {
        const isSent = !response.destroyed
        this.judge.recordEnd(clientRequest, state, { nowMs: this.#options.clock.monotonicMs(), isSent })
      })
      response.on('close', done)
      this.#answer(clientRequest, state, { request, response, done }).catch(() => response.destroy())
    })
  }

  #requestOf({ method = 'GET', url = '/', headers }: http.IncomingMessage, body: Buffer): ClientRequest {
    const { clock } = this.#options
    const [path, query = ''] = targetOf(url).split(/\?(.*)/s)
    const named = Object.entries(headers).map(([name, value]) => [name, value?.toString()])
    return {
      number: ++this.#requests,
      atMs: clock.monotonicMs(),
      wallMs: clock.wallMs(),
      method,
      path,
      query: new URLSearchParams(query),
      headers: Object.fromEntries(named),
      body,
      json: parseBody(body),
      ...endpointOf(method, path),
    }
  }

  async #answer(
    clientRequest: ClientRequest,
    state: SituationState | null,
    { request, response, done }: Exchange,
  ): Promise<void> {
    const { clock } = this.#options
    const { situation } = state ?? {}
    if (situation?.fault === 'close') {
      done()
      request.socket.destroy()
      return
    }
    if (situation?.answer !== undefined) {
      done()
      await sendAnswer(response, recordedAnswerOf(situation), { shape: undefined, clock })
      return
    }
    // Live nodes have none of the further endpoints of a development network.
    if (clientRequest.methods.length === 0) {
      const answer = { status: 404, headers: CORS_HEADERS, body: Buffer.alloc(0) }
      await sendAnswer(response, answer, { shape: undefined, clock })
      return
    }
    const answer = await this.#forward(clientRequest, { request, response, done }, situation)
    if (answer === null) return
    if (situation === undefined) this.judge.judgeAnswer(clientRequest, answer)
    if (situation?.fault === 'close-after' || situation?.fault === 'half') {
      done()
      if (situation.fault === 'half') sendHalf(response, answer)
      else request.socket.destroy()
    } else {
      const changed = situation === undefined ? answer : changeAnswer(situation, answer)
      if (situation !== undefined) this.judge.judgeAnswer(clientRequest, changed)
      await sendAnswer(response, changed, { shape: situation?.shape, clock })
      done()
    }
  }

  /** The answer of the node; null for a stream, which is passed on as it comes. */
  #forward(
    { method, headers, body }: ClientRequest,
    { request: { url = '/' }, response, done }: Exchange,
    situation: ClientSituation | undefined,
  ): Promise<ClientAnswer | null> {
    const kept = Object.fromEntries(
      Object.entries(headers).filter(([name]) => name !== 'host' && !HOP_HEADERS.has(name)),
    )
    const sent = { ...kept, ...(body.length > 0 && { 'content-length': String(body.length) }) }
    return new Promise((resolve, reject) => {
      const out = http.request(
        this.#options.node + targetOf(url),
        { method, headers: sent, agent: false },
        (answer) => {
          const shown = Object.fromEntries(
            Object.entries(answer.headers)
              .filter(([name]) => !HOP_HEADERS.has(name))
              .map(([name, value]) => [name, String(value)]),
          )
          if (shown['content-type']?.startsWith('text/event-stream')) {
            passStream(answer, response, { headers: shown, situation, done })
            resolve(null)
            return
          }
          const chunks: Buffer[] = []
          let size = 0
          answer.on('data', (chunk: Buffer) => {
            size += chunk.length
            if (size <= MAX_ANSWER_BYTES) chunks.push(chunk)
            else answer.destroy(sizeErrorOf(this.#options.node))
          })
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, headers: shown, body: Buffer.concat(chunks) }),
          )
        },
      )
      out.on('error', reject)
      response.on('close', () => out.destroy())
      out.end(body)
    })
  }
}

function runAtMostOnce(run: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) run()
    isDone = true
  }
}

/** The path and query of a request. A client that takes this server for a proxy sends the whole address. */
const targetOf = (url: string) => url.replace(/^http:\/\/[^/?]*/i, '')

function sendHalf(response: http.ServerResponse, { status, headers, body }: ClientAnswer): void {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
  response.writeHead(status, { ...given, 'content-length': String(body.length) })
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
}

/** Passes a stream on: whole, in pieces, or until its first event. */
function passStream(
  answer: http.IncomingMessage,
  response: http.ServerResponse,
  parts: {
    readonly headers: Readonly<Record<string, string>>
    readonly situation: ClientSituation | undefined
    readonly done: () => void
  },
): void {
  response.writeHead(answer.statusCode ?? 0, parts.headers)
  response.flushHeaders()
  const end = () => {
    parts.done()
    answer.destroy()
    response.end()
  }
  answer.on('data', (chunk: Buffer) => {
    if (parts.situation?.shape === 'chunks') {
      // One piece a write, so that events are split in the middle of their lines.
      for (let at = 0; at < chunk.length; at += 3) response.write(chunk.subarray(at, at + 3))
    } else response.write(chunk)
    if (parts.situation?.fault === 'end') end()
  })
  answer.on('end', () => response.end())
  answer.on('error', () => response.destroy())
  response.on('close', () => answer.destroy())
  if (parts.situation !== undefined && parts.situation.fault !== 'end') parts.done()
}
