/** Event streams that all get the same events: each event is encoded once, whatever the number of streams. */
import type { FastifyReply } from 'fastify'
import { TEXT } from '../../../schema/operation.ts'
import { type ServedStream, streamEvent } from '../app.ts'

type OpenStream = (reply: FastifyReply, onClose: () => void) => ServedStream

export class Broadcast {
  readonly #open: OpenStream
  readonly #streams = new Map<FastifyReply, ServedStream>()

  constructor(open: OpenStream) {
    this.#open = open
  }

  get size(): number {
    return this.#streams.size
  }

  /** Answers a request with a stream of every event from now on. `onClose` runs once, whichever side ends it. */
  open(reply: FastifyReply, onClose: () => void = () => undefined): ServedStream {
    let isOver = false
    const stream = this.#open(reply, () => {
      isOver = true
      this.#streams.delete(reply)
      onClose()
    })
    // A reader that had already left ended its stream while it was being opened.
    if (!isOver) this.#streams.set(reply, stream)
    return stream
  }

  send(text: string): void {
    if (this.#streams.size === 0) return
    const event = streamEvent(text)
    for (const stream of this.#streams.values()) stream.send(event)
  }
}

/** The answer to a request for a stream beyond the limit (PROTOCOL.md A.3). */
export function noMoreStreams(reply: FastifyReply): FastifyReply {
  return reply.code(503).type(TEXT).send('No more update streams available currently. Retry later.')
}
