/** Connection limit of an HTTP server: a new connection replaces an idle one. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Limits the connections of a server that does not listen yet.
 *
 * At the limit, a new connection closes the one that has been idle longest. If none is idle, the new one is closed. A
 * connection is idle while it has no open request; an event stream counts as an open request.
 */
export function limitConnections(server: Server, most: number): void {
  /** Connection -> number of open requests, in the order in which the connections became idle. */
  const open = new Map<Socket, number>()
  const change = (socket: Socket, by: number) => {
    const requests = open.get(socket)
    if (requests === undefined) return
    open.delete(socket)
    open.set(socket, requests + by)
  }
  server.on('connection', (socket: Socket) => {
    if (open.size >= most && !closeIdle(open)) {
      socket.destroy()
      return
    }
    open.set(socket, 0)
    socket.once('close', () => open.delete(socket))
  })
  // Runs before the server's own handler, which may complete the response before it returns.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    change(socket, 1)
    response.once('close', () => change(socket, -1))
  })
}

/**
 * Closes the connection that has been idle longest.
 * @returns false if none is idle
 */
function closeIdle(open: Map<Socket, number>): boolean {
  for (const [socket, requests] of open) {
    if (requests > 0) continue
    open.delete(socket)
    socket.destroy()
    return true
  }
  return false
}
