/** The sockets of the stratum server: who is let in, how much each may send and leave unread, and when it is closed. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import { LineSplitter } from '../../stratum/lines.ts'
import { type Address, Addresses } from './addresses.ts'
import { MAX_SESSIONS, type RigLimits } from './limits.ts'
import type { SendAll } from './native-send.ts'
import { isBehind, type Mail, mailOf, Outbox } from './outbox.ts'
import { Session, type SessionPorts } from './session.ts'

/** How often sessions are looked at: for silence, difficulty, and to give them the requests of another second. */
const LOOK_MS = 1000
const KEEP_ALIVE_MS = 60_000
const HANDSHAKE_MS = 10_000
/** What is no message at all counts as so many bad requests. */
const GARBAGE = 10

export interface RigServerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Files in PEM form; null: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly limits: RigLimits
  readonly clock: Clock
  /** Writes to many sockets; null: each is written to by itself. */
  readonly sendAll: SendAll | null
}

/** What the sessions need that is not a matter of sockets. */
export interface RigServerPorts extends Pick<SessionPorts, 'jobs' | 'onUser' | 'onReady' | 'onShare' | 'onNeed'> {
  readonly onEnd: (session: Session) => void
  /** Work of this sequence was sent; false: it waits, since the client reads slowly. */
  readonly onWritten: (session: Session, sequence: number, isWritten: boolean) => void
}

/** A session and its socket. */
interface Connection extends Mail {
  readonly session: Session
  readonly address: Address
  readonly sinceMs: number
  heardAtMs: number
  /** Requests that may be read in this second. */
  budget: number
  /** Shares that were right, and whatever was wrong. */
  good: number
  bad: number
}

export class RigServer {
  readonly #options: RigServerOptions
  readonly #ports: RigServerPorts
  readonly #server: Server
  readonly #addresses: Addresses
  readonly #outbox: Outbox<Connection>
  readonly #connections = new Map<Session, Connection>()
  /** Which values of nonce1 are taken. */
  readonly #taken = new Uint8Array(MAX_SESSIONS)
  #nextNonce1 = 0
  #cancelLook: () => void = () => undefined
  #closed = false

