/** All open event streams of the node. Testers can close them, or hold back their events. */
import type { FastifyReply } from 'fastify'
import { type ServedStream, serveEventStream } from '../app.ts'

export const streamKinds = ['mining', 'header', 'block'] as const
export type StreamKind = (typeof streamKinds)[number]

export class StreamGate {
  readonly #open: Readonly<Record<StreamKind, Set<ServedStream>>> = {
    mining: new Set(),
    header: new Set(),
    block: new Set(),
  }
  readonly #stalled = new Set<StreamKind>()

  /** Like openEventStream, for a stream of this kind. */
  open(kind: StreamKind, reply: FastifyReply, onClose: () => void): ServedStream {
    const streams = this.#open[kind]
    const close = { isOver: false, forget: () => undefined as unknown }
    const stream = serveEventStream(reply, () => {
      close.isOver = true
      close.forget()
      onClose()
    })
    const send: ServedStream['send'] = (event) => {
      if (!this.#stalled.has(kind)) stream.send(event)
    }
    // The reader may have left before its stream was opened.
    if (!close.isOver) streams.add(stream)
    close.forget = () => streams.delete(stream)
    return { ...stream, send }
  }

  /** Closes the open streams; clients may open new ones at once. */
  close(kinds: readonly StreamKind[]): void {
    for (const kind of kinds) for (const stream of this.#open[kind]) stream.close()
  }

  /** Drops all events until resume. Streams stay open; those opened meanwhile are stalled too. */
  stall(kinds: readonly StreamKind[]): void {
    for (const kind of kinds) this.#stalled.add(kind)
  }

  resume(kinds: readonly StreamKind[]): void {
    for (const kind of kinds) this.#stalled.delete(kind)
  }

  get state(): { open: Record<StreamKind, number>; stalled: StreamKind[] } {
    const { mining, header, block } = this.#open
    return {
      open: { mining: mining.size, header: header.size, block: block.size },
      stalled: streamKinds.filter((kind) => this.#stalled.has(kind)),
    }
  }
}
