/** Arrival times in the share log of a fleet that a test sets: a relay of bytes before a real NATS server. */

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** The time of arrival of the message with this sequence, in whole milliseconds. */
export type ArrivedMs = (sequence: number) => number

const NEWLINE = '\r\n'
/** JetStream names the place and the time of each message in its reply subject. */
const PLACE = /(\$JS\.ACK\.[^. ]+\.[^. ]+\.\d+\.(\d+)\.\d+)\.\d+\.(\d+)/

export class ArrivalProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Joins clients to the server that wait for it; null if none has to wait. */
  #held: (() => void)[] | null = null

  private constructor(port: number, arrivedMs: ArrivedMs, more: number) {
    this.#server = createServer((client) => {
      this.#sockets.add(client)
      client.on('close', () => this.#sockets.delete(client))
      client.on('error', () => undefined)
      const join = () => this.#join(client, connect(port, '127.0.0.1'), changer(arrivedMs, more))
      if (this.#held === null) join()
      else this.#held.push(join)
    })
  }

  #join(client: Socket, server: Socket, change: (bytes: Buffer) => Buffer): void {
    server.on('data', (bytes) => client.write(change(bytes)))
    client.on('data', (bytes) => server.write(bytes))
    server.on('error', () => undefined)
    server.on('close', () => client.destroy())
    client.on('close', () => server.destroy())
  }

  /**
   * @param port of the NATS server
   * @param more messages that follow each one, beyond those that the server counts
   */
  static async start(port: number, arrivedMs: ArrivedMs, more = 0): Promise<ArrivalProxy> {
    const proxy = new ArrivalProxy(port, arrivedMs, more)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Number of clients. */
  get connections(): number {
    return this.#sockets.size
  }

  /** Ends all connections, and lets no client reach the server. */
  hold(): void {
    this.#held = []
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  /** Lets clients reach the server again. */
  release(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const join of held) join()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

/** Changes the bytes of a server: lines, some of them with a payload after them. */
function changer(arrivedMs: ArrivedMs, more: number): (bytes: Buffer) => Buffer {
  let rest = Buffer.alloc(0)
  let payload = 0
  const changed = (line: string) =>
    line.replace(
      PLACE,
      (_, before, sequence, pending) => `${before}.${arrivedMs(Number(sequence))}000000.${Number(pending) + more}`,
    )
  return (bytes) => {
    const out: Buffer[] = []
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const part = rest.subarray(0, payload)
      out.push(part)
      payload -= part.length
      rest = rest.subarray(part.length)
      const end = payload > 0 ? -1 : rest.indexOf(NEWLINE)
      if (end < 0) return Buffer.concat(out)
      const line = rest.toString('latin1', 0, end)
      rest = rest.subarray(end + NEWLINE.length)
      out.push(Buffer.from(changed(line) + NEWLINE, 'latin1'))
      if (/^H?MSG /.test(line)) payload = Number(line.slice(line.lastIndexOf(' '))) + NEWLINE.length
    }
  }
}
