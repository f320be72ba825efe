/** The server that does TLS handshakes with rigs; it listens nowhere itself. */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { NewcutError } from '../../core/errors.ts'

/** `onSocket`: the handshake of a client is done. Throws NewcutError BAD_INPUT for files that cannot be used. */
export function tlsServer(
  files: { readonly cert: string; readonly key: string },
  onSocket: (socket: Socket) => void,
): TlsServer {
  try {
    const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)]
    // A handshake that fails is told of, and closed by whoever hears of it.
    return createTlsServer({ cert, key }, onSocket).on('tlsClientError', (_error, socket) => socket.destroy())
  } catch (error) {
    const message = `cannot use ${files.cert} and ${files.key} for TLS: ${(error as Error).message}`
    throw new NewcutError('BAD_INPUT', message, { hint: 'both must be PEM files', cause: error })
  }
}
