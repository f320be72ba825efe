/** One request with the whole of its response, limited in time and size. */
import { setMaxListeners } from 'node:events'
import type { Dispatcher } from 'undici'
import { ByteBuffer } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'

/** Conditions that end a round trip before its response, and their errors. */
export interface RoundTripBounds {
  readonly clock: Clock
  /** When one of them aborts, the round trip ends with its reason as it is. None may have aborted before. */
  readonly signals: readonly AbortSignal[]
  /** From the call to the last byte of the response; 0 sets no limit. */
  readonly timeoutMs: number
  readonly timeoutError: () => Error
  /** Maximum bytes of the response. */
  readonly maxBytes: number
  readonly sizeError: () => Error
  /** Converts errors of undici. */
  readonly convertError: (error: unknown) => unknown
}

/** A response with all its bytes. */
interface RoundTripAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Dispatcher.ResponseData['headers']
  /** Wall clock at the arrival of the headers. */
  readonly receivedAtMs: number
  readonly body: Uint8Array
}

/** Abort reason of an abandoned request. */
const abandonedError = () => new Error('nobody awaits the response')

/**
 * Sends a request and resolves with its response. Giving up rejects at once; the connection is dropped as soon as there
 * is one. The `request` of undici creates a stream and a controller each time: 13 us until a request is sent, 4 us with
 * this.
 * @throws the reason of a signal, and the errors that the bounds make
 */
export function roundTrip(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  bounds: RoundTripBounds,
): Promise<RoundTripAnswer> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new RoundTrip(bounds, resolve, reject))
  })
}

/** A request in progress. It ends once: with its response, an error, a timeout, or an aborted signal. */
class RoundTrip implements Dispatcher.DispatchHandler {
  readonly #bounds: RoundTripBounds
  readonly #resolve: (answer: RoundTripAnswer) => void
  readonly #reject: (reason: unknown) => void
  readonly #body = new ByteBuffer()
  readonly #stopTimer: (() => void) | undefined
  #head: Omit<RoundTripAnswer, 'body'> | null = null
  #controller: Dispatcher.DispatchController | null = null
  #isOver = false

  constructor(bounds: RoundTripBounds, resolve: (answer: RoundTripAnswer) => void, reject: (reason: unknown) => void) {
    this.#bounds = bounds
    this.#resolve = resolve
    this.#reject = reject
    const { clock, signals, timeoutMs, timeoutError } = bounds
    if (timeoutMs > 0) this.#stopTimer = clock.after(timeoutMs, () => this.#giveUp(timeoutError()))
    for (const signal of signals) {
      // One signal may stop many calls; Node.js would warn of a leak at the eleventh.
      setMaxListeners(0, signal)
      signal.addEventListener('abort', this.#onAbort)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(abandonedError())
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Dispatcher.ResponseData['headers'],
  ): void {
    // 1xx responses precede the final one.
    if (status >= 200) this.#head = { status, headers, receivedAtMs: this.#bounds.clock.wallMs() }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBytes, sizeError } = this.#bounds
    if (this.#body.size + chunk.length > maxBytes) this.#giveUp(sizeError())
    else this.#body.append(chunk)
  }

  onResponseEnd(): void {
    if (this.#isOver || this.#head === null) return
    const { status, headers, receivedAtMs } = this.#head
    this.#end()
    this.#resolve({ status, headers, receivedAtMs, body: this.#body.take() })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    this.#end()
    this.#reject(this.#bounds.convertError(error))
  }

  readonly #onAbort = () => this.#giveUp(this.#bounds.signals.find(({ aborted }) => aborted)?.reason)

  #giveUp(reason: unknown): void {
    if (this.#isOver) return
    this.#end()
    this.#reject(reason)
    this.#controller?.abort(abandonedError())
  }

  #end(): void {
    this.#isOver = true
    this.#stopTimer?.()
    for (const signal of this.#bounds.signals) signal.removeEventListener('abort', this.#onAbort)
  }
}
