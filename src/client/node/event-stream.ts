/**
 * An update stream of the node that stays open. `eventsource` parses and dispatches; everything around it is here.
 *
 * Left alone, that package gives up forever on an error status, a wrong content type or an AbortError. It waits 3 s
 * after a clean end, and never notices a silent stall. So the fetch below never fails, and does all the waiting itself.
 */
import { EventSource, type FetchLikeResponse, type ReaderLike } from 'eventsource'
import { backoffMs } from '#ground/base/backoff.ts'
import { ByteBuffer } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import { excerptOf, isFromNode, NodeMisbehaved, NodeRefusal } from './errors.ts'
import { EventFilter } from './event-filter.ts'
import { type HttpStream, MAX_TIMEOUT_MS, type NodeHttp, onAbort } from './http.ts'
import { UnreachableError, unreachable } from './unreachable.ts'

/**
 * A stream that lived this long was good, and its end is routine (PROTOCOL.md A.3: 240 s). It reopens at once, even if
 * its connection broke, and the backoff starts again from the beginning.
 */
const HEALTHY_STREAM_MS = 1_000
const FIRST_BACKOFF_MS = 250
/** Bytes of an error body in its error: 200 characters of up to 4 bytes. */
const MAX_EXCERPT_BYTES = 800
/** The body of an error may be endless. */
const EXCERPT_TIMEOUT_MS = 1_000

export interface EventStreamOptions {
  http: Pick<NodeHttp, 'stream' | 'baseUrl'>
  path: string
  /** Id of the operation, for errors. */
  operation?: string
  /** Body of the GET, such as the 4 bytes of the chain id. */
  body?: Uint8Array
  /** Names of the events to listen to. All others are ignored, and do not prevent a stall either. */
  events: readonly string[]
  onEvent: (name: string, data: string) => void
  /** Called at every (re)connection: earlier events were missed. */
  onOpen?: () => void
  /**
   * Called with UnreachableError, NodeRefusal and NodeMisbehaved, but not for the clean end of a good stream. There is
   * no retry after the client was closed (reason `closed`): that call is the last.
   */
  onError?: (error: NewcutError, retryInMs: number) => void
  /** Longest time without an event, and for the headers to arrive, before the stream is reopened; 0 sets no limit. */
  stallMs?: number
  maxBackoffMs?: number
  /** Maximum bytes of one event. */
  maxEventBytes?: number
  clock: Clock
  /** Uniform in [0, 1), for the jitter. */
  random?: () => number
  /** Aborting it closes the stream. */
  signal?: AbortSignal
}

/** A stream that stays open. */
export interface EventStream {
  /** Stops everything at once: no callback runs after it. */
  close(): void
}

/** Opens the stream and keeps it open until it is closed. Never throws: failures go to onError and are retried. */
export function openEventStream(options: EventStreamOptions): EventStream {
  return new ReopeningStream(options)
}

/**
 * A stream is
 *
 * 1. connecting: a request is sent, and the stall timer limits the wait for the headers;
 * 2. open: events arrive, and each restarts the stall timer;
 * 3. ended, by the node, a fault or the stall timer. After a pause it connects again: with no pause if it was healthy,
 *    else with exponential backoff;
 * 4. closed, from any state: by its owner, its signal, or its client.
 */
