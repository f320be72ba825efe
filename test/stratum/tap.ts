/** A tap between rigs and their server: forwards all bytes, and judges by itself what both ends say about shares. */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { decodeHex } from '../../src/ground/base/bytes.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'

/** A share that passed, and the server's answer. */
export interface TappedShare {
  /** The job header with its nonce, as hex: the whole input of the hash. */
  readonly searched: string
  readonly nonce: bigint
  /** Whether its hash (by @noble/hashes) meets the last target before its job. */
  readonly isGood: boolean
  answer: unknown
}

/** One connection of a rig. */
export class TappedSession {
  readonly socket: Socket
  user = ''
  nonce1 = ''
  readonly targets: bigint[] = []
  readonly shares: TappedShare[] = []
  readonly #asked = new Map<unknown, { readonly method: string; readonly params: readonly unknown[] }>()
  readonly #jobs = new Map<string, { readonly header: Uint8Array; readonly target: bigint }>()
  readonly #unanswered = new Map<unknown, TappedShare>()

  constructor(socket: Socket) {
    this.socket = socket
  }

  get accepted(): number {
    return this.shares.filter(({ answer }) => answer === true).length
  }

  rigSaid(line: string): void {
    const { id, method, params } = JSON.parse(line)
    this.#asked.set(id, { method, params })
    if (method === 'mining.authorize') this.user = params[0]
    if (method !== 'mining.submit') return
    const [, job, nonce2] = params
    const known = this.#jobs.get(job)
    if (known === undefined) throw new Error(`a share of the job ${job}, which nobody has given`)
    const nonce = BigInt(`0x${nonce2}${this.nonce1}`)
    const bytes = withNonce(known.header, nonce)
    const share = {
      searched: Buffer.from(bytes).toString('hex'),
      nonce,
      isGood: meets(powHash(bytes), known.target),
      answer: null,
    }
    this.shares.push(share)
    this.#unanswered.set(id, share)
  }

  serverSaid(line: string): void {
    const { id, method, params, result, error } = JSON.parse(line)
    if (method === 'mining.set_target') this.targets.push(BigInt(`0x${params[0]}`))
    if (method === 'mining.notify') {
      this.#jobs.set(params[0], { header: decodeHex(params[1]), target: this.targets[this.targets.length - 1] })
    }
    if (method !== undefined) return
    const asked = this.#asked.get(id)
    if (asked?.method === 'mining.subscribe') this.nonce1 = result[1]
    const share = this.#unanswered.get(id)
    if (share !== undefined) share.answer = error === null ? result : error[0]
  }
}

export class Tap {
  readonly sessions: TappedSession[] = []
  /** Faults during the connection. */
  readonly faults: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  port = 0

  constructor(serverPort: () => number) {
    this.#server = createServer((rig) => {
      const server = connect({ host: '127.0.0.1', port: serverPort(), noDelay: true })
      const session = new TappedSession(rig)
      this.sessions.push(session)
      rig.setNoDelay(true)
      this.#join(rig, server, (line) => session.rigSaid(line))
      this.#join(server, rig, (line) => session.serverSaid(line))
    })
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.port = (this.#server.address() as { port: number }).port
    return this
  }

  /** Sessions that are still connected. */
  get open(): readonly TappedSession[] {
    return this.sessions.filter(({ socket }) => !socket.destroyed)
  }

  get shares(): readonly TappedShare[] {
    return this.sessions.flatMap(({ shares }) => shares)
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #join(from: Socket, to: Socket, onLine: (line: string) => void): void {
    this.#sockets.add(from)
    let text = ''
    from.on('error', () => undefined)
    from.on('close', () => to.destroy())
    from.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      try {
        for (const line of lines) onLine(line)
      } catch (error) {
        this.faults.push((error as Error).message)
      }
      to.write(bytes)
    })
  }
}
