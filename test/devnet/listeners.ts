/** Reachable peers: servers that only listen, each on a port of its own. */
import net, { type AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Opens servers and returns the PeerInfo of each, as JSON. The end of the test closes them. */
export function listenAt(count: number) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const server = net.createServer((socket) => socket.destroy())
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      return { id: null, address: { hostname: '127.0.0.1', port } }
    }),
  )
}
