/** A pool for tests: real lines over TCP or TLS, and shares that @noble/hashes judges. Options set its dialect. */
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { encodeHex } from '../../../src/ground/base/bytes.ts'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { freshWork } from '../../support/work.ts'

export interface PoolScript {
  readonly nonce1?: string
  readonly nonce2Bytes?: number
  /** The difficulty of shares. */
  readonly difficulty?: bigint
  /** The answer to mining.authorize. */
  readonly authorized?: unknown
  /** Whether work arrives before the answer to mining.subscribe. */
  readonly isEager?: boolean
  /** Whether work has the flag that most pools send. */
  readonly hasFlag?: boolean
  /** Replaces the judged answer to a share. @returns undefined to send no answer */
  readonly answer?: (judged: string) => string | undefined
  readonly tls?: { readonly key: string; readonly cert: string }
}

export interface Share {
  readonly user: string
  readonly job: string
  readonly verdict: string
}

export class TestPool {
  readonly shares: Share[] = []
  readonly methods: string[] = []
  readonly passwords: string[] = []
  readonly #script: PoolScript
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #jobs = new Map<string, Uint8Array>()
  readonly #seen = new Set<string>()
  #nonce1: string
  connections = 0
  port = 0

  constructor(script: PoolScript = {}) {
    this.#script = script
    this.#nonce1 = script.nonce1 ?? '09e8'
    const serve = (socket: Socket) => this.#serve(socket)
    this.#server = script.tls === undefined ? createServer(serve) : createTlsServer(script.tls, serve)
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.port = (this.#server.address() as { port: number }).port
    return this
  }

  async close(): Promise<void> {
    this.drop()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Closes all connections. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  url(user = 'k%3Aab.rig'): string {
    return `stratum+${this.#script.tls === undefined ? 'tcp' : 'ssl'}://${user}@127.0.0.1:${this.port}`
  }

  /** Sends a line to all clients. */
  say(line: string | object): void {
    const text = typeof line === 'string' ? line : JSON.stringify(line)
    for (const socket of this.#sockets) socket.write(`${text}\n`)
  }

  /** Sends new work to all clients. @returns the id of its job */
  notify(work = freshWork(2n ** 60n)): string {
    const id = (this.#jobs.size + 0x64128000).toString(16)
    this.#jobs.set(id, work)
    this.say(this.#notice(id, work))
    return id
  }

  /** Shares of this job are stale from here. */
  forget(job: string): void {
    this.#jobs.delete(job)
  }

  extranonce(nonce1: string): void {
    this.#nonce1 = nonce1
    this.say({ id: null, method: 'mining.set_extranonce', params: [nonce1, this.#nonce2Bytes] })
  }

  get #nonce2Bytes(): number {
    return this.#script.nonce2Bytes ?? 6
  }

  #notice(id: string, work: Uint8Array) {
    const flag = this.#script.hasFlag === false ? [] : [true]
    return { id: null, method: 'mining.notify', params: [id, encodeHex(work), ...flag] }
  }

  #serve(socket: Socket): void {
    this.connections++
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) this.#read(socket, line)
    })
    if (this.#script.isEager === true) this.#greet(socket)
  }

  #greet(socket: Socket): void {
    const target = MAX_TARGET / (this.#script.difficulty ?? 1024n)
    const say = (message: object) => socket.write(`${JSON.stringify(message)}\n`)
    say({ id: null, method: 'mining.set_target', params: [target.toString(16).padStart(64, '0')] })
    if (this.#jobs.size === 0) this.#jobs.set('64128000', freshWork(2n ** 60n))
    for (const [id, work] of this.#jobs) say(this.#notice(id, work))
  }

  #read(socket: Socket, line: string): void {
    const { id, method, params } = JSON.parse(line)
    this.methods.push(method)
    const answer = (result: unknown, error: unknown = null) =>
      socket.write(`${JSON.stringify({ id, result, error })}\n`)
    if (method === 'mining.authorize') {
      this.passwords.push(params[1])
      const { authorized = true } = this.#script
      answer(authorized, authorized === false ? [24, 'no such user', null] : null)
      return
    }
    if (method === 'mining.subscribe') {
      answer([null, this.#nonce1, this.#nonce2Bytes])
      if (this.#script.isEager !== true) this.#greet(socket)
      return
    }
    const [user, job, nonce2] = params
    const judged = this.#judge(job, nonce2)
    this.shares.push({ user, job, verdict: judged })
    const said = (this.#script.answer ?? ((verdict: string) => verdict))(judged)
    if (said === undefined) return
    if (said === 'accepted') answer(true)
    else if (said === 'nothing') answer(false)
    else answer(false, JSON.parse(said))
  }

  /** By PROTOCOL.md F: nonce2 is the high part of the nonce, nonce1 the low one. */
  #judge(job: string, nonce2: string): string {
    const work = this.#jobs.get(job)
    if (work === undefined) return '[21,"Job not found",null]'
    const width = 16 - 2 * this.#nonce2Bytes
    if (nonce2.length !== 16 - width) return '[20,"nonce2 has another length",null]'
    const nonce = BigInt(`0x${nonce2}${this.#nonce1.padStart(width, '0')}`)
    if (!meets(powHash(withNonce(work, nonce)), MAX_TARGET / (this.#script.difficulty ?? 1024n))) {
      return '[23,"Low difficulty share",null]'
    }
    if (this.#seen.has(job + nonce2)) return '[22,"Duplicate share",null]'
    this.#seen.add(job + nonce2)
    return 'accepted'
  }
}
