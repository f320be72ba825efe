/**
 * A pool that follows the official client's server (PROTOCOL.md F). It answers the user with an empty list, and writes
 * hex numbers without leading zeros. The first target is level 42, or the block target if that is easier. Every job
 * replaces earlier ones by its flag, and the server repeats work with a newer time. A stale share just gets `false`.
 * Any other fault gets only an error, and the connection is closed. @noble/hashes judges the shares.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { encodeHex, readI64LE } from '../../../src/ground/base/bytes.ts'
import { withCreationTime, withNonce, workLayout } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { workFromBytes } from '../../../src/ground/chain/work.ts'

const FIRST_LEVEL = 42n
const NONCE2_DIGITS = 12
const HEX = /^[0-9a-f]+$/

export interface OfficialRules {
  /** The works in order: a solution of one starts the next, and the last never ends. */
  readonly works: readonly Uint8Array[]
  /** The session target after the first one: the block target, or 2^(256 - level) - 1. */
  readonly level: 'block' | bigint
  /** Whether jobs arrive after the connection, or after the subscription. */
  readonly greets: 'connected' | 'subscribed'
  /** Interval at which work is repeated. */
  readonly rateMs: number
  readonly nonce1: number
}

interface Job {
  readonly bytes: Uint8Array
  /** Index in `works`. */
  readonly index: number
}

export class OfficialServer {
  readonly #rules: OfficialRules
  readonly #server: Server
  /** Connections that get jobs, with their targets. */
  readonly #sockets = new Map<Socket, bigint>()
  readonly #jobs = new Map<number, Job>()
  readonly #timer: NodeJS.Timeout
  #work = 0
  #told = 0
  #rolls = 0n
  /** The answer to each share. */
  readonly verdicts: string[] = []
  /** Reasons for closed connections. */
  readonly closed: string[] = []
  readonly targets: string[] = []
  blocks = 0
  port = 0

  constructor(rules: OfficialRules) {
    this.#rules = rules
    this.#server = createServer((socket) => this.#serve(socket))
    // The server sends jobs at a fixed rate, as the official one does.
    this.#timer = setInterval(() => this.#notifyAll(), rules.rateMs)
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.port = (this.#server.address() as { port: number }).port
    return this
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const socket of this.#sockets.keys()) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Sets the session target to the level of the options. */
  setTarget(): void {
    for (const socket of this.#sockets.keys()) this.#sayTarget(socket, this.#later)
  }

  get #blockTarget(): bigint {
    return workFromBytes(this.#rules.works[this.#work]).fields.target
  }

  get #first(): bigint {
    const target = 2n ** (256n - FIRST_LEVEL) - 1n
    return this.#blockTarget > target ? this.#blockTarget : target
  }

  get #later(): bigint {
    const { level } = this.#rules
    return level === 'block' ? this.#blockTarget : 2n ** (256n - level) - 1n
  }

  #serve(socket: Socket): void {
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
    if (this.#rules.greets === 'connected') this.#greet(socket)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) if (!socket.writableEnded) this.#read(socket, line)
    })
  }

  #greet(socket: Socket): void {
    this.#sayTarget(socket, this.#first)
    this.#notify(socket, this.#fresh())
  }

  #say(socket: Socket, message: unknown): void {
    socket.write(`${JSON.stringify(message)}\n`)
  }

  #sayTarget(socket: Socket, target: bigint): void {
    const text = target.toString(16).padStart(64, '0')
    this.targets.push(text)
    this.#sockets.set(socket, target)
    this.#say(socket, { id: null, method: 'mining.set_target', params: [text] })
  }

  #fresh(): number {
    const bytes = this.#rules.works[this.#work]
    const time = readI64LE(bytes, workLayout(bytes).creationTime)
    const id = ++this.#told
    this.#jobs.set(id, { bytes: withCreationTime(bytes, time + this.#rolls++), index: this.#work })
    return id
  }

  #notify(socket: Socket, id: number): void {
    const { bytes } = this.#jobs.get(id) as Job
    this.#say(socket, { id: null, method: 'mining.notify', params: [id.toString(16), encodeHex(bytes), true] })
  }

  #notifyAll(): void {
    const id = this.#fresh()
    for (const socket of this.#sockets.keys()) this.#notify(socket, id)
  }

  #read(socket: Socket, line: string): void {
    const refusal = this.#answered(socket, line)
    if (refusal === null) return
    const [code, words] = refusal
    this.closed.push(`${words}: ${line}`)
    this.#say(socket, [code, words, 'see the protocol'])
    socket.end()
  }

  /** Answers a line. @returns the error with which to close the connection, or null */
  #answered(socket: Socket, line: string): readonly [number, string] | null {
    let message: { id?: unknown; method?: unknown; params?: unknown }
    try {
      message = JSON.parse(line)
    } catch {
      return [-32700, 'Parse error']
    }
    const { id, method, params } = message
    if (typeof id !== 'number' || !Array.isArray(params)) return [-32600, 'Invalid Request']
    const texts = params.filter((each) => typeof each === 'string')
    if (method === 'mining.authorize' && texts.length === 2) {
      this.#say(socket, { id, result: [], error: null })
    } else if (method === 'mining.subscribe' && texts.length > 0) {
      const result = [null, this.#rules.nonce1.toString(16), NONCE2_DIGITS / 2]
      this.#say(socket, { id, result, error: null })
      if (this.#rules.greets === 'subscribed') this.#greet(socket)
    } else if (method === 'mining.submit' && texts.length === 3) {
      const verdict = this.#judged(socket, texts[1], texts[2])
      this.verdicts.push(verdict)
      const isAccepted = verdict === 'accepted'
      if (isAccepted || verdict === 'stale') this.#say(socket, { id, result: isAccepted, error: null })
      else this.#say(socket, { id, result: null, error: [31, verdict, null] })
    } else return [-32600, 'Invalid Request']
    return null
  }

  #judged(socket: Socket, id: string, nonce2: string): string {
    if (!HEX.test(nonce2) || nonce2.length > NONCE2_DIGITS) return 'invalid nonce'
    const job = HEX.test(id) ? this.#jobs.get(Number.parseInt(id, 16)) : undefined
    if (job === undefined || job.index < this.#work) return 'stale'
    const nonce = (BigInt(`0x${nonce2}`) << 16n) + BigInt(this.#rules.nonce1)
    const hash = powHash(withNonce(job.bytes, nonce))
    if (!meets(hash, this.#sockets.get(socket) ?? 0n)) return 'invalid result'
    if (!meets(hash, this.#blockTarget)) return 'accepted'
    this.blocks++
    if (this.#work < this.#rules.works.length - 1) {
      this.#work++
      this.#notifyAll()
    }
    return 'accepted'
  }
}

/** The target of level 42. */
export const FIRST_TARGET = MAX_TARGET >> FIRST_LEVEL
