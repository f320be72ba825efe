/** Tells of every request when its answer is over: for logs. */
import type { Server, ServerResponse } from 'node:http'

/** A request that was answered. It holds nothing that could be secret: no query, no header and no body. */
export interface ServedRequest {
  readonly method: string
  /** As it was asked for, without its query; any characters. */
  readonly path: string
  /** null: the caller left before there was an answer. */
  readonly status: number | null
  /** From the head of the request to the end of the answer. */
  readonly milliseconds: number
  /** Bytes of the answer on the wire, its head included. */
  readonly bytes: number
}

/** Calls `tell` for each request of the server that is HTTP; for a stream, when it ends. */
export function tellRequests(server: Server, tell: (request: ServedRequest) => void): void {
  // Before other listeners: these may answer at once.
  server.prependListener('request', ({ method = '', url = '' }, response) => {
    const startMs = performance.now()
    const writtenBy = bytesOf(response)
    response.once('close', () => {
      tell({
        method,
        path: url.split('?', 1)[0],
        status: response.headersSent ? response.statusCode : null,
        milliseconds: performance.now() - startMs,
        bytes: writtenBy(),
      })
    })
  })
}

/** Counts what an answer writes. One that waits for an earlier one on its connection has no socket yet. */
function bytesOf(response: ServerResponse): () => number {
  let socket = response.socket
  let before = socket?.bytesWritten ?? 0
  response.once('socket', (given: NonNullable<typeof socket>) => {
    socket = given
    before = given.bytesWritten
  })
  return () => (socket?.bytesWritten ?? before) - before
}
