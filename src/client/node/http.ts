/**
 * HTTP layer of the node client, with one connection pool per node. It supports work (GET with a body, PROTOCOL.md A.1)
 * and update streams (A.3), and limits the time and the memory of every response.
 */
import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import { withoutSecrets } from '#ground/base/host.ts'
import { type ConnectorFactory, createDial, type DialOptions } from './dial.ts'
import { nodeErrors } from './error-rows.ts'
import { machineClock } from './machine-clock.ts'
import { type RoundTripBounds, roundTrip } from './round-trip.ts'
import { Client, type Dispatcher, Pool } from './undici.ts'
import { codeOf, UnreachableError, unreachable } from './unreachable.ts'

/**
 * Maximum concurrent requests: one for each chain of a large network, thrice. Further requests wait. Every stream has a
 * connection of its own in addition.
 */
const MAX_CONNECTIONS = 64
/** Idle connections close before the 30 s after which the server of the node drops them. */
const KEEP_ALIVE_MS = 15_000
const DEFAULT_TIMEOUT_MS = 10_000
/** The longest timer of Node.js: longer ones fire after a millisecond. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1
/** Bounds the memory that a response can take. Only pages of blocks and payloads are longer. */
const DEFAULT_MAX_BODY_BYTES = 4 * 1024 * 1024

/** Address of a node, and limits of its connections. */
export interface NodeHttpOptions extends DialOptions {
  /** http:// or https://; a path in it precedes the path of every request. */
  url: string
  /** From sending a request to the last byte of its response; default 10 s. */
  timeoutMs?: number
  /** Maximum bytes of any response, even if the request allows more. Default: the limit of the request, or 4 MiB. */
  maxBodyBytes?: number
  /** Aborting it closes the client. */
  signal?: AbortSignal
  /**
   * Clock of everything except connecting, whose timer is in undici; default: the clock of this machine.
   *
   * @internal
   */
  clock?: Clock
}

/** A request to the node. */
export interface HttpRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  /** Starts with a slash. */
  path: string
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  body?: Uint8Array | string
  contentType?: string
  accept?: string
  /** When it aborts, the call rejects with the reason of the signal as it is. */
  signal?: AbortSignal
  /** Default: that of the client. For a stream it covers only the headers; 0 sets no limit. */
  timeoutMs?: number
  /** Maximum bytes of the response; default 4 MiB. */
  maxBodyBytes?: number
}

/** Status and headers of a response. */
export interface HttpHead {
  status: number
  /** Names in lower case; repeated headers joined with a comma. */
  headers: Readonly<Record<string, string | undefined>>
  url: string
  /** Wall clock at the arrival of the headers, for estimating the clock skew of the node. */
  receivedAtMs: number
}

/** A response with its whole body. */
export interface HttpAnswer extends HttpHead {
  body: Uint8Array
}

/** A response whose body arrives in chunks. */
export interface HttpStream extends HttpHead {
  /** May be iterated once. */
  body: AsyncIterable<Uint8Array>
  /** Drops the connection; needed only if the body is not iterated to its end. */
  cancel(): void
}

/**
 * After this long without a response, other requests get new connections. It is a little less than two pauses of
 * callers that poll each half second: their third request uses a new connection.
 */
const OVERDUE_MS = 950

/**
 * Gates and round trips set deadlines. The two timeouts of undici do not limit the total, and would end a quiet stream.
 */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 }

/** Connections to one node. */
export class NodeHttp {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /**
   * Clock of all timeouts and pauses for this node.
   *
   * @internal
   */
  readonly clock: Clock
  readonly #origin: string
  readonly #prefix: string
  #pool: Pool
  readonly #connector: ConnectorFactory
  readonly #timeoutMs: number
  readonly #maxBodyBytes: number | undefined
  readonly #closing = new AbortController()
  /** Requests without a response; those with a timeout of their own may take long. */
  readonly #waiting = new Set<{ readonly pool: Pool; readonly sinceMs: number }>()
  readonly #onLost = new Set<() => void>()

