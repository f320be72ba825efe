/** A real NATS server with JetStream on a free port, with its store in a folder; it can be killed and started again. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../rounds/field.ts'

/** Debian has it where users without special rights do not look. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin`

/** Why there is none here; null: there is one. */
export const natsMissing =
  spawnSync('nats-server', ['--version'], { env: { PATH } }).status === 0 ? null : 'nats-server is not installed'
if (natsMissing !== null) console.info(`tests of fleets skipped: ${natsMissing}`)

const START_MS = 10_000

export class NatsServer {
  readonly port: number
  readonly url: string
  readonly #arguments: readonly string[]
  child: ChildProcess
  #ended: Promise<void>

  private constructor(port: number, args: readonly string[], scheme: string) {
    this.port = port
    this.url = `${scheme}://127.0.0.1:${port}`
    this.#arguments = args
    ;({ child: this.child, ended: this.#ended } = this.#spawn())
  }

  /** `config`: more lines for its configuration file. */
  static async start(folder: string, config = '', scheme = 'nats'): Promise<NatsServer> {
    const port = await freePort()
    const file = join(folder, 'nats.conf')
    const store = JSON.stringify(join(folder, 'jetstream'))
    writeFileSync(file, `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${store} }\n${config}\n`)
    const server = new NatsServer(port, ['-c', file], scheme)
    await server.#listens()
    return server
  }

  async restart(): Promise<void> {
    await this.#ended
    ;({ child: this.child, ended: this.#ended } = this.#spawn())
    await this.#listens()
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#ended
  }

  #spawn(): { child: ChildProcess; ended: Promise<void> } {
    const child = spawn('nats-server', [...this.#arguments], { env: { PATH }, stdio: 'ignore' })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    return { child, ended }
  }

  async #listens(): Promise<void> {
    for (const endMs = performance.now() + START_MS; performance.now() < endMs; await sleep(20)) {
      const isUp = await new Promise<boolean>((resolve) => {
        const socket = connect(this.port, '127.0.0.1')
        socket.once('connect', () => resolve(true))
        socket.once('error', () => resolve(false))
        socket.once('connect', () => socket.destroy())
      })
      if (isUp) return
    }
    throw new Error(`nats-server does not listen at ${this.url}`)
  }
}
