/** Connections between the client and a simulated node: bytes arrive in order, late, or not at all. */
import { Duplex } from 'node:stream'
import type { VirtualTime } from './virtual-time.ts'

/** The HTTP client's end of a connection. */
class ClientSocket extends Duplex {
  readonly #connection: Connection

  constructor(connection: Connection) {
    super({ allowHalfOpen: false })
    this.#connection = connection
  }

  override _read(): void {
    this.#connection.onRead()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#connection.toNode(bytes)
    done()
  }

  override _final(done: () => void): void {
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.closed()
    done(error)
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }
}

/** The node's end of a connection. */
export interface NodeEnd {
  /** @param sentAtMs when the client sent them */
  onBytes(bytes: Buffer, sentAtMs: number): void
  /** The client has closed the connection. */
  onClosed(): void
}

export interface ConnectionOptions {
  readonly time: VirtualTime
  /** One-way latency of the next bytes. */
  readonly latencyMs: () => number
  readonly onClosed: (connection: Connection) => void
}

export class Connection {
  readonly socket: Duplex
  /** Neither end receives anything from the other, and neither is notified. */
  isHalfOpen = false
  node: NodeEnd | null = null
  /** Called when the client can take more of an endless body. */
  onRead: () => void = () => undefined
  readonly #options: ConnectionOptions
  /** Arrival times of the last bytes in each direction: later bytes must not overtake them. */
  #atNodeMs = 0
  #atClientMs = 0
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.socket = new ClientSocket(this)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Sends bytes of the client. */
  toNode(bytes: Buffer): void {
    const { time, latencyMs } = this.#options
    this.#atNodeMs = Math.max(this.#atNodeMs, time.nowMs + latencyMs())
    const sentAtMs = time.nowMs
    time.after(this.#atNodeMs - sentAtMs, () => {
      if (!this.isHalfOpen) this.node?.onBytes(bytes, sentAtMs)
    })
  }

  /** Sends bytes of the node. `onArrived` runs when the client has them. */
  toClient(bytes: Uint8Array, onArrived: () => void = () => undefined): void {
    this.#later(() => {
      this.socket.push(bytes)
      onArrived()
    })
  }

  /** The node closes the connection gracefully. */
  end(): void {
    this.#later(() => this.socket.push(null))
  }

  /** Resets the connection: the node receives nothing more. */
  reset(): void {
    this.node?.onClosed()
    this.node = null
    this.#later(() => this.socket.destroy(failure('ECONNRESET', 'read ECONNRESET')))
  }

  /** The client has dropped the connection. */
  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#options.onClosed(this)
    const { time, latencyMs } = this.#options
    time.after(latencyMs(), () => {
      if (!this.isHalfOpen) this.node?.onClosed()
    })
  }

  #later(run: () => void): void {
    const { time, latencyMs } = this.#options
    this.#atClientMs = Math.max(this.#atClientMs, time.nowMs + latencyMs())
    time.after(this.#atClientMs - time.nowMs, () => {
      // Timers that the client sets in this callback are the miner's.
      time.owner = 'miner'
      if (!this.isHalfOpen && !this.#isClosed) run()
    })
  }
}

/** A socket error. */
export function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
