/** In-memory sockets for rigs in virtual time. */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

class End extends Duplex {
  other: End | null = null
  readonly remoteAddress: string
  readonly remotePort = 1

  constructor(remoteAddress: string) {
    super({ allowHalfOpen: false, decodeStrings: true })
    this.remoteAddress = remoteAddress
  }

  override _read(): void {
    // Bytes are pushed on arrival.
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    // Deliver asynchronously, like system sockets.
    queueMicrotask(() => {
      if (this.other !== null && !this.other.readableEnded && !this.other.destroyed) this.other.push(bytes)
      done()
    })
  }

  override _final(done: () => void): void {
    queueMicrotask(() => {
      if (this.other !== null && !this.other.destroyed) this.other.push(null)
      done()
    })
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.other !== null && !this.other.destroyed) this.other.push(null)
    done(error)
  }

  destroySoon(): void {
    this.end()
    this.once('finish', () => this.destroy())
  }
}

/** Creates a pair of sockets: the rig's end and the server's. */
export function memorySockets(remoteAddress = '10.0.0.1'): { readonly rig: Socket; readonly server: Socket } {
  const [rig, server] = [new End('server'), new End(remoteAddress)]
  rig.other = server
  server.other = rig
  return { rig: rig as unknown as Socket, server: server as unknown as Socket }
}
