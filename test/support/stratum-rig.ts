/** A stratum rig on a real socket for tests. It searches with one thread, in slices. */
import { connect, type Socket } from 'node:net'
import { decodeHex } from '../../src/ground/base/bytes.ts'
import { finish, midstate } from '../../src/ground/chain/blake2s.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import { meetsWords } from '../../src/ground/chain/pow.ts'
import { LineSplitter } from '../../src/mining/stratum/lines.ts'
import { type Response, readMessage, requestLine } from '../../src/mining/stratum/messages.ts'
import { composeNonce, nonce2Text } from '../../src/mining/stratum/nonces.ts'
import { readTarget } from '../../src/mining/stratum/targets.ts'

export interface RigJobSeen {
  readonly id: string
  readonly header: Uint8Array
  readonly clean: boolean
  /** Target of its shares. */
  readonly target: bigint
}

const MAX_LINE = 64 * 1024
/** Nonces between two reads of the socket. */
const SLICE = 2000

export class Rig {
  readonly socket: Socket
  readonly jobs: RigJobSeen[] = []
  /** Answers without an id. */
  readonly strays: Response[] = []
  /** Submitted shares while it mines. */
  shares = 0
  target = 0n
  nonce1 = ''
  onJob: (job: RigJobSeen) => void = () => undefined
  readonly ended: Promise<void>
  readonly #pending = new Map<number, (response: Response) => void>()
  readonly #lines = new LineSplitter(MAX_LINE)
  #nextId = 1
  #nonce2 = 0n
  #mines = false
  #hasEnded = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => this.#read(bytes))
    this.ended = new Promise((resolve) => {
      socket.on('close', () => {
        this.#hasEnded = true
        this.#mines = false
        resolve()
      })
    })
  }

  /** Connects without a log-in. */
  static connect(port: number, host = '127.0.0.1'): Promise<Rig> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Rig(socket))
      })
    })
  }

  /** Connects, subscribes and authorizes. */
  static async login(port: number, user = 'k:abc.rig', agent = 'test/1'): Promise<Rig> {
    const rig = await Rig.connect(port)
    await rig.subscribe(agent)
    await rig.authorize(user)
    return rig
  }

  static over(socket: Socket): Rig {
    return new Rig(socket)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Sends a request. Resolves with the answer, or never without one. */
  ask(method: string, params: readonly unknown[]): Promise<Response> {
    const id = this.#nextId++
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      this.socket.write(requestLine(id, method, params))
    })
  }

  async subscribe(agent = 'test/1'): Promise<Response> {
    const response = await this.ask('mining.subscribe', [agent, null])
    if (Array.isArray(response.result)) this.nonce1 = String(response.result[1])
    return response
  }

  authorize(user = 'k:abc.rig'): Promise<Response> {
    return this.ask('mining.authorize', [user, 'x'])
  }

  submit(id: string, nonce2: string): Promise<Response> {
    return this.ask('mining.submit', ['k:abc.rig', id, nonce2])
  }

  /** Finds the nonce2 of the next share of a job, for easy targets. */
  nextShare(job: RigJobSeen, target = job.target): string {
    for (;;) if (this.#tries(job, target, SLICE)) return this.#text()
  }

  /** Finds a nonce2 whose hash misses `target`: a low-difficulty share. */
  badShare(job: RigJobSeen, target = job.target): string {
    for (;;) {
      if (!this.#tries(job, target, 1)) return this.#text()
    }
  }

  /** Whether the last nonce2 also meets another target. */
  lastMeets({ header }: RigJobSeen, target: bigint): boolean {
    const start = midstate(header)
    return meetsWords(finish(start, midstateTail(start.tail, composeNonce(this.#text(), this.#fixedNonce()))), target)
  }

  /** Searches the newest job and submits shares until it is closed. */
  mine(): void {
    this.#mines = true
    const slice = () => {
      if (!this.#mines) return
      const job = this.jobs.at(-1)
      if (job !== undefined && this.#tries(job, this.target, SLICE)) {
        this.shares++
        void this.submit(job.id, this.#text())
      }
      setImmediate(slice)
    }
    slice()
  }

  close(): void {
    this.#mines = false
    this.socket.destroy()
  }

  readonly #fixedNonce = () => ({ bits: 16, value: Number.parseInt(this.nonce1, 16) })
  readonly #text = () => nonce2Text((this.#nonce2 << 16n) | BigInt(this.#fixedNonce().value), this.#fixedNonce())

  /** Tries some nonces. @returns whether the last one meets the target */
  #tries({ header }: RigJobSeen, target: bigint, count: number): boolean {
    const start = midstate(header)
    for (let i = 0; i < count; i++) {
      this.#nonce2++
      const nonce = composeNonce(this.#nonce2.toString(16), this.#fixedNonce())
      const words = midstateTail(start.tail, nonce)
      if (meetsWords(finish(start, words), target)) return true
    }
    return false
  }

  #read(bytes: Buffer): void {
    for (const line of this.#lines.push(bytes) ?? []) {
      const message = readMessage(line)
      if (message.kind === 'response') {
        const resolve = typeof message.id === 'number' ? this.#pending.get(message.id) : undefined
        if (resolve === undefined) this.strays.push(message)
        else resolve(message)
        this.#pending.delete(Number(message.id))
      } else if (message.method === 'mining.set_target') this.target = readTarget(String(message.params[0]))
      else if (message.method === 'mining.notify') this.#take(message.params)
    }
  }

  #take([id, header, clean]: readonly unknown[]): void {
    const job = { id: String(id), header: decodeHex(String(header)), clean: clean === true, target: this.target }
    this.jobs.push(job)
    this.onJob(job)
  }
}

/** The last block of a 286-byte header with another nonce. */
function midstateTail(tail: Uint32Array, nonce: bigint): Uint32Array {
  const words = tail.slice()
  const bytes = new Uint8Array(words.buffer)
  bytes.set(withNonce(new Uint8Array(8), nonce), 22)
  return words
}
