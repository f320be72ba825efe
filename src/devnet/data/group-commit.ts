/** Runs writes one after the other. Everything that arrives during a write goes into the next one together. */

export class GroupCommit {
  readonly #write: () => Promise<void>
  /** The next write, which has not begun; null: nothing waits. */
  #gathering: Promise<void> | null = null
  /** The write that began last. */
  #begun: Promise<void> = Promise.resolve()

  /** `write` writes all that waits when it is called. Once it has failed, no further one begins. */
  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  /** Call it when something waits to be written. */
  request(): void {
    if (this.#gathering !== null) return
    const gathering = this.#begun.then(() => {
      this.#gathering = null
      this.#begun = gathering
      return this.#write()
    })
    // durable() reports a failure. If nobody calls it, the failure must not be an unhandled rejection.
    gathering.catch(() => undefined)
    this.#gathering = gathering
  }

  /** Resolves when all that was requested so far is durable; rejects with the error of the write that failed. */
  durable(): Promise<void> {
    return this.#gathering ?? this.#begun
  }
}
