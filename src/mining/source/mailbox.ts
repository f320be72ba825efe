/** A cell for the newest value. A new value replaces an unread one, so a slow reader never gets old values. */
export class Mailbox<T> {
  #value: { readonly value: T } | null = null
  #closed = false
  #failure: unknown
  #wake: () => void = () => undefined

  put(value: T): void {
    this.#value = { value }
    this.#wake()
  }

  /** Ends the iteration, or makes it throw `error`. */
  close(error?: unknown): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = error
    this.#wake()
  }

  /** Iterates until the signal aborts or the reader stops. Then it calls `stop`, which must close this mailbox. */
  async *until(signal: AbortSignal, stop: () => void): AsyncGenerator<T, void, void> {
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      yield* this
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      if (this.#closed) {
        if (this.#failure !== undefined) throw this.#failure
        return
      }
      const taken = this.#value
      this.#value = null
      if (taken !== null) yield taken.value
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}
