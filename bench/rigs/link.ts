/** The way between a model rig and the server: memory in place of sockets, with latency and losses on virtual time. */
import type { Socket } from 'node:net'
import type { Clock } from '../../src/core/clock.ts'
import { LineSplitter } from '../../src/stratum/lines.ts'
import { memorySockets } from './memory-socket.ts'

export interface Network {
  readonly clock: Clock
  /** Milliseconds that a message takes, in either direction. */
  readonly latencyMs: () => number
  /** Whether the network holds all lines back; they arrive afterwards. */
  isLost: boolean
}

export interface LinkEvents {
  readonly onLine: (line: string) => void
  readonly onClose: () => void
}

const MAX_LINE = 64 * 1024
/** A message that was lost is sent again so often. */
const RETRY_MS = 500

/** One connection. */
export class Link {
  readonly #network: Network
  readonly #socket: Socket
  readonly #events: LinkEvents
  /** Both ends know the address of the other one by this. */
  bytesIn = 0
  bytesOut = 0
  #isClosed = false
  /** When the last message of a direction arrives: none overtakes another. */
  readonly #lastMs = { in: 0, out: 0 }

  constructor(network: Network, accept: (server: Socket) => void, events: LinkEvents) {
    this.#network = network
    this.#events = events
    const { rig, server } = memorySockets()
    this.#socket = rig
    const lines = new LineSplitter(MAX_LINE)
    rig.on('data', (bytes) => {
      this.bytesIn += bytes.length
      this.#pass('in', () => {
        for (const line of lines.push(bytes) ?? []) if (!this.#isClosed) events.onLine(line)
      })
    })
    rig.on('close', () => this.#pass('in', () => this.#end()))
    rig.on('error', () => undefined)
    this.#pass('out', () => accept(server))
  }

  write(line: string): void {
    const text = `${line}\n`
    this.bytesOut += text.length
    this.#pass('out', () => this.#socket.write(text))
  }

  /** The rig leaves. The server hears of it once the network passes that on. */
  close(): void {
    this.#end()
    this.#pass('out', () => this.#socket.destroy())
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#events.onClose()
  }

  #pass(direction: 'in' | 'out', run: () => void): void {
    const { clock, latencyMs } = this.#network
    const nowMs = clock.monotonicMs()
    const atMs = Math.max(this.#lastMs[direction], nowMs + latencyMs())
    this.#lastMs[direction] = atMs
    if (atMs <= nowMs && !this.#network.isLost) run()
    else clock.after(atMs - nowMs, () => this.#deliver(run))
  }

  #deliver(run: () => void): void {
    if (this.#network.isLost) this.#network.clock.after(RETRY_MS, () => this.#deliver(run))
    else run()
  }
}
