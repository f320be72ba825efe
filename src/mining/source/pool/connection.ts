/** A connection to a pool: lines in both directions, over TCP or TLS. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Clock } from '#ground/base/clock.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { LineSplitter } from '../../stratum/lines.ts'
import { sourceErrors } from '../errors.ts'
import type { PoolAddress } from './address.ts'

/** Certificate checks for a pool. Default: the authorities that Node.js trusts. */
export interface PoolTrust {
  /** Whether to accept any certificate. */
  readonly insecure?: boolean | undefined
  /** SHA-256 fingerprint of the only accepted certificate, 64 hex digits. */
  readonly fingerprint?: string | undefined
  /** The only trusted authorities, in PEM form. */
  readonly ca?: string | undefined
}

interface LineHandlers {
  readonly onOpen: () => void
  readonly onLine: (line: string) => void
  /** Called once; nothing follows. */
  readonly onClosed: (reason: NewcutError) => void
}

/** Maximum length of a line, so that a pool cannot fill the memory. A work message has about 700 bytes. */
const MAX_LINE_BYTES = 16_384
/** Timeout of the connection, with its TLS handshake. */
const CONNECT_MS = 10_000
/** Timeout of received bytes: pools send new work at least every minute or so. */
const SILENCE_MS = 180_000
/**
 * Timeout of received bytes after a share, which pools answer within a second. A silent pool is gone, even if the
 * connection still exists. A lost packet or a pool restart takes less time.
 */
const UNANSWERED_MS = 30_000
/** Idle time before TCP keepalive probes. */
const KEEPALIVE_MS = 30_000
/** Maximum number of bytes that wait to be sent, some 400 shares. A pool that does not read is useless. */
const MAX_UNSENT_BYTES = 65_536

export class PoolConnection {
  readonly #socket: Socket
  readonly #address: PoolAddress
  readonly #handlers: LineHandlers
  readonly #clock: Clock
  #isClosed = false
  /** Timer since the last received bytes; sent bytes do not count. */
  #cancelSilence: () => void = () => undefined
  /** Timer since the first share without any received bytes after it, or null. */
  #cancelUnanswered: (() => void) | null = null

  constructor(address: PoolAddress, trust: PoolTrust, clock: Clock, handlers: LineHandlers) {
    this.#address = address
    this.#clock = clock
    this.#handlers = handlers
    const { host, port, tls } = address
    const socket = tls ? connectTls({ host, port, ...tlsOptions(host, trust) }) : connectTcp({ host, port })
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setTimeout(CONNECT_MS)
    socket.on('timeout', () => this.#fail(`no connection within ${CONNECT_MS / 1000} s`))
    socket.on(tls ? 'secureConnect' : 'connect', () => this.#open(trust))
    socket.on('error', (error) => this.#fail(error.message, error))
    socket.on('close', () => this.#fail('it ended the connection'))
    const splitter = new LineSplitter(MAX_LINE_BYTES)
    socket.on('data', (bytes: Buffer) => {
      this.#restartTimers()
      const lines = splitter.push(bytes)
      if (lines === null) this.#fail(`a line has more than ${MAX_LINE_BYTES} bytes`)
      for (const line of lines ?? []) if (!this.#isClosed) handlers.onLine(line)
    })
  }

  send(line: string): void {
    if (this.#isClosed) return
    this.#socket.write(line)
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) this.#fail('it does not read what is sent')
  }

  /** Sends a line that the pool has to answer. If it sends nothing in return, the connection ends. */
  ask(line: string): void {
    this.send(line)
    if (this.#isClosed) return
    this.#cancelUnanswered ??= this.#clock.after(UNANSWERED_MS, () => {
      this.#fail(`it has said nothing for ${UNANSWERED_MS / 1000} s, although a share waits for its answer`)
    })
  }

  /** Closes the connection. No handler is called afterwards. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimers()
    this.#socket.destroy()
  }

  /** Ends the connection because of the pool's behaviour. */
  refuse(why: string, cause?: unknown): void {
    this.#fail(why, cause)
  }

  #open({ fingerprint }: PoolTrust): void {
    if (fingerprint !== undefined && this.#address.tls) {
      const actual = (this.#socket as TLSSocket).getPeerCertificate().fingerprint256?.replaceAll(':', '').toLowerCase()
      if (actual !== fingerprint.replaceAll(':', '').toLowerCase()) {
        this.#fail(`its certificate has the fingerprint ${actual ?? 'of nothing'}, not the one expected`)
        return
      }
    }
    this.#socket.setTimeout(0)
    this.#socket.setKeepAlive(true, KEEPALIVE_MS)
    this.#restartTimers()
    this.#handlers.onOpen()
  }

  #restartTimers(): void {
    this.#cancelTimers()
    if (this.#isClosed) return
    this.#cancelSilence = this.#clock.after(SILENCE_MS, () => {
      this.#fail(`it has said nothing for ${SILENCE_MS / 60_000} min`)
    })
  }

  #cancelTimers(): void {
    this.#cancelSilence()
    this.#cancelUnanswered?.()
    this.#cancelUnanswered = null
  }

  #fail(why: string, cause?: unknown): void {
    if (this.#isClosed) return
    this.close()
    this.#handlers.onClosed(operatingError(sourceErrors.poolFailed, { url: this.#address.url, why }, cause))
  }
}

function tlsOptions(host: string, { insecure = false, fingerprint, ca }: PoolTrust) {
  // A pinned certificate needs no authority.
  const rejectUnauthorized = !insecure && fingerprint === undefined
  return { servername: /^[\d.]+$|:/.test(host) ? '' : host, rejectUnauthorized, ...(ca !== undefined && { ca }) }
}
