/** Keeps input that is not a message of the protocol away from the library that reads messages. */
import { Transform } from 'node:stream'

/** Maximum length of a header. A longer one is not a valid message header. */
const MAX_HEADER_BYTES = 8192
/** Maximum size of a message: it is held in memory. The longest documents that newcut reads are far shorter. */
const MAX_BODY_BYTES = 100_000_000
const END_OF_HEADER = '\r\n\r\n'

/** Passes messages with a sound header on. It drops anything else, and reports it to `warn`. */
export class MessageFilter extends Transform {
  readonly #warn: (what: string) => void
  #buffer: Buffer = Buffer.alloc(0)
  /** Bytes of the current body that are still to come. */
  #left = 0

  constructor(warn: (what: string) => void) {
    super()
    this.#warn = warn
  }

  override _transform(bytes: Buffer, _: BufferEncoding, done: () => void): void {
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes])
    while (this.#buffer.length > 0) {
      if (this.#left > 0) this.#passBody()
      else if (!this.#passHeader()) break
    }
    done()
  }

  #passBody(): void {
    const part = this.#buffer.subarray(0, this.#left)
    this.#left -= part.length
    this.#buffer = this.#buffer.subarray(part.length)
    this.push(part)
  }

  /** @returns false if the end of the header has not come */
  #passHeader(): boolean {
    const end = this.#buffer.indexOf(END_OF_HEADER)
    if (end < 0) {
      if (this.#buffer.length > MAX_HEADER_BYTES) this.#drop(this.#buffer.length, 'a header of more than 8 KiB')
      return false
    }
    const header = this.#buffer.toString('latin1', 0, end)
    const length = /content-length:[ \t]*(\d+)[ \t]*(?:\r\n|$)/i.exec(header)?.[1]
    const size = end + END_OF_HEADER.length
    if (length === undefined)
      this.#drop(size, `a header without Content-Length: ${JSON.stringify(header.slice(0, 60))}`)
    else if (Number(length) > MAX_BODY_BYTES) this.#drop(size, `a message of ${length} bytes`)
    else {
      this.#buffer = this.#buffer.subarray(size)
      this.#left = Number(length)
      this.push(`Content-Length: ${length}${END_OF_HEADER}`)
    }
    return true
  }

  #drop(bytes: number, what: string): void {
    this.#buffer = this.#buffer.subarray(bytes)
    this.#warn(what)
  }
}
