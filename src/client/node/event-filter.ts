/**
 * Byte filter in front of an event stream parser. The node sends its updates as `event:New Cut` and an empty line,
 * without data (PROTOCOL.md A.3). A conforming parser never dispatches an event without data (HTML standard, "If the
 * data buffer is an empty string ... return"). The filter adds an empty data line, so that the parser does.
 */
import { ByteBuffer } from '#ground/base/bytes.ts'
import { operatingError } from '#ground/base/errors.ts'
import { nodeErrors } from './error-rows.ts'

const LF = 10
const CR = 13
const COLON = 58
const LINE_END = Uint8Array.of(LF)
const DATA_LINE = new TextEncoder().encode('data:\n')
const NAMES = (['event', 'data', 'retry'] as const).map((name) => ({ name, bytes: new TextEncoder().encode(name) }))

/** Bounds the memory that a stream can take. Work events have a few bytes. */
const DEFAULT_MAX_EVENT_BYTES = 4 * 1024 * 1024

interface EventFilterOptions {
  /** Reconnection time to announce first; the `retry` lines of the server are then dropped. */
  retryMs?: number
  /** Maximum bytes of one line, and of all data lines of one event together. Default 4 MiB. */
  maxEventBytes?: number
}

/**
 * Takes chunks of any size, and returns whole lines that end with LF, without a BOM. It holds back an unfinished last
 * line, which the parser would discard anyway.
 */
export class EventFilter {
  readonly #maxEventBytes: number
  readonly #dropsRetry: boolean
  readonly #line = new ByteBuffer()
  readonly #out = new ByteBuffer()
  #dataBytes = 0
  #hasEvent = false
  #hasData = false
  #isFirstLine = true
  /** The last byte was CR: a LF after it belongs to the same line end. */
  #afterCr = false

  constructor(options: EventFilterOptions = {}) {
    this.#maxEventBytes = options.maxEventBytes ?? DEFAULT_MAX_EVENT_BYTES
    this.#dropsRetry = options.retryMs !== undefined
    if (options.retryMs !== undefined) this.#out.append(new TextEncoder().encode(`retry:${options.retryMs}\n`))
  }

  /**
   * @returns the filtered bytes that are ready, possibly none
   * @throws NewcutError NODE_MISBEHAVED past maxEventBytes
   */
  push(chunk: Uint8Array): Uint8Array {
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      if (byte === LF && this.#afterCr) {
        this.#afterCr = false
        start = i + 1
        continue
      }
      this.#afterCr = byte === CR
      if (byte !== LF && byte !== CR) continue
      this.#hold(chunk.subarray(start, i))
      this.#endLine(this.#line.take())
      start = i + 1
    }
    this.#hold(chunk.subarray(start))
    return this.#out.take()
  }

  #hold(piece: Uint8Array): void {
    this.#checkLimit(this.#line.size + piece.length)
    this.#line.append(piece)
  }

  #endLine(bytes: Uint8Array): void {
    const hasBom = this.#isFirstLine && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    const line = hasBom ? bytes.subarray(3) : bytes
    this.#isFirstLine = false
    if (line.length === 0) {
      this.#endEvent()
      return
    }
    const name = fieldName(line)
    if (name === 'retry' && this.#dropsRetry) return
    if (name === 'event') this.#hasEvent = true
    if (name === 'data') {
      this.#hasData = true
      this.#dataBytes += line.length
      this.#checkLimit(this.#dataBytes)
    }
    this.#out.append(line)
    this.#out.append(LINE_END)
  }

  #endEvent(): void {
    if (this.#hasEvent && !this.#hasData) this.#out.append(DATA_LINE)
    this.#hasEvent = false
    this.#hasData = false
    this.#dataBytes = 0
    this.#out.append(LINE_END)
  }

  #checkLimit(bytes: number): void {
    if (bytes <= this.#maxEventBytes) return
    throw operatingError(nodeErrors.eventTooLong, { maxBytes: this.#maxEventBytes })
  }
}

/** Name of a field: the part before the colon, or the whole line. @returns undefined for an unknown name */
function fieldName(line: Uint8Array): (typeof NAMES)[number]['name'] | undefined {
  const found = NAMES.find(({ bytes }) => {
    const end = line[bytes.length]
    return (end === COLON || end === undefined) && bytes.every((byte, i) => line[i] === byte)
  })
  return found?.name
}
