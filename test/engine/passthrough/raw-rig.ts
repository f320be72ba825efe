/** A rig on loopback that keeps all received lines in their order. */
import { connect, type Socket } from 'node:net'
import { decodeHex } from '../../../src/ground/base/bytes.ts'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import { until } from '../../wait.ts'

// biome-ignore lint/suspicious/noExplicitAny: lines of the test's own making
export type Line = any

export class RawRig {
  readonly socket: Socket
  readonly lines: Line[] = []
  nonce1 = ''
  size = 6
  target = 0n
  isClosed = false
  readonly jobs: { readonly id: string; readonly header: Uint8Array }[] = []
  #nextId = 1
  #nonce2 = Math.floor(Math.random() * 2 ** 32)

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.isClosed = true
    })
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) this.#read(JSON.parse(line))
    })
  }

  static connect(port: number): Promise<RawRig> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new RawRig(socket)))
    })
  }

  /** Logs in as an Antminer KA3, or as the program with this name. */
  static async login(port: number, { agent = 'GodMiner/2.0.0', user = 'X.worker7' } = {}): Promise<RawRig> {
    const rig = await RawRig.connect(port)
    const { result } = await rig.ask('mining.subscribe', [agent, null])
    if (!Array.isArray(result)) throw new Error('the subscription is refused')
    const authorized = await rig.ask('mining.authorize', [user, 'x'])
    if (authorized.result !== true) throw new Error('the user is refused')
    await until(() => rig.jobs.length > 0)
    return rig
  }

  say(message: object | string): void {
    this.socket.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  }

  /** Sends a request; its answer appears among the lines. Returns its id. */
  send(method: string, params: readonly unknown[]): number {
    const id = this.#nextId++
    this.say({ id, method, params })
    return id
  }

  async ask(method: string, params: readonly unknown[]): Promise<Line> {
    const id = this.send(method, params)
    const answer = () => this.lines.find((line) => line.id === id && line.method === undefined)
    await until(() => answer() !== undefined || this.isClosed)
    return answer() ?? { id, result: undefined, error: 'closed' }
  }

  /** Finds the nonce2 of a share of a job by brute force. */
  nonce2({ header } = this.jobs[this.jobs.length - 1], nonce1 = this.nonce1): string {
    const low = BigInt(`0x${nonce1 === '' ? '0' : nonce1}`)
    for (;;) {
      const nonce2 = BigInt(++this.#nonce2)
      const nonce = (nonce2 << BigInt(64 - 8 * this.size)) | low
      if (meets(powHash(withNonce(header, nonce)), this.target)) return nonce2.toString(16).padStart(2 * this.size, '0')
    }
  }

  /** Whether a nonce2 is a share with the rig's current nonce1. */
  isShare({ header }: { readonly header: Uint8Array }, nonce2: string): boolean {
    return meets(powHash(withNonce(header, BigInt(`0x${nonce2}${this.nonce1}`))), this.target)
  }

  /** Finds a share of the newest job and submits it. */
  share(user = 'X.worker7'): Promise<Line> {
    const job = this.jobs[this.jobs.length - 1]
    return this.ask('mining.submit', [user, job.id, this.nonce2(job)])
  }

  /** The methods of all received notifications. */
  get told(): readonly string[] {
    return this.lines.flatMap(({ method }) => (method === undefined ? [] : [method]))
  }

  close(): void {
    this.socket.destroy()
  }

  #read(line: Line): void {
    this.lines.push(line)
    const { method, params, result } = line
    if (method === 'mining.set_target') this.target = BigInt(`0x${params[0]}`)
    else if (method === 'mining.set_extranonce') [this.nonce1, this.size] = params
    else if (method === 'mining.notify') this.jobs.push({ id: String(params[0]), header: decodeHex(params[1]) })
    else if (method === undefined && Array.isArray(result)) [, this.nonce1, this.size] = result
  }
}