  /** Throws NewcutError BAD_INPUT for certificates that cannot be used. */
  constructor(options: RigServerOptions, ports: RigServerPorts) {
    this.#options = options
    this.#ports = ports
    this.#addresses = new Addresses(options.limits)
    this.#outbox = new Outbox({
      sendAll: options.sendAll,
      unsentBytes: options.limits.unsentBytes,
      onWritten: ({ session }, sequence, isWritten) => ports.onWritten(session, sequence, isWritten),
    })
    const settings = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
    const onSocket = (socket: Socket) => this.#accept(socket)
    this.#server =
      options.tls === null
        ? createServer(settings, onSocket)
        : tlsServer(options.tls, (secure) => secure({ ...settings, handshakeTimeout: HANDSHAKE_MS }, onSocket))
    this.#server.maxConnections = options.limits.sessions
  }

  /** Sessions, those included that have not authorized yet. */
  get sessions(): number {
    return this.#connections.size
  }

  /** Writes what sessions were given to send, which is otherwise done when the event loop turns. */
  flush(): void {
    this.#outbox.flush()
  }

  /** Where it listens. Throws NewcutError PORT_BUSY. */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port, backlog: 1024 }, () => {
        this.#server.off('error', reject)
        resolve()
      })
    }).catch((error: Error) => {
      throw new NewcutError('PORT_BUSY', `cannot listen for rigs on ${host}:${port}: ${error.message}`, {
        hint: 'choose another address with --stratum-listen HOST:PORT',
        cause: error,
      })
    })
    // Descriptors ran out: those who are connected stay, and others come again.
    this.#server.on('error', () => undefined)
    this.#look()
    return { host, port: (this.#server.address() as AddressInfo).port }
  }

  close(): Promise<void> {
    this.#closed = true
    this.#cancelLook()
    for (const { socket } of [...this.#connections.values()]) socket.destroy()
    return new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve())
      else resolve()
    })
  }

  #accept(socket: Socket): void {
    // Resets are followed by 'close'.
    socket.on('error', () => socket.destroy())
    const nowMs = this.#options.clock.monotonicMs()
    const address = this.#closed ? null : this.#addresses.enter(socket.remoteAddress ?? '', nowMs)
    if (address === null) {
      socket.destroy()
      return
    }
    const nonce1 = this.#takeNonce1()
    if (nonce1 === null) {
      this.#addresses.leave(address)
      socket.destroy()
      return
    }
    this.#open(socket, address, nonce1)
  }

  #open(socket: Socket, address: Address, nonce1: number): void {
    const { limits, clock } = this.#options
    const nowMs = () => clock.monotonicMs()
    const claimed = [nonce1]
    const session: Session = new Session(nonce1, {
      ...this.#ports,
      limits,
      nowMs,
      write: (lines, sequence) => this.#outbox.post(connection, lines, sequence),
      close: () => this.#end(connection),
      claim: (other) => {
        const isFree = this.#taken[other] === 0
        if (isFree) claimed.push(other)
        this.#taken[other] = 1
        return isFree
      },
      isBehind: () => isBehind(connection),
      onGarbage: () => this.#blame(connection, { bad: GARBAGE }),
      onShare: (of, share) => {
        const isGood = share.hashes > 0 || share.solution !== undefined
        if (isGood || share.verdict !== 'stale') this.#blame(connection, isGood ? { good: 1 } : { bad: 1 })
        this.#ports.onShare(of, share)
      },
    })
    const at = nowMs()
    const connection: Connection = {
      ...{ ...mailOf(socket), session, address },
      ...{ sinceMs: at, heardAtMs: at, budget: 2 * limits.requestsPerSecond, good: 0, bad: 0 },
    }
    this.#connections.set(session, connection)
    const lines = new LineSplitter(limits.lineBytes)
    socket.on('data', (bytes) => this.#read(connection, lines, bytes))
    socket.on('close', () => {
      this.#connections.delete(session)
      this.#addresses.leave(address)
      for (const each of claimed) this.#taken[each] = 0
      this.#ports.onEnd(session)
    })
  }

  #read(connection: Connection, splitter: LineSplitter, bytes: Buffer): void {
    const { session, socket, address } = connection
    const lines = splitter.push(bytes)
    if (lines === null) {
      this.#blame(connection, { bad: GARBAGE })
      socket.destroy()
      return
    }
    connection.heardAtMs = this.#options.clock.monotonicMs()
    for (const line of lines) {
      if (socket.destroyed || socket.writableEnded) return
      session.receive(line)
    }
    connection.budget -= lines.length
    address.budget -= lines.length
    // What it sends meanwhile waits in the network.
    if (connection.budget <= 0 || address.budget <= 0) socket.pause()
  }

  /** What was answered last still goes out. */
  #end(connection: Connection): void {
    this.#outbox.flush()
    connection.socket.destroySoon()
  }

  /** Where an address is banned by this, closes its sessions but for those that are more good than bad. */
  #blame(connection: Connection, { good = 0, bad = 0 }): void {
    const { address } = connection
    connection.good += good
    connection.bad += bad
    if (!this.#addresses.judge(address, { good, bad }, this.#options.clock.monotonicMs())) return
    for (const other of this.#connections.values()) {
      if (other.address === address && other.bad >= other.good) this.#end(other)
    }
  }

  #look(): void {
    const { clock, limits } = this.#options
    const nowMs = clock.monotonicMs()
    for (const connection of this.#connections.values()) {
      const { session, socket, address, sinceMs, heardAtMs } = connection
      const isLate = !session.isReady && nowMs - sinceMs > limits.authorizeMs
      if (isLate || nowMs - heardAtMs > limits.idleMs) {
        socket.destroy()
        continue
      }
      this.#addresses.refill(address, nowMs)
      const rate = limits.requestsPerSecond
      connection.budget = Math.min(2 * rate, connection.budget + rate)
      if (socket.isPaused() && connection.budget > 0 && address.budget > 0) socket.resume()
      session.look()
    }
    this.#cancelLook = clock.after(LOOK_MS, () => this.#look())
  }

  /** The next free one, so that none comes back soon; null: all are taken. */
  #takeNonce1(): number | null {
    if (this.#connections.size >= this.#options.limits.sessions) return null
    for (let tried = 0; tried < MAX_SESSIONS; tried++) {
      const nonce1 = this.#nextNonce1
      this.#nextNonce1 = (nonce1 + 1) % MAX_SESSIONS
      if (this.#taken[nonce1] === 1) continue
      this.#taken[nonce1] = 1
      return nonce1
    }
    return null
  }
}

type CreateTls = (settings: object, onSocket: (socket: Socket) => void) => Server

function tlsServer(
  files: { readonly cert: string; readonly key: string },
  create: (secure: CreateTls) => Server,
): Server {
  try {
    const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)]
    return create((settings, onSocket) => createTlsServer({ ...settings, cert, key }, onSocket))
  } catch (error) {
    const message = `cannot use ${files.cert} and ${files.key} for TLS: ${(error as Error).message}`
    throw new NewcutError('BAD_INPUT', message, { hint: 'both are files in PEM form', cause: error })
  }
}
