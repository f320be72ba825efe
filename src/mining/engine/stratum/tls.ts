/** A server for TLS handshakes with rigs. It does not listen itself. */

import type { Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { operatingError } from '#ground/base/errors.ts'
import { readUserFile } from '#ground/base/user-file.ts'
import { engineErrors } from '../errors.ts'

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
    const { message: why } = error as Error
    throw operatingError(engineErrors.badTlsFiles, { cert: files.cert, key: files.key, why }, error)
  }
}
