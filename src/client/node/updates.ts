/**
 * Update streams as async iterables. They reconnect by themselves, report gaps, and buffer a limited number of events
 * for a slow reader.
 */
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { nodeErrors } from './error-rows.ts'
import { isRetryable, NodeRefusal } from './errors.ts'
import { openEventStream } from './event-stream.ts'
import { type NodeHttp, onAbort } from './http.ts'

/** Updates were missed between the previous and the next one. */
export interface Gap {
  readonly type: 'gap'
  /**
   * `reconnected`: the stream was down, or the node had ended it as nodes do from time to time. `overflow`: the reader
   * was slower than the node, and the oldest updates were dropped.
   */
  readonly reason: 'reconnected' | 'overflow'
  /** Number of dropped updates, or null if it is unknown. */
  readonly dropped: number | null
  /** Failure that ended the stream before; undefined for a regular end. */
  readonly cause?: NewcutError
}

/** Options of a stream. */
export interface StreamOptions {
  /** Aborting it ends the iteration, without an error. */
  readonly signal?: AbortSignal
  /** Called whenever the stream is open; it delivers all later updates. */
  readonly onOpen?: () => void
  /**
   * Called with failures that are retried after a pause of `retryInMs`. Default: nothing; a gap follows in any case.
   */
  readonly onTrouble?: (error: NewcutError, retryInMs: number) => void
  /** Longest silence before the stream is reopened. Default 0: a silent stream stays open. */
  readonly stallMs?: number
  /** Maximum number of updates that wait for the reader; default 1,000. */
  readonly mostBuffered?: number
}

/** An iteration that can be ended while a caller awaits its next item. */
export interface Updates<T> extends AsyncIterable<T> {
  /** Opens the stream. The first `next()` sends the request. */
  [Symbol.asyncIterator](): AsyncIterator<T, undefined, undefined>
}

/** Default for `mostBuffered`: several minutes of headers of 20 chains. */
const MAX_BUFFERED = 1_000
/** Maximum characters of waiting events: blocks can have megabytes. The oldest are dropped beyond it. */
const MAX_BUFFERED_CHARACTERS = 64 * 1024 * 1024

/** A stream to follow, and the parser of its events. */
interface StreamSource<T> {
  readonly http: NodeHttp
  readonly path: string
  /** Id of the operation, for errors. */
  readonly operation: string
  /** Hint for a 404. */
  readonly hintIfMissing: string
  readonly body?: Uint8Array
  readonly events: readonly string[]
  readonly maxEventBytes?: number
  /** Called when the reader takes the event, one at a time. Its errors end the iteration. */
  readonly read: (name: string, data: string) => T | Promise<T>
}

/** The updates of a stream; each iteration opens a connection of its own. */
export function followStream<T>(source: StreamSource<T>, options: StreamOptions): Updates<T | Gap> {
  return { [Symbol.asyncIterator]: () => iterate(source, options) }
}

function iterate<T>(source: StreamSource<T>, options: StreamOptions): AsyncIterator<T | Gap, undefined, undefined> {
  const queue = new UpdateQueue(options.mostBuffered ?? MAX_BUFFERED)
  const entries = follow(source, options, queue)
  return {
    next: () => entries.next(),
    // A generator alone would respond only after the next update.
    return: () => {
      queue.end()
      return entries.return(undefined)
    },
  }
}

async function* follow<T>(
  source: StreamSource<T>,
  options: StreamOptions,
  queue: UpdateQueue,
): AsyncGenerator<T | Gap, undefined, undefined> {
  const { read, hintIfMissing, ...connection } = source
  const { signal, stallMs } = options
  let hasBeenOpen = false
  let failure: NewcutError | undefined
  const stream = openEventStream({
    ...connection,
    ...(stallMs !== undefined && { stallMs }),
    clock: source.http.clock,
    onOpen: () => {
      if (hasBeenOpen)
        queue.pushGap({ type: 'gap', reason: 'reconnected', dropped: null, ...(failure && { cause: failure }) })
      hasBeenOpen = true
      failure = undefined
      options.onOpen?.()
    },
    onEvent: (name, data) => queue.push(name, data),
    onError: (error, retryInMs) => {
      failure = error
      if (!isRetryable(error)) {
        stream.close()
        const isMissing = error instanceof NodeRefusal && error.status === 404
        queue.end(isMissing ? new NodeRefusal(error, hintIfMissing) : error)
      } else options.onTrouble?.(error, retryInMs)
    },
  })
  const forget = signal && onAbort(signal, () => queue.end())
  try {
    for (let entry = await queue.take(); entry !== undefined; entry = await queue.take()) {
      yield 'type' in entry ? entry : await read(entry.name, entry.data)
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error
  } finally {
    stream.close()
    forget?.()
  }
  return undefined
}

interface QueuedEvent {
  readonly name: string
  readonly data: string
}

/** Queue for the reader, limited in number and size: the newest event replaces the oldest, and a gap reports it. */
class UpdateQueue {
  readonly #most: number
  readonly #entries: (QueuedEvent | Gap)[] = []
  #characters = 0
  #dropped = 0
  #lostGap: Gap | undefined
  #end: { readonly error: NewcutError | undefined } | null = null
  #wake: () => void = () => undefined

  constructor(most: number) {
    if (!(Number.isInteger(most) && most >= 1)) {
      throw operatingError(nodeErrors.badBufferSize, { size: most })
    }
    this.#most = most
  }

  push(name: string, data: string): void {
    this.#entries.push({ name, data })
    this.#characters += data.length
    while (this.#entries.length > this.#most || this.#characters > MAX_BUFFERED_CHARACTERS) {
      const oldest = this.#entries.shift()
      if (oldest === undefined) break
      if ('type' in oldest) this.#lostGap = oldest
      else {
        this.#characters -= oldest.data.length
        this.#dropped++
      }
    }
    this.#wake()
  }

  /** Appends a gap, in place of a gap that is the last entry. */
  pushGap(gap: Gap): void {
    const last = this.#entries.at(-1)
    if (last !== undefined && 'type' in last) this.#entries.pop()
    this.#entries.push(gap)
    this.#wake()
  }

  /** Ends the reading: at once, or after all waiting updates if there is an error. */
  end(error?: NewcutError): void {
    if (this.#end !== null && error !== undefined) return
    this.#end = { error }
    this.#wake()
  }

  async take(): Promise<QueuedEvent | Gap | undefined> {
    for (;;) {
      if (this.#end !== null && this.#end.error === undefined) return undefined
      const gap = this.#takeGap()
      if (gap !== undefined) return gap
      const entry = this.#entries.shift()
      if (entry !== undefined) {
        if (!('type' in entry)) this.#characters -= entry.data.length
        return entry
      }
      if (this.#end?.error !== undefined) throw this.#end.error
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** The gap for updates that were dropped, if any. */
  #takeGap(): Gap | undefined {
    const gap: Gap | undefined =
      this.#dropped > 0 ? { type: 'gap', reason: 'overflow', dropped: this.#dropped } : this.#lostGap
    this.#dropped = 0
    this.#lostGap = undefined
    return gap
  }
}
