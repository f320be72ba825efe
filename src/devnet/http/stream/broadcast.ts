/** Broadcasts events to any number of streams. Each event is encoded once. */
import type { FastifyReply } from 'fastify'
import { TEXT } from '#ground/schema/operation.ts'
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

  /** Responds with a stream of all further events. Calls `onClose` once, whichever side closes it. */
  open(reply: FastifyReply, onClose: () => void = () => undefined): ServedStream {
    let isOver = false
    const stream = this.#open(reply, () => {
      isOver = true
      this.#streams.delete(reply)
      onClose()
    })
    // If the reader had already left, its stream ended while it was being opened.
    if (!isOver) this.#streams.set(reply, stream)
    return stream
  }

  send(text: string): void {
    if (this.#streams.size === 0) return
    const event = streamEvent(text)
    for (const stream of this.#streams.values()) stream.send(event)
  }
}

/** Responds to a request for a stream beyond the limit (PROTOCOL.md A.3). */
export function noMoreStreams(reply: FastifyReply): FastifyReply {
  return reply.code(503).type(TEXT).send('No more update streams available currently. Retry later.')
}
