/** Collects the text of an output, and counts its bytes. Outputs have a limit, so that no code prints without end. */
import { evalError } from '../errors.ts'
import { bitLength } from './bits.ts'

/** Message of a command whose output exceeds the limit. */
export const RESULT_TOO_LARGE = 'Result too large'
/** A character of UTF-16 has at most this many bytes in UTF-8. */
const MAX_CHARACTER_BYTES = 3
/** Fewer decimal digits than a number of one bit has. */
const DIGITS_PER_BIT = 0.3

export class TextWriter {
  readonly #limit: number
  #text = ''

  /** @param limit maximum bytes of the whole text in UTF-8 */
  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  /**
   * Appends text.
   * @throws EvalError over the limit
   */
  put(text: string): void {
    this.expectRoom(text.length)
    this.#text += text
  }

  /**
   * Appends a JSON string.
   * @throws EvalError over the limit
   */
  quote(text: string): void {
    // JSON.stringify makes up to six characters of one, so it must not see a text without room.
    this.expectRoom(text.length)
    this.put(JSON.stringify(text))
  }

  /**
   * Appends an integer.
   * @throws EvalError over the limit
   */
  putInteger(integer: bigint): void {
    this.expectDigits(integer)
    this.put(integer.toString())
  }

  /**
   * Measures an integer without printing it.
   * @throws EvalError if its digits have no room
   */
  expectDigits(integer: bigint): void {
    this.expectRoom(Math.floor(bitLength(integer) * DIGITS_PER_BIT))
  }

  /** @throws EvalError if the limit has no room for this many more characters */
  expectRoom(characters: number): void {
    if (this.#text.length + characters > this.#limit) throw evalError(RESULT_TOO_LARGE)
  }

  /**
   * The whole text.
   * @throws EvalError over the limit
   */
  get text(): string {
    const text = this.#text
    if (text.length * MAX_CHARACTER_BYTES > this.#limit && utf8Bytes(text) > this.#limit) {
      throw evalError(RESULT_TOO_LARGE)
    }
    return text
  }
}

/**
 * Appends items with commas between them.
 * @throws EvalError over the limit of the writer
 */
export function writeEach<T>(to: TextWriter, items: Iterable<T>, write: (to: TextWriter, item: T) => void): void {
  let isFirst = true
  for (const item of items) {
    if (!isFirst) to.put(',')
    isFirst = false
    write(to, item)
  }
}

/** Number of bytes of a text in UTF-8. */
function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
