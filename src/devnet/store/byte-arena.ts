/** Append-only bytes in large pieces: stores records without an object for each. */

const PIECE_BYTES = 1024 * 1024

export class ByteArena {
  readonly #pieces: Uint8Array[] = []
  #used = PIECE_BYTES

  /** Stores a copy. @returns its offset */
  append(bytes: Uint8Array): number {
    if (this.#used + bytes.length > PIECE_BYTES) {
      // A record larger than a piece gets a piece of its own.
      this.#pieces.push(new Uint8Array(Math.max(PIECE_BYTES, bytes.length)))
      this.#used = 0
    }
    const at = (this.#pieces.length - 1) * PIECE_BYTES + this.#used
    this.#pieces[this.#pieces.length - 1].set(bytes, this.#used)
    this.#used += bytes.length
    return at
  }

  /** @returns a read-only view */
  read(at: number, length: number): Uint8Array {
    const offset = at % PIECE_BYTES
    return this.#pieces[Math.floor(at / PIECE_BYTES)].subarray(offset, offset + length)
  }
}
