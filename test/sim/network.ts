/** The network between the client and the address of a node: which host answers there, with which faults and delays. */
import { errors } from 'undici'
import type { ConnectorFactory } from '../../src/client/node/dial.ts'
import { encodeBase64Url, readU32LE } from '../../src/ground/base/bytes.ts'
import { decodeWorkResponse } from '../../src/ground/chain/work.ts'
import { type AnswerFault, type AnswerFaultKind, mangled, type OnWire, randomBytes } from './answer-faults.ts'
import { Connection, failure, type NodeEnd } from './connection.ts'
import type { NodeAnswer, NodeRequest, StreamResponse } from './routes.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The timeout of undici itself: TCP takes longer than anyone waits. */
const CONNECT_TIMEOUT_MS = 5_000
const FLOOD_EVERY_MS = 20
/** Events per tick: a thousand a second. */
const FLOOD_EVENTS = 20
/** Interval at which a faulty stream shows its fault. */
const STREAM_EVERY_MS = 200
/** The client accepts events of up to 4 MiB. */
const LONG_PIECE = Buffer.alloc(1024 * 1024, 'x')

export interface Host {
  handle(request: NodeRequest, port: { answer(answer: NodeAnswer): void; stream: StreamPort }): void
}

type StreamPort = (answer: NodeAnswer, stream: StreamResponse) => void

/**
 * Faults of streams. `stalled`: nothing arrives. `comments`: only comments arrive. `flood`: news without reason.
 * `garbage`: bytes between the events. `endlessLine`: an event without end. `broken`: bytes that are not chunks.
 * `short`: streams end soon after they open.
 */
export const streamModes = ['stalled', 'comments', 'flood', 'garbage', 'endlessLine', 'broken', 'short'] as const
const MANGLING: readonly string[] = ['garbage', 'endlessLine', 'broken']
/** Modes in which streams need no timer. */
const QUIET: readonly string[] = ['fine', 'stalled']
export type StreamMode = 'fine' | (typeof streamModes)[number]

/** The result of a connection attempt. */
export type DialMode = 'fine' | 'refused' | 'silent'

export interface NetworkHooks {
  readonly onTrace: (what: string) => void
  /** A submission has reached a node, whatever happens to its answer. */
  readonly onSubmitted: (host: Host, work: Buffer, sentAtMs: number) => void
  /** The client has received a 2xx answer to a submission. */
  readonly onAcknowledged: (host: Host, work: Buffer) => void
  /** The node has refused a submission. */
  readonly onRefused: (host: Host, work: Buffer) => void
  /** The client has received an event that ends the work of this chain. */
  readonly onNews: (host: Host, chain: number) => void
}

export class Network {
  /** The host at the address, or null if nothing listens there. */
  host: Host | null = null
  latencyMs: readonly [number, number] = [1, 20]
  dialMode: DialMode = 'fine'
  #streamMode: StreamMode = 'fine'
  /** Called when the mode of streams changes. */
  readonly onStreamMode = new Set<() => void>()
  /** Chooses the faults of answers, or null. */
  answerFault: AnswerFault | null = null
  /** The stream that is flooded with events or bytes: one is enough. */
  flooded: StreamResponse | null = null
  readonly connections = new Set<Connection>()
  readonly time: VirtualTime
  readonly random: () => number
  readonly hooks: NetworkHooks
  /** Requests so far, for traces. */
  #requests = 0

  constructor(time: VirtualTime, random: () => number, hooks: NetworkHooks) {
    this.time = time
    this.random = random
    this.hooks = hooks
  }

  latency = (): number => {
    const [least, most] = this.latencyMs
    return least + Math.floor(this.random() * (most - least + 1))
  }

  readonly dial: ConnectorFactory = (signal) => (_target, callback) => {
    const { time } = this
    const give = (error: Error) => callback(error, null)
    const connect = () => {
      if (signal.aborted) return give(signal.reason)
      if (this.dialMode === 'silent') return this.#timeOut(signal, give)
      if (this.dialMode === 'refused' || this.host === null) {
        return give(failure('ECONNREFUSED', 'connect ECONNREFUSED'))
      }
      const connection = new Connection({
        time,
        latencyMs: this.latency,
        onClosed: (closed) => this.connections.delete(closed),
      })
      connection.node = new NodeSide(this, connection, this.host)
      this.connections.add(connection)
      const drop = () => void connection.socket.destroy(signal.reason)
      signal.addEventListener('abort', drop, { once: true })
      connection.socket.once('close', () => signal.removeEventListener('abort', drop))
      callback(null, connection.socket as never)
    }
    time.after(this.latency(), () => {
      time.owner = 'miner'
      connect()
    })
  }

