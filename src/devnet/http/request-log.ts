/** Reports every request once its response is over, for logs. */
import type { Server, ServerResponse } from 'node:http'

/** A completed request. It holds nothing that could be secret: no query, no header and no body. */
export interface ServedRequest {
  readonly method: string
  /** As sent, without the query; may contain any characters. */
  readonly path: string
  /** null if the client left before there was a response. */
  readonly status: number | null
  /** From the head of the request to the end of the response. */
  readonly milliseconds: number
  /** Bytes of the response on the wire, head included. */
  readonly bytes: number
}

/** Calls `onRequest` for each HTTP request of the server when its response, or its stream, ends. */
export function reportRequests(server: Server, onRequest: (request: ServedRequest) => void): void {
  // Before other listeners, which may respond at once.
  server.prependListener('request', ({ method = '', url = '' }, response) => {
    const startMs = performance.now()
    const writtenBy = bytesOf(response)
    response.once('close', () => {
      onRequest({
        method,
        path: url.split('?', 1)[0],
        status: response.headersSent ? response.statusCode : null,
        milliseconds: performance.now() - startMs,
        bytes: writtenBy(),
      })
    })
  })
}

/** Counts the bytes of a response. A response after an earlier one on its connection has no socket yet. */
function bytesOf(response: ServerResponse): () => number {
  let socket = response.socket
  let before = socket?.bytesWritten ?? 0
  response.once('socket', (assigned: NonNullable<typeof socket>) => {
    socket = assigned
    before = assigned.bytesWritten
  })
  return () => (socket?.bytesWritten ?? before) - before
}
