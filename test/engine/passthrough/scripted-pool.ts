/**
 * A pool on loopback with a separate nonce1 for each session. It judges shares with @noble/hashes, or by its script.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { encodeHex } from '../../../src/ground/base/bytes.ts'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../../src/ground/chain/target.ts'
import { type PoolAddress, readPoolAddress } from '../../../src/mining/source/pool/address.ts'
import { targetText } from '../../../src/mining/stratum/targets.ts'
import { freshWork } from '../../support/work.ts'

export interface Script {
  /** nonce1 of session number `n`, counted from 0. */
  readonly nonce1?: (n: number) => string
  readonly size?: number
  readonly difficulty?: bigint
  /** Whether the pool accepts a user. */
  readonly takes?: (user: string) => boolean
  /** The answer to a share as `"result":…,"error":…`, in place of the judged one, or null for no answer. */
  readonly answer?: (judged: string) => string | null
  /** Whether the pool sends nothing to new connections. */
  readonly isMute?: boolean
}

export interface Asked {
  readonly id: unknown
  readonly method?: string
  readonly params?: readonly unknown[]
  readonly result?: unknown
  readonly error?: unknown
}

export interface PoolSide {
  readonly socket: Socket
  readonly nonce1: string
  readonly asked: Asked[]
  readonly isMute: boolean
}

export interface TakenShare {
  readonly user: unknown
  readonly job: unknown
  readonly nonce2: string
  readonly judged: string
  readonly nonce1: string
}

export class ScriptedPool {
  script: Script
  readonly sessions: PoolSide[] = []
  readonly shares: TakenShare[] = []
  /** Number of sessions since the start. */
  count = 0
  port = 0
  readonly #server: Server
  readonly #jobs = new Map<string, Uint8Array>()
  #newest = ''
  readonly #seen = new Set<string>()

  constructor(script: Script = {}) {
    this.script = script
    this.#server = createServer((socket) => this.#serve(socket))
    this.work('a1')
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.port = (this.#server.address() as { port: number }).port
    return this
  }

  address(user = 'k%3Aab.farm'): PoolAddress {
    return readPoolAddress(`stratum+tcp://${user}:secret@127.0.0.1:${this.port}`)
  }

  /** Closes all connections and stops listening. */
  async close(): Promise<void> {
    this.drop()
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve))
  }

  drop(): void {
    for (const { socket } of this.sessions) socket.destroy()
  }

  get target(): bigint {
    return MAX_TARGET / (this.script.difficulty ?? 64n)
  }

  /** Sends a line to all sessions, or to the given ones. */
  say(line: string | object, to: readonly PoolSide[] = this.sessions): void {
    const text = typeof line === 'string' ? line : JSON.stringify(line)
    for (const { socket } of to) socket.write(`${text}\n`)
  }

  /** Creates a new job without announcing it. */
  work(id: string, bytes = freshWork(2n ** 60n)): object {
    this.#jobs.set(id, bytes)
    this.#newest = id
    return { id: null, method: 'mining.notify', params: [id, encodeHex(bytes), true] }
  }

  /** Creates a new job and announces it to all sessions. */
  notify(id: string): void {
    this.say(this.work(id))
  }

  #serve(socket: Socket): void {
    const n = this.count++
    const side = {
      socket,
      nonce1: (this.script.nonce1 ?? ((m) => (0x0a00 + m).toString(16).padStart(4, '0')))(n),
      asked: [],
      isMute: this.script.isMute === true,
    }
    this.sessions.push(side)
    socket.on('close', () => this.sessions.splice(this.sessions.indexOf(side), 1))
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) this.#read(side, JSON.parse(line))
    })
  }

  #read(side: PoolSide, asked: Asked): void {
    side.asked.push(asked)
    const { id, method, params = [] } = asked
    const { size = 6, takes = () => true } = this.script
    if (side.isMute) return
    const answer = (text: string) => side.socket.write(`{"id":${JSON.stringify(id)},${text}}\n`)
    if (method === 'mining.subscribe') {
      answer(`"result":[null,"${side.nonce1}",${size}],"error":null`)
      this.say({ id: null, method: 'mining.set_target', params: [targetText(this.target)] }, [side])
      const work = this.#jobs.get(this.#newest)
      if (work !== undefined) this.say(this.work(this.#newest, work), [side])
    } else if (method === 'mining.authorize') {
      answer(takes(String(params[0])) ? '"result":true,"error":null' : '"result":false,"error":[24,"who?",null]')
    } else if (method === 'mining.submit') {
      const said = this.#take(side, params)
      if (said !== null) answer(said)
    }
  }

  #take(side: PoolSide, [user, job, nonce2]: readonly unknown[]): string | null {
    const judged = this.#judge(side, String(job), String(nonce2))
    this.shares.push({ user, job, nonce2: String(nonce2), judged, nonce1: side.nonce1 })
    return (this.script.answer ?? ((text) => text))(judged)
  }

  #judge({ nonce1 }: PoolSide, job: string, nonce2: string): string {
    const bad = (code: number, text: string) => `"result":null,"error":[${code},"${text}",null]`
    const work = this.#jobs.get(job)
    if (work === undefined) return bad(21, 'Job not found')
    if (nonce2.length !== 2 * (this.script.size ?? 6)) return bad(20, 'nonce2 has another length')
    const width = 16 - 2 * (this.script.size ?? 6)
    const nonce = BigInt(`0x${nonce2}${nonce1.padStart(width, '0')}`)
    if (!meets(powHash(withNonce(work, nonce)), this.target)) return bad(23, 'Low difficulty share')
    const key = `${job} ${nonce}`
    if (this.#seen.has(key)) return bad(22, 'Duplicate share')
    this.#seen.add(key)
    return '"result":true,"error":null'
  }
}
