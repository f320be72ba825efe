/** Line splitter for stratum, which sends one JSON message per line. */

const NEWLINE = 0x0a
const NOTHING = Buffer.alloc(0)

/** Splits a byte stream into lines. Buffers an incomplete line of at most `maxBytes`. */
export class LineSplitter {
  readonly #maxBytes: number
  #rest: Buffer = NOTHING

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Completes lines with these bytes.
   * @returns the lines without line ends, empty ones omitted; null if a line is too long, after which the stream is
   * unusable
   */
  push(bytes: Buffer): string[] | null {
    const lines: string[] = []
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      const line =
        this.#rest.length === 0 ? bytes.subarray(from, end) : Buffer.concat([this.#rest, bytes.subarray(from, end)])
      if (line.length > this.#maxBytes) return null
      this.#rest = NOTHING
      from = end + 1
      const text = line.toString()
      if (text.trim() !== '') lines.push(text)
    }
    const kept = bytes.subarray(from)
    if (this.#rest.length + kept.length > this.#maxBytes) return null
    if (kept.length > 0) this.#rest = Buffer.concat([this.#rest, kept])
    return lines
  }
}
