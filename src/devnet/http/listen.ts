/** The port of an embedded node. */
import type { AddressInfo } from 'node:net'
import { NewcutError } from '../../core/errors.ts'
import type { App } from './app.ts'

interface Address {
  readonly host?: string
  readonly port?: number
}

/** Starts to listen. Throws NewcutError PORT_BUSY. @returns the URL */
export async function listen(app: App, { host = '127.0.0.1', port = 1848 }: Address): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const hint =
      code === 'EADDRINUSE'
        ? 'choose another --port (0 takes any free one) or stop what listens there'
        : 'listen on an address of this machine, and on a port that you may use'
    throw new NewcutError('PORT_BUSY', `cannot listen on ${host}:${port}: ${message}`, { hint, cause: error })
  }
  const address = app.server.address() as AddressInfo
  const hostInUrl = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${hostInUrl}:${address.port}`
}
