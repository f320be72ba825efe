/** Requests of cases: any method, header and body, as they stand in the case. */
import { Client, type Dispatcher, Pool } from 'undici'
import type { Clock } from '#ground/base/clock.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { parseJson, tryParse } from '#ground/base/json.ts'
import { createDial, type DialOptions } from '../node/dial.ts'
import { onAbort, parseBaseUrl } from '../node/http.ts'
import { roundTrip } from '../node/round-trip.ts'
import { unreachable } from '../node/unreachable.ts'
import { conformanceErrors } from './errors.ts'

/** A request as it goes out. */
export interface WireRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string | null
}

/** An answer with its whole body; for a stream, its head. */
export interface WireAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/** One event of a stream. */
interface WireEvent {
  readonly name: string
  readonly data: string
}

/** An open stream, with its unread events. */
export interface WireStream {
  readonly head: WireAnswer
  /** Resolves with the next event, or null at the end of the stream or of the time. */
  next(timeoutMs: number): Promise<WireEvent | null>
  close(): void
}

export interface WireOptions extends DialOptions {
  readonly url: string
  readonly clock: Clock
  /** From sending a request to the last byte of its answer. */
  readonly timeoutMs: number
}

/** Maximum bytes of an answer of a node under test: a page of 360 blocks has fewer. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 }

/** @returns the error of a node whose answer is longer than MAX_ANSWER_BYTES */
export const sizeErrorOf = (node: string) =>
  operatingError(conformanceErrors.answerTooLong, { node, maxBytes: MAX_ANSWER_BYTES })

/** Connections to the node under test. */
export class HttpTransport {
  readonly #origin: string
  readonly #prefix: string
  readonly #pool: Pool
  readonly #options: WireOptions
  readonly #closing = new AbortController()

  /** @throws NewcutError BAD_OPTION for a text that is not the address of a node */
  constructor(options: WireOptions) {
    const url = parseBaseUrl(options.url)
    this.#options = options
    this.#origin = url.origin
    this.#prefix = url.pathname.replace(/\/+$/, '')
    const connect = createDial(url, options)(this.#closing.signal)
    this.#pool = new Pool(this.#origin, { connect, connections: 16, keepAliveTimeout: 15_000, ...NO_TIMEOUTS })
  }

  /** @throws NewcutError for a node that cannot be reached, or does not answer in time */
  async request(request: WireRequest, signal: AbortSignal, timeoutMs = this.#options.timeoutMs): Promise<WireAnswer> {
    signal.throwIfAborted()
    const { status, headers, body } = await roundTrip(this.#pool, this.#dispatchOptionsOf(request), {
      clock: this.#options.clock,
      signals: [this.#closing.signal, signal],
      timeoutMs,
      timeoutError: () => operatingError(conformanceErrors.answerTimeout, { timeoutMs }),
      maxBytes: MAX_ANSWER_BYTES,
      sizeError: () => sizeErrorOf(this.#origin),
      convertError: (error) => unreachable(this.#origin, error),
    })
    return { status, headers: flattenHeaders(headers), body }
  }

  /** Opens a stream; resolves when its headers have come. @throws like request */
  async stream(request: WireRequest, signal: AbortSignal): Promise<WireStream> {
    const { clock, timeoutMs } = this.#options
    const ending = new AbortController()
    const end = (reason: unknown) => ending.abort(reason)
    const connect = createDial(new URL(this.#origin), this.#options)(ending.signal)
    const client = new Client(this.#origin, { connect, ...NO_TIMEOUTS })
    const stopTimer = clock.after(timeoutMs, () => end(operatingError(conformanceErrors.streamTimeout, { timeoutMs })))
    const stopListening = onAbort(signal, () => end(signal.reason))
    try {
      const answer = await client.request({ ...this.#dispatchOptionsOf(request), signal: ending.signal })
      stopTimer()
      const head = { status: answer.statusCode, headers: flattenHeaders(answer.headers), body: new Uint8Array() }
      answer.body.on('error', () => undefined)
      const events = new EventQueue(answer.body, clock)
      const close = () => {
        stopListening()
        end(new Error('the stream is not needed any more'))
        void client.destroy()
      }
      return { head, next: (ms) => events.next(ms), close }
    } catch (error) {
      stopTimer()
      stopListening()
      void client.destroy()
      throw ending.signal.aborted ? ending.signal.reason : unreachable(this.#origin, error)
    }
  }

  #dispatchOptionsOf({ method, path, headers, body }: WireRequest): Dispatcher.DispatchOptions {
    const sent = { 'user-agent': 'newcut-conformance', ...headers }
    return { method: method as Dispatcher.HttpMethod, path: this.#prefix + path, headers: sent, body, reset: false }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the connection was closed'))
    await this.#pool.destroy()
  }
}

const flattenHeaders = (headers: Dispatcher.ResponseData['headers']) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value?.toString()]))

/** Events as they come. Events without data count, unlike in a browser (PROTOCOL.md A.3). */
class EventQueue {
  readonly #events: WireEvent[] = []
  readonly #clock: Clock
  #text = ''
  #isOver = false
  #wake: () => void = () => undefined

  constructor(body: AsyncIterable<Uint8Array>, clock: Clock) {
    this.#clock = clock
    void this.#read(body)
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of body) {
        this.#text += decoder.decode(chunk, { stream: true })
        this.#parseEvents()
        if (this.#text.length > MAX_ANSWER_BYTES) throw new Error('an event of the stream is too long')
      }
    } catch (error) {
      // A stream may end in any way; what it has not sent is missed by the case.
      this.#text = describeError(error)
    }
    this.#isOver = true
    this.#wake()
  }

  #parseEvents(): void {
    const parts = this.#text.split(/\r?\n\r?\n/)
    this.#text = parts.pop() ?? ''
    for (const part of parts) {
      const lines = part.split(/\r?\n/)
      const fieldValues = (field: string) =>
        lines
          .filter((line) => line.startsWith(`${field}:`))
          .map((line) => line.slice(field.length + 1).replace(/^ /, ''))
      const names = fieldValues('event')
      const data = fieldValues('data').join('\n')
      if (names.length > 0 || data !== '') this.#events.push({ name: names.at(-1) ?? 'message', data })
    }
    this.#wake()
  }

  next(timeoutMs: number): Promise<WireEvent | null> {
    return new Promise((resolve) => {
      const settle = () => {
        const event = this.#events.shift()
        if (event === undefined && !this.#isOver) return
        stop()
        resolve(event ?? null)
      }
      const stop = this.#clock.after(timeoutMs, () => {
        this.#wake = () => undefined
        resolve(null)
      })
      this.#wake = settle
      settle()
    })
  }
}

/** @returns the body of an answer as JSON, or undefined if it is not valid JSON */
export function jsonOf({ body }: WireAnswer): unknown {
  return tryParse(new TextDecoder().decode(body), parseJson)
}
