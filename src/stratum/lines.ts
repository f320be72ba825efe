/** Lines of a byte stream: stratum is one JSON message a line. */

const NEWLINE = 0x0a
const NOTHING = Buffer.alloc(0)

/** Splits what arrives into lines. Bytes of an incomplete line are kept, never more than `maxBytes`. */
export class LineSplitter {
  readonly #maxBytes: number
  #rest: Buffer = NOTHING

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * The lines that these bytes complete, without their ends; empty ones are left out. null: a line is too long, and the
   * stream is of no use any more.
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
