/** Both ends of a connection in memory, for rigs on virtual time: lines arrive without a network. */
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
    // Bytes are pushed as they come.
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    // Never within the write, as with sockets of the system.
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

/** The end of the rig, and the one that the server serves. */
export function memorySockets(remoteAddress = '10.0.0.1'): { readonly rig: Socket; readonly server: Socket } {
  const [rig, server] = [new End('server'), new End(remoteAddress)]
  rig.other = server
  server.other = rig
  return { rig: rig as unknown as Socket, server: server as unknown as Socket }
}
