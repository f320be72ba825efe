/** A TCP proxy on loopback that adds latency, for measurements and tests. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface DelayProxy {
  readonly url: string
  /** Stops all traffic until the returned function is called. */
  hold(): () => void
  close(): Promise<void>
}

/** Forwards to `port`, delaying every byte by half of `latencyMs` in each direction. */
export async function startDelayProxy(port: number, latencyMs: number): Promise<DelayProxy> {
  const sockets = new Set<Socket>()
  let held: (() => void)[] | null = null
  const pass = (run: () => void) => {
    if (held !== null) held.push(run)
    // A timer would take at least 1 ms.
    else if (latencyMs === 0) run()
    else setTimeout(run, latencyMs / 2)
  }
  const forward = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (bytes) => pass(() => to.write(bytes)))
    from.on('close', () => pass(() => to.destroy()))
    from.on('error', () => to.destroy())
  }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    forward(client, upstream)
    forward(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: () => {
      const waiting: (() => void)[] = []
      held = waiting
      return () => {
        held = null
        for (const run of waiting.splice(0)) run()
      }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
