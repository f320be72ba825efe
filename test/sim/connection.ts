/** Connections between the client and a simulated node: bytes that arrive in order, late, or not at all. */
import { Duplex } from 'node:stream'
import type { VirtualTime } from './virtual-time.ts'

/** The end of a connection that the HTTP client holds. */
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

/** What a node does with a connection. */
export interface NodeEnd {
  /** `sentAtMs`: when the client sent them. */
  onBytes(bytes: Buffer, sentAtMs: number): void
  /** The client is gone. */
  onClosed(): void
}

export interface ConnectionOptions {
  readonly time: VirtualTime
  /** How long bytes take now, one way. */
  readonly latencyMs: () => number
  readonly onClosed: (connection: Connection) => void
}

export class Connection {
  readonly socket: Duplex
  /** The node does not hear of the client any more, nor the client of the node, and neither is told. */
  isHalfOpen = false
  node: NodeEnd | null = null
  /** Called when the client may be given more of a body without end. */
  onRead: () => void = () => undefined
  readonly #options: ConnectionOptions
  /** When the last bytes of either direction arrive: none overtake others. */
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

  /** Bytes of the client. */
  toNode(bytes: Buffer): void {
    const { time, latencyMs } = this.#options
    this.#atNodeMs = Math.max(this.#atNodeMs, time.nowMs + latencyMs())
    const sentAtMs = time.nowMs
    time.after(this.#atNodeMs - sentAtMs, () => {
      if (!this.isHalfOpen) this.node?.onBytes(bytes, sentAtMs)
    })
  }

  /** Bytes of the node. `onArrived` runs when the client has them. */
  toClient(bytes: Uint8Array, onArrived: () => void = () => undefined): void {
    this.#later(() => {
      this.socket.push(bytes)
      onArrived()
    })
  }

  /** The node ends the connection in order. */
  end(): void {
    this.#later(() => this.socket.push(null))
  }

  /** The connection is reset: the node hears nothing more of it. */
  reset(): void {
    this.node?.onClosed()
    this.node = null
    this.#later(() => this.socket.destroy(failure('ECONNRESET', 'read ECONNRESET')))
  }

  /** The client has dropped it. */
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
      // What the client sets up when it is told is its own.
      time.owner = 'miner'
      if (!this.isHalfOpen && !this.#isClosed) run()
    })
  }
}

/** An error of a socket. */
export function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
