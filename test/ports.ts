/** Free ports for servers that have to restart on the same port. All other servers use port 0. */
import { createServer } from 'node:net'

/** Systems use ports from 32768 for outgoing connections, so such a port may be taken when its server restarts. */
const [FIRST, LAST] = [10_000, 32_000]

/**
 * A port on which nothing listens at present. The choice is random, so that parallel runs of the tests rarely collide.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor((LAST - FIRST) * Math.random())
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
