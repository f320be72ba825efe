/** Rigs of a few lines at a server in virtual time, each over a socket in memory. */
import type { Socket } from 'node:net'
import { memorySockets } from '../../../bench/rigs/memory-socket.ts'
import type { StratumEngine } from '../../../src/mining/engine/stratum/stratum.ts'
import { LineSplitter } from '../../../src/mining/stratum/lines.ts'
import { settle } from '../../mine/virtual-clock.ts'

export interface Told {
  readonly id: unknown
  readonly method?: string
  readonly params: readonly unknown[]
  readonly result?: unknown
  readonly error?: readonly unknown[] | null
}

export class MemoryRig {
  readonly lines: Told[] = []
  /** The server's end. While it is corked, the rig reads nothing. */
  readonly server: Socket
  readonly #rig: Socket
  #isClosed = false

  /** @param isEncrypted whether its socket reports when the network has its bytes, as with TLS */
  constructor(engine: StratumEngine, { address = '10.0.0.1', isEncrypted = false } = {}) {
    const { rig, server } = memorySockets(address)
    if (isEncrypted) Object.assign(server, { encrypted: true })
    const splitter = new LineSplitter(2 ** 24)
    rig.on('data', (bytes) => {
      for (const line of splitter.push(bytes) ?? []) this.lines.push(JSON.parse(line))
    })
    rig.on('close', () => {
      this.#isClosed = true
    })
    this.#rig = rig
    this.server = server
    engine.accept(server)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Sends texts, each of which the server reads by itself. */
  async write(...texts: readonly string[]): Promise<void> {
    for (const text of texts) this.#rig.write(text)
    await settle()
  }

  say(...messages: readonly object[]): Promise<void> {
    return this.write(...messages.map((message) => `${JSON.stringify(message)}\n`))
  }

  async login(user = 'k:abc.rig', agent = 'test/1'): Promise<this> {
    await this.say({ id: 1, method: 'mining.subscribe', params: [agent, null] })
    await this.say({ id: 2, method: 'mining.authorize', params: [user, 'x'] })
    return this
  }

  /** Submits a share. Returns the code of its answer, 0 if accepted. */
  async submit(job: unknown, nonce2: unknown, user = 'k:abc.rig'): Promise<unknown> {
    const id = `share ${this.lines.length}`
    await this.say({ id, method: 'mining.submit', params: [user, job, nonce2] })
    const { result, error } = this.answerTo(id) ?? {}
    return result === true ? 0 : error?.[0]
  }

  close(): Promise<void> {
    this.#rig.destroy()
    return settle()
  }

  named(method: string): Told[] {
    return this.lines.filter((line) => line.method === method)
  }

  answerTo(id: unknown): Told | undefined {
    return this.lines.find((line) => line.id === id && line.method === undefined)
  }

  /** Ids of its jobs. */
  get jobs(): string[] {
    return this.named('mining.notify').map(({ params }) => String(params[0]))
  }
}