class ReopeningStream implements EventStream {
  readonly #options: EventStreamOptions
  readonly #clock: Clock
  readonly #source: EventSource | undefined
  readonly #closing = new AbortController()
  /** Ends the current connection; the abort reason becomes the reported error. */
  #connection = new AbortController()
  #openedAtMs = 0
  #failures = 0
  #delayMs = 0
  #stopStallTimer: () => void = () => undefined
  #forgetSignal: () => void = () => undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.#clock = options.clock
    if (options.signal) this.#forgetSignal = onAbort(options.signal, () => this.close())
    if (this.#isClosed) return
    this.#source = new EventSource(options.http.baseUrl, { fetch: () => this.#connect() })
    this.#source.addEventListener('open', () => {
      if (!this.#isClosed) this.#options.onOpen?.()
    })
    for (const name of new Set(options.events)) {
      this.#source.addEventListener(name, (event: MessageEvent) => {
        // The package keeps dispatching what it has read if it is closed in the middle of a chunk.
        if (this.#isClosed) return
        this.#startStallTimer()
        options.onEvent(name, String(event.data))
      })
    }
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  close(): void {
    if (this.#isClosed) return
    this.#closing.abort()
    this.#forgetSignal()
    this.#stopStallTimer()
    // Close the source first: once the connection breaks, it must schedule nothing.
    this.#source?.close()
    this.#connection.abort(this.#closing.signal.reason)
  }

  /** The fetch of the EventSource: resolves with a good response, and rejects only because of close(). */
  async #connect(): Promise<FetchLikeResponse> {
    for (;;) {
      await this.#pause()
      // Also without a pause: close() may have come during the await, and found no connection to end.
      this.#closing.signal.throwIfAborted()
      this.#connection = new AbortController()
      this.#startStallTimer()
      try {
        const answer = await this.#options.http.stream({
          path: this.#options.path,
          ...(this.#options.body && { body: this.#options.body, contentType: 'application/octet-stream' }),
          accept: 'text/event-stream',
          // Headers arrive only once the chain has work (PROTOCOL.md A.3), so the stall timer is the limit.
          timeoutMs: 0,
          signal: this.#connection.signal,
        })
        const refusal = await this.#refusalOf(answer)
        if (refusal) throw refusal
        this.#openedAtMs = this.#clock.monotonicMs()
        this.#startStallTimer()
        return this.#responseOf(answer)
      } catch (error) {
        this.#closing.signal.throwIfAborted()
        this.#fail(error)
      }
    }
  }

  /** Waits for as long as the last end of a connection requires. */
  async #pause(): Promise<void> {
    const { signal } = this.#closing
    if (this.#delayMs > 0) await sleep(this.#clock, this.#delayMs, signal)
  }

  async #refusalOf(answer: HttpStream): Promise<NewcutError | undefined> {
    const { url, status, headers } = answer
    const type = headers['content-type'] ?? 'none'
    if (status === 200 && /^text\/event-stream\b/i.test(type)) return undefined
    const { operation } = this.#options
    const excerpt = await this.#readExcerpt(answer)
    const from = { isFromNode: isFromNode(headers), location: headers.location }
    const details = { url, status, excerpt, operation, ...from }
    if (status !== 200) return new NodeRefusal(details)
    const body = excerpt ? `: ${excerpt}` : ''
    return new NodeMisbehaved(`${url}: content type ${type} is not an event stream${body}`, details)
  }

  /** Beginning of the body of an error, limited in size and time because it may be endless. */
  async #readExcerpt(answer: HttpStream): Promise<string> {
    const bytes = new ByteBuffer()
    let cutOff = ''
    const stopTimer = this.#clock.after(EXCERPT_TIMEOUT_MS, () => answer.cancel())
    try {
      for await (const chunk of answer.body) {
        bytes.append(chunk.subarray(0, MAX_EXCERPT_BYTES))
        if (bytes.size >= MAX_EXCERPT_BYTES) break
      }
    } catch (error) {
      cutOff = ` (cut off: ${describeError(error)})`
    } finally {
      stopTimer()
    }
    return (excerptOf(bytes.take()) + cutOff).trim()
  }

  #responseOf(answer: HttpStream): FetchLikeResponse {
    const reader = this.#readerOf(answer)
    return {
      status: 200,
      url: answer.url,
      redirected: false,
      headers: { get: (name) => (name.toLowerCase() === 'content-type' ? 'text/event-stream' : null) },
      body: { getReader: () => reader },
    }
  }

  /** Never ends with an error: the package treats some errors as final. */
  #readerOf(answer: HttpStream): ReaderLike {
    const { maxEventBytes } = this.#options
    // #pause does all the waiting, so the package must reconnect without any.
    const filter = new EventFilter({ retryMs: 0, ...(maxEventBytes !== undefined && { maxEventBytes }) })
    const chunks = answer.body[Symbol.asyncIterator]()
    let isFirst = true
    const read = async (): ReturnType<ReaderLike['read']> => {
      try {
        // The retry line precedes everything that can fail.
        if (isFirst) {
          isFirst = false
          return { done: false, value: filter.push(new Uint8Array(0)) }
        }
        const next = await chunks.next()
        return next.done ? this.#endReading() : { done: false, value: filter.push(next.value) }
      } catch (error) {
        answer.cancel()
        return this.#endReading(error)
      }
    }
    return { read, cancel: async () => answer.cancel() }
  }

  #endReading(error?: unknown): { done: true } {
    const done = { done: true } as const
    if (this.#isClosed) return done
    this.#stopStallTimer()
    const livedMs = Math.round(this.#clock.monotonicMs() - this.#openedAtMs)
    if (livedMs >= HEALTHY_STREAM_MS) this.#failures = 0
    if (error !== undefined) this.#fail(error, livedMs >= HEALTHY_STREAM_MS && error instanceof UnreachableError)
    else if (livedMs >= HEALTHY_STREAM_MS) this.#delayMs = 0
    else this.#fail(this.#earlyEndError(livedMs))
    return done
  }

  #earlyEndError(livedMs: number): NodeMisbehaved {
    const message = `${this.#name}: the node ended the stream after ${livedMs} ms`
    return new NodeMisbehaved(message, { url: this.#name, operation: this.#options.operation, retryable: true })
  }

  /**
   * Pauses with exponential backoff.
   * @param isAtOnce skips the pause: a node after 3.2 breaks the stream when it forgets the miner that the work was
   *   for
   */
  #fail(cause: unknown, isAtOnce = false): void {
    this.#stopStallTimer()
    const maxBackoffMs = this.#options.maxBackoffMs ?? 15_000
    const backoff = { firstMs: FIRST_BACKOFF_MS, maxMs: maxBackoffMs }
    const failures = this.#failures++
    const error = this.#errorOf(cause)
    const isOver = error instanceof UnreachableError && error.reason === 'closed'
    const delayMs = isAtOnce ? 0 : Math.ceil(backoffMs(backoff, failures, this.#options.random ?? Math.random))
    // The stream is closed below, before any pause is over.
    this.#delayMs = isOver ? maxBackoffMs : delayMs
    // Deferred: an exception of a callback must reach the process, not the fetch of the EventSource.
    queueMicrotask(() => {
      if (this.#isClosed) return
      if (isOver) this.close()
      this.#options.onError?.(error, delayMs)
    })
  }

  #errorOf(cause: unknown): NewcutError {
    const { operation } = this.#options
    if (cause instanceof NodeRefusal || cause instanceof NodeMisbehaved) return cause
    if (cause instanceof UnreachableError) {
      return operation === undefined || cause.reason === 'closed' ? cause : cause.forOperation(operation)
    }
    if (!(cause instanceof NewcutError)) return unreachable(this.#name, cause)
    const message = `${this.#name}: ${cause.message}`
    return new NodeMisbehaved(message, { url: this.#name, operation, hint: cause.hint, cause })
  }

  #startStallTimer(): void {
    this.#stopStallTimer()
    const stallMs = Math.min(this.#options.stallMs ?? 0, MAX_TIMEOUT_MS)
    if (stallMs <= 0 || this.#isClosed) return
    const connection = this.#connection
    this.#stopStallTimer = this.#clock.after(stallMs, () => {
      const message = `${this.#name}: no event for ${stallMs} ms, reopening the stream`
      connection.abort(new UnreachableError('timeout', message))
    })
  }

  get #name(): string {
    return this.#options.http.baseUrl + this.#options.path
  }
}
