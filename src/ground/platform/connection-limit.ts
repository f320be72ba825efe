/** Connection limit of an HTTP server: a new connection replaces an idle one. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Limits the connections of a server that does not listen yet.
 *
 * At the limit, a new connection closes the one that has been idle longest. If none is idle, the new one is closed. A
 * connection is idle while it has no open request; an event stream counts as an open request.
 *
 * Each response of a connection that closes emits 'close'. Node emits it for the first one only: the others
 * wait in its queue, and their streams would stay open forever.
 */
export function limitConnections(server: Server, maxConnections: number): void {
  /** Connection -> its open responses, in the order in which the connections became idle. */
  const open = new Map<Socket, Set<ServerResponse>>()
  const change = (socket: Socket, by: (responses: Set<ServerResponse>) => void) => {
    const responses = open.get(socket)
    if (responses === undefined) return
    by(responses)
    open.delete(socket)
    open.set(socket, responses)
  }
  server.on('connection', (socket: Socket) => {
    if (open.size >= maxConnections && !closeIdle(open)) {
      socket.destroy()
      return
    }
    const responses = new Set<ServerResponse>()
    open.set(socket, responses)
    socket.once('close', () => {
      open.delete(socket)
      for (const response of responses) if (response.socket === null) closeWaiting(response)
    })
  })
  // Runs before the server's own handler, which may complete the response before it returns.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    change(socket, (responses) => responses.add(response))
    response.once('close', () => change(socket, (responses) => responses.delete(response)))
  })
}

/**
 * Closes the connection that has been idle longest.
 * @returns false if none is idle
 */
function closeIdle(open: Map<Socket, Set<ServerResponse>>): boolean {
  for (const [socket, responses] of open) {
    if (responses.size > 0) continue
    open.delete(socket)
    socket.destroy()
    return true
  }
  return false
}

function closeWaiting(response: ServerResponse): void {
  response.destroy()
  response.emit('close')
}
