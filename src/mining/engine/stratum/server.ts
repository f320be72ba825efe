/** Sockets of the stratum server: admission, request rates, unsent data and timeouts. */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { Clock } from '#ground/base/clock.ts'
import { operatingError } from '#ground/base/errors.ts'
import { LineSplitter } from '../../stratum/lines.ts'
import { failures } from '../../stratum/messages.ts'
import type { CloseReason } from '../../stratum/refusals.ts'
import { engineErrors } from '../errors.ts'
import { type Address, Addresses, isWorkerBanned } from './addresses.ts'
import { countConduct, newConduct, type RigBehaviour } from './conduct.ts'
import { fullAddressText, fullText, type RigLimits } from './limits.ts'
import type { SendAll } from './native-send.ts'
import type { Nonce1Pool } from './nonce1-pool.ts'
import { isBehind, mailOf, Outbox, type QueuedMessage } from './outbox.ts'
import type { RefusalCounter } from './refusal-counter.ts'
import { isOnly, type RigServerPorts, type ServedSession } from './served.ts'
import type { Share } from './share.ts'
import { UnknownConnections } from './strangers.ts'
import { tlsServer } from './tls.ts'

/** Interval of the checks for silence, difficulty and request rates. */
const CHECK_MS = 1000
/** Idle time before TCP probes: it finds rigs that lost their power. */
const KEEP_ALIVE_MS = 60_000
/** Weight of an unparsable line, in bad requests. */
const GARBAGE = 10
const GOOD = { good: 1, bad: 0 }
const BAD = { good: 0, bad: 1 }

export interface RigServerOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Files in PEM form, or null for no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly limits: RigLimits
  readonly clock: Clock
  readonly nonces: Nonce1Pool
  /** Whether proxies of newcut connect here, instead of rigs. */
  readonly isForProxies: boolean
  /** Counts refused requests and closed connections. */
  readonly refusals: RefusalCounter
  /** Native batch write, or null to write to each socket separately. */
  readonly sendAll: SendAll | null
}

/** A session and its socket. */
interface Connection<S> extends QueuedMessage {
  readonly session: S
  readonly address: Address
  readonly sinceMs: number
  heardAtMs: number
  /** Remaining requests of this second. */
  budget: number
  /** Lines of the current read that are free: shares that cost the rig far more than the server. */
  free: number
  /** Whether it closes after the answer to the current line. */
  isEnding: boolean
  /** Whether it has sent an unparsable line. */
  isGarbled: boolean
  /** Conduct of its shares. */
  readonly conduct: RigBehaviour
}

export class RigServer<S extends ServedSession> {
  /** Refused requests and closed connections. */
  readonly refusals: RefusalCounter
  readonly #options: RigServerOptions
  readonly #ports: RigServerPorts<S>
  readonly #server: Server
  /** Performs the handshakes without listening itself; null without TLS. */
  readonly #tls: TlsServer | null
  /** Connections in the handshake, by the client's address and port. */
  readonly #handshakes = new Map<string, Address>()
  /** All connections, including those in the handshake. */
  readonly #sockets = new Set<Socket>()
  readonly #addresses: Addresses
  readonly #strangers: UnknownConnections
  readonly #outbox: Outbox<Connection<S>>
  readonly #connections = new Map<S, Connection<S>>()
  #cancelLook: () => void = () => undefined
  #closed = false

