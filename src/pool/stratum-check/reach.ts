/** Addresses of stratum servers, and connections to them. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '#ground/base/clock.ts'
import { operatingError } from '#ground/base/errors.ts'
import { isPort } from '#ground/base/host.ts'
import { checkErrors } from './errors.ts'

export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  readonly url: string
}

const ADDRESS = /^(?:stratum\+(tcp|ssl):\/\/)?(\[[0-9a-f:.]+\]|[^:/@\s[\]]+):(\d{1,5})\/?$/i

/**
 * Parses `HOST:PORT`, optionally after `stratum+tcp://` or `stratum+ssl://`.
 * @throws NewcutError BAD_OPTION
 */
export function readServerAddress(text: string): ServerAddress {
  const [, scheme = 'tcp', host, digits] = ADDRESS.exec(text.trim()) ?? []
  if (host === undefined) {
    const advice = text.includes('@') ? 'the user belongs into --user' : 'such as 10.0.0.5:1917'
    throw operatingError(checkErrors.badAddress, { text, advice })
  }
  const url = `stratum+${scheme.toLowerCase()}://${host}:${digits}`
  const port = Number(digits)
  if (!isPort(port)) throw operatingError(checkErrors.badPort, { url, port })
  return { host: host.replace(/^\[|\]$/g, ''), port, isTls: scheme.toLowerCase() === 'ssl', url }
}

/**
 * Connects to a server. Accepts any TLS certificate, because rigs are not known to check them.
 * @throws NewcutError NODE_UNREACHABLE
 */
export function connectTo(
  { host, port, isTls, url }: ServerAddress,
  clock: Clock,
  timeoutMs: number,
  stopped: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = isTls
      ? connectTls({ host, port, rejectUnauthorized: false, servername: /^[\d.]+$|:/.test(host) ? '' : host })
      : connectTcp({ host, port, noDelay: true })
    const settle = () => {
      cancel()
      stopped.removeEventListener('abort', onStop)
      socket.off('error', onError)
      socket.off('close', onClose)
    }
    const fail = (why: string, cause?: unknown) => {
      settle()
      socket.on('error', () => undefined)
      socket.destroy()
      reject(operatingError(isTls ? checkErrors.noTlsConnection : checkErrors.noConnection, { url, why }, cause))
    }
    const onError = (error: Error) => fail(error.message, error)
    const onClose = () => fail('it closed the connection')
    const onStop = () => fail('stopped')
    const cancel = clock.after(timeoutMs, () => fail(`no connection within ${timeoutMs / 1000} s`))
    stopped.addEventListener('abort', onStop)
    socket.on('error', onError)
    socket.on('close', onClose)
    if (stopped.aborted) onStop()
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      settle()
      resolve(socket)
    })
  })
}