  get streamMode(): StreamMode {
    return this.#streamMode
  }

  set streamMode(mode: StreamMode) {
    this.#streamMode = mode
    for (const each of this.onStreamMode) each()
  }

  nextRequest(): number {
    return ++this.#requests
  }

  /** Makes all present connections half-open, without notice to either end. */
  cutCables(): void {
    for (const connection of this.connections) connection.isHalfOpen = true
  }

  resetAll(): void {
    for (const connection of this.connections) connection.reset()
  }

  #timeOut(signal: AbortSignal, give: (error: Error) => void): void {
    const stop = () => {
      cancel()
      give(signal.reason)
    }
    const cancel = this.time.after(CONNECT_TIMEOUT_MS, () => {
      this.time.owner = 'miner'
      signal.removeEventListener('abort', stop)
      give(new errors.ConnectTimeoutError('Connect Timeout Error'))
    })
    signal.addEventListener('abort', stop, { once: true })
  }
}

/** The node's end of a connection: it reads requests one after the other. */
class NodeSide implements NodeEnd {
  readonly #network: Network
  readonly #connection: Connection
  readonly #host: Host
  #bytes: Buffer = Buffer.alloc(0)
  #sentAtMs = 0
  #stream: StreamResponse | null = null

  constructor(network: Network, connection: Connection, host: Host) {
    this.#network = network
    this.#connection = connection
    this.#host = host
  }