  /** @throws NewcutError BAD_INPUT for unusable certificates */
  constructor(options: RigServerOptions, ports: RigServerPorts<S>) {
    this.#options = options
    this.#ports = ports
    this.refusals = options.refusals
    this.#addresses = new Addresses(options.limits)
    this.#strangers = new UnknownConnections(ports.onStranger)
    this.#outbox = new Outbox({
      sendAll: options.sendAll,
      unsentBytes: options.limits.unsentBytes,
      onWritten: ({ session }, sequence, isWritten) => ports.onWritten(session, sequence, isWritten),
      onSlow: () => this.refusals.connection('slow_reader'),
    })
    const { sessions } = options.limits
    const settings = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
    this.#tls = options.tls === null ? null : tlsServer(options.tls, (socket) => this.#greet(socket))
    this.#server = createServer(settings, (socket) => this.enter(socket))
    this.#server.maxConnections = sessions
    this.#server.on('drop', () => {
      this.refusals.connection('full')
      this.#ports.onFull('all', fullText(sessions))
    })
  }

  /** Number of sessions, including those that have not authorized. */
  get sessions(): number {
    return this.#connections.size
  }

  /** Writes all texts of sessions now, instead of at the end of the event loop turn. */
  flush(): void {
    this.#outbox.flush()
  }

  /**
   * Starts to listen.
   * @returns the address
   * @throws NewcutError PORT_BUSY
   */
  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port, backlog: 1024 }, () => {
        this.#server.off('error', reject)
        resolve()
      })
    }).catch((error: Error) => {
      throw operatingError(engineErrors.busyPort, { host, port, why: error.message }, error)
    })
    // File descriptors ran out: existing connections stay, and other clients retry.
    this.#server.on('error', () => undefined)
    this.#check()
    return { host, port: (this.#server.address() as AddressInfo).port }
  }

  close(): Promise<void> {
    this.#closed = true
    this.#cancelLook()
    for (const { socket } of [...this.#connections.values()]) socket.destroy()
    for (const socket of [...this.#sockets]) socket.destroy()
    return new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve())
      else resolve()
    })
  }

  /** Admits a connection. It counts for its address from now, even if it never becomes a session. */
  enter(socket: Socket): void {
    // A reset is followed by 'close'.
    socket.on('error', () => socket.destroy())
    const { clock } = this.#options
    const remote = socket.remoteAddress ?? ''
    const address = this.#closed ? null : this.#addresses.enter(remote, clock.monotonicMs())
    if (address === null) {
      this.#refuse(socket, remote)
      return
    }
    this.#sockets.add(socket)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.#addresses.leave(address)
    })
    if (this.#tls === null) this.#accept(socket, address)
    else this.#shakeHands(socket, address, this.#tls)
  }

  /** Closes a connection of an address that is full or banned. */
  #refuse(socket: Socket, remote: string): void {
    socket.destroy()
    if (this.#closed) return
    const isFull = this.#addresses.isFull(remote)
    this.refusals.connection(isFull ? 'address_full' : 'address_banned')
    if (isFull) this.#ports.onFull('address', fullAddressText(remote, this.#options.limits))
  }

  #shakeHands(socket: Socket, address: Address, tls: TlsServer): void {
    const { clock, limits } = this.#options
    const client = clientOf(socket)
    const cancel = clock.after(limits.handshakeMs, () => {
      if (this.#handshakes.has(client)) socket.destroy()
    })
    this.#handshakes.set(client, address)
    socket.on('close', () => {
      cancel()
      if (!this.#handshakes.delete(client)) return
      this.#strangers.tell(address.key, null)
      if (!this.#closed) this.refusals.connection('handshake')
    })
    tls.emit('connection', socket)
  }

  /** Handles a completed handshake. */
  #greet(socket: Socket): void {
    const client = clientOf(socket)
    const address = this.#handshakes.get(client)
    this.#handshakes.delete(client)
    socket.on('error', () => socket.destroy())
    if (address === undefined) socket.destroy()
    else this.#accept(socket, address)
  }

  /** Starts a session, unless its address was banned during the handshake. */
  #accept(socket: Socket, address: Address): void {
    const isBanned = address.bannedUntilMs > this.#options.clock.monotonicMs()
    const nonce1 = this.#closed || isBanned ? null : this.#takeNonce1()
    if (nonce1 !== null) {
      this.#open(socket, address, nonce1)
      return
    }
    if (!this.#closed) this.refusals.connection(isBanned ? 'address_banned' : 'full')
    socket.destroy()
  }

  #open(socket: Socket, address: Address, nonce1: number): void {
    const { limits, clock, nonces, isForProxies } = this.#options
    const nowMs = () => clock.monotonicMs()
    const claimed = isForProxies ? [] : [nonce1]
    const session: S = this.#ports.newSession(nonce1, {
      nonce1Bits: isForProxies ? 8 : 16,
      limits,
      nowMs,
      write: (lines, sequence) => this.#outbox.post(connection, lines, sequence),
      close: (reason) => this.#closeAfterAnswer(connection, reason),
      onRefused: (reason) => this.refusals.request(reason),
      claim: (other) => {
        const isFree = nonces.claim(other)
        if (isFree) claimed.push(other)
        return isFree
      },
      isBehind: () => isBehind(connection),
      isBanned: (worker) => isWorkerBanned(address, worker, nowMs()),
      onGarbage: () => this.#blame(connection),
      address: (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, ''),
      onShare: (sender, share, reply) => {
        if (share.isHard) connection.free++
        this.#weigh(connection, share)
        this.#ports.onShare(sender, share, reply)
      },
    })
    const at = nowMs()
    const connection: Connection<S> = {
      ...mailOf(socket),
      session,
      address,
      sinceMs: at,
      heardAtMs: at,
      budget: 2 * limits.requestsPerSecond,
      free: 0,
      isEnding: false,
      isGarbled: false,
      conduct: newConduct(),
    }
    this.#connections.set(session, connection)
    const lines = new LineSplitter(limits.lineBytes)
    socket.on('data', (bytes) => this.#read(connection, lines, bytes))
    socket.on('close', (isBroken) => {
      if (isBroken && !this.#closed) this.refusals.connection('broken')
      this.#connections.delete(session)
      for (const each of claimed) nonces.release(each)
      if (isForProxies) nonces.releaseProxy(nonce1)
      if (!session.isReady) this.#strangers.tell(address.key, session.firstLine)
      this.#ports.onEnd(session)
    })
  }

  #read(connection: Connection<S>, splitter: LineSplitter, bytes: Buffer): void {
    const { session, socket, address } = connection
    const lines = splitter.push(bytes)
    if (lines === null) {
      this.#closeAfterAnswer(connection, 'long_line')
      this.#blame(connection)
      socket.destroy()
      return
    }
    connection.heardAtMs = this.#options.clock.monotonicMs()
    for (const line of lines) {
      if (socket.destroyed || socket.writableEnded) return
      session.receive(line)
      if (connection.isEnding) this.#end(connection)
    }
    const requests = lines.length - connection.free
    connection.free = 0
    connection.budget -= requests
    address.budget -= requests
    // Further requests wait in the network.
    if (connection.budget > 0 && address.budget > 0) return
    if (!socket.isPaused()) this.refusals.request('held')
    socket.pause()
  }

  /** Closes the connection after the answer to the current line. */
  #closeAfterAnswer(connection: Connection<S>, reason: CloseReason | null): void {
    if (!connection.isEnding && reason !== null) this.refusals.connection(reason)
    connection.isEnding = true
    // The current line gets its answer first, if it has one.
    setImmediate(() => this.#end(connection))
  }

  /** Ends the connection after the last answers are sent. */
  #end(connection: Connection<S>): void {
    this.#outbox.flush()
    connection.socket.destroySoon()
  }

  /** Counts an unparsable line. If this bans its address, closes the sessions there that have sent such lines. */
  #blame(connection: Connection<S>): void {
    const { address, conduct } = connection
    conduct.bad += GARBAGE
    connection.isGarbled = true
    if (!this.#addresses.judge(address, { bad: GARBAGE }, this.#options.clock.monotonicMs())) return
    this.#expel('address_banned', (other) => other.address === address && other.isGarbled)
  }

  /**
   * Counts low and malformed shares only against their worker at this address: many rigs share an address, and anybody
   * may use the name of a worker. Stale and duplicate shares are mostly not their fault.
   */
  #weigh(connection: Connection<S>, { verdict, solution, rig, isLate }: Share): void {
    const isGood = verdict === 'accepted' || solution !== undefined
    const isBad = !isGood && !isLate && (verdict === 'low' || verdict === 'malformed')
    if (rig === null || !(isGood || isBad)) return
    const { limits, clock } = this.#options
    const count = isGood ? GOOD : BAD
    const nowMs = clock.monotonicMs()
    const isUnfit = countConduct(connection.conduct, count, limits, nowMs)
    if (isGood) this.#addresses.judge(connection.address, count, nowMs)
    // All workers beyond the named ones share an entry, so close only the connection.
    if (rig.worker.user === '') {
      if (isUnfit) this.#closeAfterAnswer(connection, 'worker_banned')
      return
    }
    const { worker } = rig
    const banned = this.#addresses.judgeWorker(connection.address, worker.key, count, nowMs)
    if (banned === null) return
    if (nowMs >= worker.banReportedUntilMs) {
      worker.banReportedUntilMs = nowMs + limits.banMs
      this.#ports.onBan(worker, banned, connection.address.key)
    }
    this.#expel('worker_banned', ({ session, address }) => address === connection.address && isOnly(session, worker))
  }

  /** Closes the bad ones of the selected connections, after the answers to their requests. */
  #expel(reason: CloseReason, isMeant: (connection: Connection<S>) => boolean): void {
    for (const connection of this.#connections.values()) {
      const { conduct, session } = connection
      if (connection.isEnding || !isMeant(connection) || conduct.bad < conduct.good) continue
      session.show(failures.banned.message)
      this.#closeAfterAnswer(connection, reason)
    }
  }

  #check(): void {
    const { clock, limits } = this.#options
    const nowMs = clock.monotonicMs()
    this.#strangers.refill()
    for (const connection of this.#connections.values()) {
      const { session, socket, address, sinceMs, heardAtMs } = connection
      const isLate = !session.isReady && nowMs - sinceMs > limits.authorizeMs
      if (isLate || nowMs - heardAtMs > limits.idleMs) {
        this.#closeAfterAnswer(connection, isLate ? 'login' : 'idle')
        socket.destroy()
        continue
      }
      this.#addresses.refill(address, nowMs)
      const rate = limits.requestsPerSecond
      connection.budget = Math.min(2 * rate, connection.budget + rate)
      if (socket.isPaused() && connection.budget > 0 && address.budget > 0) socket.resume()
      session.check()
    }
    this.#cancelLook = clock.after(CHECK_MS, () => this.#check())
  }

  /** @returns null if all are taken */
  #takeNonce1(): number | null {
    const { limits, nonces, isForProxies } = this.#options
    if (this.#connections.size >= limits.sessions) return null
    return isForProxies ? nonces.takeProxy() : nonces.take()
  }
}

const clientOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
