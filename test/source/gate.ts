/** An address in front of a node that can be closed and reopened, as if the node went away and came back. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export interface Gate {
  readonly url: string
  /** Drops all connections, and refuses new ones. */
  shut(): Promise<void>
  /** Reopens at the same address. */
  open(): Promise<void>
  /** Accepts connections and forwards nothing, until the gate is opened or shut. */
  hang(): void
}

/** An open gate to the node at this port. @param isOpen false to refuse connections at first */
export async function gateTo(port: number, isOpen = true): Promise<Gate> {
  const sockets = new Set<Socket>()
  let server: Server | null = null
  let hangs = false
  let ownPort = 0
  const gate = {
    get url() {
      return `http://127.0.0.1:${ownPort}`
    },
    shut: async () => {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      const closing = server
      server = null
      await new Promise<void>((resolve) => (closing === null ? resolve() : closing.close(() => resolve())))
    },
    open: async () => {
      await gate.shut()
      hangs = false
      server = createServer((client) => {
        const upstream = connect(port, '127.0.0.1')
        for (const [from, to] of [
          [client, upstream],
          [upstream, client],
        ]) {
          sockets.add(from)
          from.on('data', (bytes) => hangs || to.write(bytes))
          from.on('close', () => {
            sockets.delete(from)
            to.destroy()
          })
          from.on('error', () => to.destroy())
        }
      })
      const listening = server
      await new Promise<void>((resolve) => listening.listen(ownPort, '127.0.0.1', resolve))
      ownPort = (listening.address() as AddressInfo).port
    },
    hang: () => {
      hangs = true
    },
  }
  await gate.open()
  if (!isOpen) await gate.shut()
  return gate
}