  onBytes(bytes: Buffer, sentAtMs: number): void {
    this.#sentAtMs = sentAtMs
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes])
    const request = this.#take()
    if (request !== null) this.#serve(request)
  }

  onClosed(): void {
    this.#stream?.destroy()
  }

  /** The next request, once it is complete. The client sends the one after it only after the answer. */
  #take(): NodeRequest | null {
    const end = this.#bytes.indexOf('\r\n\r\n')
    if (end < 0) return null
    const [first, ...lines] = this.#bytes.toString('latin1', 0, end).split('\r\n')
    const [method, url] = first.split(' ')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0)
    if (this.#bytes.length < bodyEnd) return null
    const body = Buffer.from(this.#bytes.subarray(end + 4, bodyEnd))
    this.#bytes = this.#bytes.subarray(bodyEnd)
    return { method, url, headers, body }
  }

  #serve(request: NodeRequest): void {
    const network = this.#network
    const { hooks } = network
    const number = network.nextRequest()
    const isUpdates = request.url.endsWith('/mining/updates')
    const isSubmission = request.url.endsWith('/mining/solved')
    const fault = network.answerFault?.(request, network.random) ?? null
    hooks.onTrace(`${number} ${request.method} ${request.url}${fault === null ? '' : ` (${fault})`}`)
    if (fault === 'ignored') return
    const host = this.#host
    if (fault === 'lostRequest' || network.host !== host) {
      this.#connection.reset()
      return
    }
    if (fault !== null && isUnseen(fault)) {
      this.#answer(mangled(fault, null, network.random))
      return
    }
    if (isSubmission) hooks.onSubmitted(host, request.body, this.#sentAtMs)
    host.handle(request, {
      answer: (answer) => {
        hooks.onTrace(
          `${number} answered ${answer.status}${request.url.includes('/mining/work') ? toldOf(answer) : ''}`,
        )
        if (isSubmission && answer.status !== 200) hooks.onRefused(host, request.body)
        if (fault === 'lostAnswer') return this.#connection.reset()
        const delayMs = fault === 'late' ? Math.floor(network.random() * 8000) : 0
        const send = () =>
          this.#answer(mangled(fault, answer, network.random), () => {
            if (isSubmission && fault === null && answer.status === 200) hooks.onAcknowledged(host, request.body)
          })
        if (delayMs === 0) send()
        else network.time.after(delayMs, send)
      },
      stream: (answer, stream) => this.#openStream(answer, stream, isUpdates ? readU32LE(request.body, 0) : 0),
    })
  }

  #answer({ bytes, ending, everyMs }: OnWire, onArrived?: () => void): void {
    const [first, ...rest] = bytes
    this.#connection.toClient(first, rest.length === 0 ? onArrived : undefined)
    if (everyMs > 0) {
      this.#dribble(rest, everyMs, ending === 'again')
      return
    }
    for (const [i, piece] of rest.entries()) {
      this.#connection.toClient(piece, i === rest.length - 1 ? onArrived : undefined)
    }
    if (ending === 'end') this.#connection.end()
    if (ending === 'reset') this.#connection.reset()
  }

  /** Sends one piece after the other, slowly. With `isEndless` it repeats the last one forever. */
  #dribble(pieces: readonly Buffer[], everyMs: number, isEndless: boolean): void {
    const [first, ...rest] = pieces
    if (first === undefined || this.#connection.isClosed || this.#connection.isHalfOpen) return
    this.#network.time.after(everyMs, () => {
      this.#connection.toClient(first)
      this.#dribble(isEndless && rest.length === 0 ? pieces : rest, everyMs, isEndless)
    })
  }

  #openStream({ status, headers }: NodeAnswer, stream: StreamResponse, chain: number): void {
    const network = this.#network
    const { time, hooks } = network
    const connection = this.#connection
    this.#stream = stream
    /** Whether events may be lost among other bytes: then the client cannot see them. */
    let isMangled = false
    const { 'content-length': _, ...rest } = headers
    const lines = Object.entries({ ...rest, 'transfer-encoding': 'chunked' }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    connection.toClient(Buffer.from(`HTTP/1.1 ${status} OK\r\n${lines.join('\r\n')}\r\n\r\n`))
    stream.onChunk = (chunk) => {
      if (network.streamMode === 'stalled' || network.streamMode === 'comments') return
      hooks.onTrace(`event on chain ${chain}`)
      connection.toClient(chunk, () => {
        if (chunk.includes('New Cut') && !isMangled) hooks.onNews(this.#host, chain)
      })
    }
    stream.onEnd = () => connection.toClient(Buffer.from('0\r\n\r\n'))
    const send = (text: string | Buffer) => connection.toClient(chunkOf(text))
    /** Runs a function periodically while the stream is open, in the modes that need it. */
    const whileOpen = (everyMs: number, isNeeded: (mode: StreamMode) => boolean, run: () => void) => {
      let dueMs = time.nowMs + everyMs
      let isPlanned = false
      const plan = () => {
        if (connection.isClosed || stream.destroyed) {
          if (network.flooded === stream) network.flooded = null
          network.onStreamMode.delete(plan)
          return
        }
        if (isPlanned || !isNeeded(network.streamMode)) return
        // After a pause, the times stay multiples of the interval.
        while (dueMs <= time.nowMs) dueMs += everyMs
        isPlanned = true
        time.after(dueMs - time.nowMs, () => {
          isPlanned = false
          if (!connection.isClosed && !stream.destroyed) run()
          plan()
        })
      }
      network.onStreamMode.add(plan)
      plan()
    }
    const isLoud = (mode: StreamMode) => !QUIET.includes(mode)
    whileOpen(STREAM_EVERY_MS, isLoud, () => {
      isMangled ||= MANGLING.includes(network.streamMode)
      if (network.streamMode === 'comments') send(':\n\n')
      if (network.streamMode === 'garbage') send(randomBytes(network.random, 256))
      if (network.streamMode === 'endlessLine' && (network.flooded ?? stream) === stream) {
        network.flooded = stream
        send(LONG_PIECE)
      }
      if (network.streamMode === 'broken') connection.toClient(Buffer.from('no chunk\r\n'))
      if (network.streamMode === 'short') stream.end()
      if (network.streamMode === 'flood' && network.flooded === null) {
        network.flooded = stream
        const isFlood = (mode: StreamMode) => mode === 'flood'
        whileOpen(FLOOD_EVERY_MS, isFlood, () => {
          if (isFlood(network.streamMode)) send('event:New Cut\n\n'.repeat(FLOOD_EVENTS))
        })
      }
    })
  }
}

/** Whether the node does not see a request with this fault. */
function isUnseen(fault: AnswerFaultKind): boolean {
  return ['refused4xx', 'failed5xx', 'redirect', 'empty', 'page'].includes(fault)
}

/** Encodes a chunk of HTTP/1.1. */
function chunkOf(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as Buffer)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

/** The work in an answer, for the trace. */
function toldOf({ status, body }: NodeAnswer): string {
  if (status !== 200) return ''
  const { chainId, height, parent } = decodeWorkResponse(body).fields
  return `: chain ${chainId}, height ${height}, on ${encodeBase64Url(parent).slice(0, 8)}`
}
