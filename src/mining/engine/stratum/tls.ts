/** A server for TLS handshakes with rigs. It does not listen itself. */
import type { Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { NewcutError } from '#ground/base/errors.ts'
import { readUserFile } from '#ground/base/user-file.ts'

/**
 * @param onSocket called after a handshake
 * @throws NewcutError BAD_INPUT for unusable files
 */
export function tlsServer(
  files: { readonly cert: string; readonly key: string },
  onSocket: (socket: Socket) => void,
): TlsServer {
  try {
    const [cert, key] = [readUserFile(files.cert), readUserFile(files.key)]
    // Node.js reports a failed handshake here, and leaves closing the socket to the listener.
    return createTlsServer({ cert, key }, onSocket).on('tlsClientError', (_error, socket) => socket.destroy())
  } catch (error) {
    const message = `cannot use ${files.cert} and ${files.key} for TLS: ${(error as Error).message}`
    throw new NewcutError('BAD_INPUT', message, { hint: 'both must be PEM files', cause: error })
  }
}
