/** Ends a run: collects the reasons to end, and closes resources in reverse order. */

export class RunEnd {
  /** Aborts when the user stops the miner. */
  readonly stopped: AbortSignal
  /** Aborts when the user stops the miner, an HTTP client stops it, or a part of it fails. */
  readonly wanted: AbortSignal
  /** Aborts with `wanted`, or when the run is over. */
  readonly over: AbortSignal
  readonly #asked = new AbortController()
  readonly #faulted = new AbortController()
  readonly #closed = new AbortController()
  readonly #closers: (() => void | Promise<void>)[] = []

  constructor(stopped: AbortSignal) {
    this.stopped = stopped
    this.wanted = AbortSignal.any([stopped, this.#asked.signal, this.#faulted.signal])
    this.over = AbortSignal.any([this.wanted, this.#closed.signal])
  }

  /** Ends the miner gracefully. */
  readonly request = (): void => this.#asked.abort()

  /** Ends the miner with an error. */
  readonly fault = (error: unknown): void => this.#faulted.abort(error)

  /** @throws the error of the part that failed */
  throwIfFaulted(): void {
    this.#faulted.signal.throwIfAborted()
  }

  /** Registers a function to call at the end, in reverse order of registration. */
  onClose(close: () => void | Promise<void>): void {
    this.#closers.unshift(close)
  }

  async close(): Promise<void> {
    this.#closed.abort()
    for (const close of this.#closers) await close()
  }
}
