/** Writes one after the other; while one is under way, all that comes meanwhile gathers for the next. */

export class GroupCommit {
  readonly #write: () => Promise<void>
  /** The write that has not begun; null: nothing waits. */
  #gathering: Promise<void> | null = null
  /** The write that began last. */
  #begun: Promise<void> = Promise.resolve()

  /** `write` writes all that waits when it is called. Once it has failed, no further one begins. */
  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  /** Something waits to be written. */
  request(): void {
    if (this.#gathering !== null) return
    const gathering = this.#begun.then(() => {
      this.#gathering = null
      this.#begun = gathering
      return this.#write()
    })
    // Whoever asks hears of a failure; that nobody may ask is not an error of its own.
    gathering.catch(() => undefined)
    this.#gathering = gathering
  }

  /** Resolves when all that was requested so far is durable; rejects with the error of the write that failed. */
  durable(): Promise<void> {
    return this.#gathering ?? this.#begun
  }
}
