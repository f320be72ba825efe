/**
 * The port of an embedded node. It owns the connections, and passes requests to the app of the current network. The node
 * may turn to another network: the port stays open then, and so do idle connections.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { operatingError } from '#ground/base/errors.ts'
import { limitConnections } from '#ground/platform/connection-limit.ts'
import { plainOptions } from '#ground/schema/devnet-options.ts'
import { EVENT_STREAM } from '#ground/schema/operation.ts'
import type { App } from './app.ts'
import { httpErrors } from './errors.ts'
import { TURNED } from './refusal.ts'
import { reportRequests, type ServedRequest } from './request-log.ts'

interface PortOptions {
  /** Time a request may take to arrive, headers and body. After that the response is 408. */
  readonly requestTimeoutMs: number
  /** Maximum connections at once. Each takes a file descriptor, and the process needs some for itself. */
  readonly maxConnections: number
  /** Called with every request once its response, or its stream, ends. */
  readonly onRequest?: ((request: ServedRequest) => void) | undefined
}

interface Address {
  readonly host?: string
  readonly port?: number
}

/** Longest time between two checks for requests that take too long. */
const MAX_CHECK_INTERVAL_MS = 5000
/** Time an idle connection stays open. */
const KEEP_ALIVE_MS = 72_000
/** Time a reader has for the rest of a stream that has ended. */
const MAX_END_GRACE_MS = 5000
/** Time that responses in progress have when the node fails. */
const MAX_LAST_RESPONSES_MS = 1000

export class Port {
  readonly #server: Server
  #app: App | null = null
  /** Responses in progress of the current app. */
  #open = new Set<ServerResponse>()
  #closing: Promise<void> | null = null

  constructor({ requestTimeoutMs, maxConnections, onRequest }: PortOptions) {
    this.#server = createServer({
      // node:http would refuse requests without a Host header, but without the common headers; the app refuses them.
      requireHostHeader: false,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, MAX_CHECK_INTERVAL_MS),
      keepAliveTimeout: KEEP_ALIVE_MS,
    })
    this.#server.on('request', (request, response) => this.#passOn('request', request, response))
    this.#server.on('checkExpectation', (request, response) => this.#passOn('checkExpectation', request, response))
    this.#server.on('clientError', (error: Error, socket: Socket) => {
      if (this.#app?.server.emit('clientError', error, socket) !== true) socket.destroy()
    })
    limitConnections(this.#server, maxConnections)
    if (onRequest !== undefined) reportRequests(this.#server, onRequest)
  }

  /**
   * Starts to listen.
   * @returns the URL
   * @throws NewcutError PORT_BUSY
   */
  async listen({ host = plainOptions.host.fallback, port = plainOptions.port.fallback }: Address): Promise<string> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject)
        this.#server.listen({ host, port }, () => {
          this.#server.off('error', reject)
          resolve()
        })
      })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const row = code === 'EADDRINUSE' ? httpErrors.portBusy : httpErrors.portForbidden
      throw operatingError(row, { host, port, why: message }, error)
    }
    const address = this.#server.address() as AddressInfo
    const hostInUrl = address.family === 'IPv6' ? `[${address.address}]` : address.address
    return `http://${hostInUrl}:${address.port}`
  }

  /**
   * Passes the requests that begin from now on to `app`, which must be ready. Ends those in progress: streams end,
   * requests without an answer get 503.
   * @param kept response that the app before still gives
   * @returns a promise that settles once all responses of the app before are over
   */
  async serve(app: App, kept: ServerResponse | null = null): Promise<void> {
    const [before, last] = [this.#open, this.#app]
    this.#app = app
    this.#open = new Set()
    const over = [...before].map((response) => waitForClose(response))
    for (const response of before) if (response !== kept && last !== null) endNow(last, response)
    await Promise.all(over)
  }

  /** Ends all connections, and frees the port. */
  close(): Promise<void> {
    this.#closing ??= this.#closeNow()
    return this.#closing
  }

  /** Like close, once the responses in progress are over, or a second later. */
  closeAfterResponses(): Promise<void> {
    const over = Promise.all([...this.#open].map((response) => waitForClose(response)))
    this.#closing ??= Promise.race([over, delay(MAX_LAST_RESPONSES_MS, undefined, { ref: false })]).then(() =>
      this.#closeNow(),
    )
    return this.#closing
  }

  async #closeNow(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  #passOn(event: 'request' | 'checkExpectation', request: IncomingMessage, response: ServerResponse): void {
    const open = this.#open
    open.add(response)
    response.once('close', () => open.delete(response))
    this.#app?.server.emit(event, request, response)
  }
}

function waitForClose(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', () => resolve()))
}

/** Ends a response whose network is gone. A response that was written in full stays for its reader. */
function endNow(app: App, response: ServerResponse): void {
  if (response.writableEnded) return
  if (!response.headersSent) {
    app.turnAway(response, { status: 503, message: TURNED })
  } else if (response.getHeader('content-type') === EVENT_STREAM) {
    response.end()
    setTimeout(() => response.destroy(), MAX_END_GRACE_MS).unref()
  } else {
    // Half an answer must not look like a whole one.
    response.destroy()
  }
}
