/** A connection between a model rig and the server: in memory, with latency and outages in virtual time. */
import type { Socket } from 'node:net'
import type { Clock } from '../../src/ground/base/clock.ts'
import { LineSplitter } from '../../src/mining/stratum/lines.ts'
import { memorySockets } from './memory-socket.ts'

export interface Network {
  readonly clock: Clock
  /** One-way latency in milliseconds. */
  readonly latencyMs: () => number
  /** Whether the network is down; lines arrive after the outage. */
  isLost: boolean
}

export interface LinkEvents {
  readonly onLine: (line: string) => void
  readonly onClose: () => void
}

const MAX_LINE = 64 * 1024
/** Retransmission interval. */
const RETRY_MS = 500

/** One connection. */
export class Link {
  readonly #network: Network
  readonly #socket: Socket
  readonly #events: LinkEvents
  /** Bytes received and sent. */
  bytesIn = 0
  bytesOut = 0
  #isClosed = false
  /** Arrival of the last message in each direction; messages never overtake each other. */
  readonly #lastMs = { in: 0, out: 0 }
  /** Messages that an outage holds back, in order. */
  #held: (() => void)[] = []

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

  /** The rig disconnects. The server notices once the network delivers that. */
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
    if (atMs <= nowMs && !this.#network.isLost && this.#held.length === 0) run()
    else clock.after(atMs - nowMs, () => this.#deliver(run))
  }

  #deliver(run: () => void): void {
    if (this.#held.length > 0) this.#held.push(run)
    else if (!this.#network.isLost) run()
    else {
      this.#held.push(run)
      this.#retry()
    }
  }

  #retry(): void {
    this.#network.clock.after(RETRY_MS, () => {
      if (this.#network.isLost) {
        this.#retry()
        return
      }
      const held = this.#held
      this.#held = []
      for (const run of held) run()
    })
  }
}
