/** Ports for servers that have to be started again at the same port. Everything else takes port 0. */
import { createServer } from 'node:net'

/** Systems give ports from 32768 on to outgoing connections: such a port may be gone when its server starts again. */
const [FIRST, LAST] = [10_000, 32_000]

/** A port that nothing listens on now. It is chosen at random, so that another run of the tests chooses another one. */
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
