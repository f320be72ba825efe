/** A cell for the newest value: putting replaces what was not yet taken, so a slow reader never works through old news. */
export class Mailbox<T> {
  #value: { readonly value: T } | null = null
  #closed = false
  #failure: unknown
  #wake: () => void = () => undefined

  put(value: T): void {
    this.#value = { value }
    this.#wake()
  }

  /** Ends the iteration; with an error, by throwing it. */
  close(error?: unknown): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = error
    this.#wake()
  }

  /** What is put, until the signal is aborted or the reader leaves off: then `stop` is called, which closes this. */
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
