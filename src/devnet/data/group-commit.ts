/** Group commit: writes run one at a time, and all requests that arrive during a write share the next one. */

export class GroupCommit {
  readonly #write: () => Promise<void>
  /** The next write, which has not begun; null if none is requested. */
  #gathering: Promise<void> | null = null
  /** The write that began last. */
  #begun: Promise<void> = Promise.resolve()

  /** @param write writes all changes pending at its call; never called again once it has failed */
  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  /** Call it when there is something to write. */
  request(): void {
    if (this.#gathering !== null) return
    const gathering = this.#begun.then(() => {
      this.#gathering = null
      this.#begun = gathering
      return this.#write()
    })
    // durable() reports a failure. Without a caller of it, the rejection must not be an unhandled one.
    gathering.catch(() => undefined)
    this.#gathering = gathering
  }

  /** Resolves once all requests so far are durable. Rejects with the error of the failed write. */
  durable(): Promise<void> {
    return this.#gathering ?? this.#begun
  }
}