  /** @throws NewcutError BAD_OPTION for an unusable url, timeout, fingerprint or ca */
  constructor(options: NodeHttpOptions) {
    const url = parseBaseUrl(options.url)
    this.clock = options.clock ?? machineClock
    this.#origin = url.origin
    this.#prefix = url.pathname.replace(/\/+$/, '')
    this.baseUrl = this.#origin + this.#prefix
    checkTimeout('timeoutMs', options.timeoutMs)
    checkTimeout('connectTimeoutMs', options.connectTimeoutMs)
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.#maxBodyBytes = options.maxBodyBytes
    setMaxListeners(0, this.#closing.signal)
    this.#connector = createDial(url, options)
    this.#pool = this.#newPool()
    if (options.signal) {
      const forget = onAbort(options.signal, () => void this.close())
      onAbort(this.#closing.signal, forget)
    }
  }

  /**
   * Sends a request.
   * @returns a response of any status
   * @throws UnreachableError, NewcutError NODE_MISBEHAVED if the body is too large, and the reason of the signal
   */
  async request(options: HttpRequest): Promise<HttpAnswer> {
    checkTimeout('timeoutMs', options.timeoutMs)
    const signals = options.signal ? [this.#closing.signal, options.signal] : [this.#closing.signal]
    for (const signal of signals) signal.throwIfAborted()
    this.#replaceOverduePool()
    const { timeoutMs = this.#timeoutMs } = options
    const request = this.#requestOf(options)
    const url = this.#origin + request.path
    const clientMaxBytes = this.#maxBodyBytes ?? Number.POSITIVE_INFINITY
    const maxBytes = Math.min(options.maxBodyBytes ?? this.#maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, clientMaxBytes)
    const pool = this.#pool
    const waiting = {
      pool,
      sinceMs: options.timeoutMs === undefined ? this.clock.monotonicMs() : Number.POSITIVE_INFINITY,
    }
    this.#waiting.add(waiting)
    try {
      const { status, headers, receivedAtMs, body } = await roundTrip(pool, request, {
        clock: this.clock,
        signals,
        timeoutMs,
        timeoutError: () => this.#timeoutError(timeoutMs),
        maxBytes,
        sizeError: () => operatingError(nodeErrors.answerTooLong, { url, maxBytes }),
        convertError: (error) => this.#errorOf(error),
      })
      // undici frees a connection one turn of the event loop after the response; a caller that continues at once would
      // open a second one.
      await setImmediate()
      return { status, headers: flattenHeaders(headers), url, receivedAtMs, body }
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** Replaces the pool while a response is overdue: its connections may all be dead, as after a change of networks. */
  #replaceOverduePool(): void {
    const nowMs = this.clock.monotonicMs()
    const isOverdue = [...this.#waiting].some(({ pool, sinceMs }) => {
      return pool === this.#pool && nowMs - sinceMs > OVERDUE_MS
    })
    if (!isOverdue) return
    const left = this.#pool
    this.#pool = this.#newPool()
    // Requests in flight there may still get a response.
    void left.close()
  }

  #newPool(): Pool {
    const pool = new Pool(this.#origin, {
      connect: this.#connector(this.#closing.signal),
      connections: MAX_CONNECTIONS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ...NO_TIMEOUTS,
    })
    return pool.on('disconnect', (_origin, _targets, error) => {
      if (unreachable(this.#origin, error).reason === 'disconnected') for (const run of this.#onLost) run()
    })
  }

  /**
   * Calls `run` whenever the other side ends a connection that should have stayed open, idle or not, as when a node
   * restarts. Streams have their own handlers. Ends when the signal aborts.
   */
  onLost(run: () => void, signal: AbortSignal): void {
    this.#onLost.add(run)
    onAbort(signal, () => this.#onLost.delete(run))
  }

  /**
   * Like request, for endless responses: the timeout covers the headers only, and the size has no limit.
   * @throws UnreachableError, and the reason of the signal
   */
  async stream(options: HttpRequest): Promise<HttpStream> {
    const gate = this.#openScope(options)
    // A client of its own: after an abort, a pool of undici reconnects for the aborted request, and keeps that unused
    // connection.
    const client = new Client(this.#origin, { connect: this.#connector(gate.signal), ...NO_TIMEOUTS })
    const drop = () => {
      gate.release()
      void client.destroy()
    }
    onAbort(gate.signal, drop)
    try {
      const { signal } = gate
      signal.throwIfAborted()
      const request = this.#requestOf(options)
      const { statusCode: status, headers, body } = await raceWithAbort(client.request({ ...request, signal }), signal)
      gate.stopTimer()
      body.once('close', drop)
      // The error of a body that is dropped while nobody iterates it would otherwise reach the process.
      body.on('error', () => undefined)
      const url = this.#origin + request.path
      const head = { status, headers: flattenHeaders(headers), url, receivedAtMs: this.clock.wallMs() }
      return { ...head, body: this.#chunks(body, gate, drop), cancel: drop }
    } catch (error) {
      drop()
      throw gate.signal.aborted ? gate.signal.reason : this.#errorOf(error)
    }
  }

  /** Drops all connections at once. Pending and later calls reject with UnreachableError `closed`. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort(new UnreachableError('closed', `${this.#origin}: the client was closed`))
    await this.#pool.destroy()
  }

  #openScope(options: HttpRequest): CallScope {
    checkTimeout('timeoutMs', options.timeoutMs)
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs
    const timedOut = () => this.#timeoutError(timeoutMs)
    return openCallScope([this.#closing.signal, options.signal], {
      clock: this.clock,
      timeoutMs,
      timeoutError: timedOut,
    })
  }

  #timeoutError(timeoutMs: number): UnreachableError {
    const hint = 'is the node overloaded, or still catching up?'
    return new UnreachableError('timeout', `${this.#origin}: timed out, no complete answer in ${timeoutMs} ms`, {
      hint,
    })
  }

  #requestOf(options: HttpRequest): Dispatcher.DispatchOptions {
    const headers: Record<string, string> = { 'user-agent': 'newcut', accept: options.accept ?? '*/*' }
    if (options.contentType !== undefined) headers['content-type'] = options.contentType
    return {
      path: this.#prefix + options.path + (options.query ? queryStringOf(options.query) : ''),
      method: options.method ?? 'GET',
      headers,
      body: options.body ?? null,
      // Without it undici drops the connection after every GET with a body.
      reset: false,
    }
  }

  async *#chunks(body: AsyncIterable<Uint8Array>, gate: CallScope, drop: () => void): AsyncGenerator<Uint8Array, void> {
    const chunks = body[Symbol.asyncIterator]()
    try {
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
    } catch (error) {
      throw gate.signal.aborted ? gate.signal.reason : this.#errorOf(error)
    } finally {
      drop()
    }
  }

  #errorOf(error: unknown): unknown {
    if (error instanceof NewcutError || codeOf(error) === 'UND_ERR_INVALID_ARG') return error
    return unreachable(this.#origin, error)
  }
}

/** @throws NewcutError BAD_OPTION for a time beyond the range of timers */
function checkTimeout(option: string, valueMs: number | undefined): void {
  if (valueMs === undefined || (valueMs >= 0 && valueMs <= MAX_TIMEOUT_MS)) return
  throw operatingError(nodeErrors.badTimeout, { option, valueMs, maxMs: MAX_TIMEOUT_MS })
}

/** @throws NewcutError BAD_OPTION for a text that is not the address of a node */
export function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw operatingError(nodeErrors.badAddress, { address: withoutSecrets(JSON.stringify(text)) })
  }
  if (url.username || url.password || url.search || url.hash) {
    throw operatingError(nodeErrors.addressWithParts, { host: url.host })
  }
  return url
}

interface CallScope {
  signal: AbortSignal
  stopTimer(): void
  /** Stops the timer, and unsubscribes from the sources. */
  release(): void
}

/**
 * Combines everything that may end a call in one signal. AbortSignal.any does not suit: in Node 20 each use of it stays
 * attached to a long-lived source.
 */
function openCallScope(
  sources: readonly (AbortSignal | undefined)[],
  { clock, timeoutMs, timeoutError: timedOut }: Pick<RoundTripBounds, 'clock' | 'timeoutMs' | 'timeoutError'>,
): CallScope {
  const controller = new AbortController()
  const cancel = timeoutMs > 0 ? clock.after(timeoutMs, () => controller.abort(timedOut())) : undefined
  const forget = sources.map((source) => source && onAbort(source, () => controller.abort(source.reason)))
  const stopTimer = () => cancel?.()
  const release = () => {
    stopTimer()
    for (const each of forget) each?.()
  }
  return { signal: controller.signal, stopTimer, release }
}

/** Calls `run` when the signal aborts, at once if it has. @returns a function that cancels it */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run()
    return () => undefined
  }
  // One signal may stop many calls and streams; Node.js would warn of a leak at the eleventh.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', run, { once: true })
  return () => signal.removeEventListener('abort', run)
}

function raceWithAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason))
    promise.then(resolve, reject).finally(forget)
  })
}

function queryStringOf(query: NonNullable<HttpRequest['query']>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.append(name, String(value))
  return params.size > 0 ? `?${params}` : ''
}

function flattenHeaders(headers: Dispatcher.ResponseData['headers']): HttpHead['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]))
}
