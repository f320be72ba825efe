/** A real NATS server with JetStream on a free port. Its store is in a folder, so it can be killed and restarted. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { afterAll, afterEach, beforeAll, onTestFinished } from 'vitest'
import type { FleetLink } from '../../src/mining/fleet/link.ts'
import { encodeMessage } from '../../src/mining/fleet/messages.ts'
import { PROGRAM_PATH } from '../needs.ts'
import { freePort } from '../ports.ts'
import { until } from '../wait.ts'

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

  /** @param config more lines for its configuration file */
  static async start(folder: string, config = '', scheme = 'nats', hasJetStream = true): Promise<NatsServer> {
    const port = await freePort()
    const file = join(folder, 'nats.conf')
    const store = JSON.stringify(join(folder, 'jetstream'))
    const jetstream = hasJetStream ? `jetstream { store_dir: ${store} }\n` : ''
    writeFileSync(file, `listen: "127.0.0.1:${port}"\n${jetstream}${config}\n`)
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
    const child = spawn('nats-server', [...this.#arguments], { env: { PATH: PROGRAM_PATH }, stdio: 'ignore' })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    return { child, ended }
  }

  async #listens(): Promise<void> {
    await until(() => {
      if (this.child.exitCode !== null) throw new Error(`nats-server ends instead of listening at ${this.url}`)
      return new Promise<boolean>((resolve) => {
        const socket = connect(this.port, '127.0.0.1')
        socket.once('connect', () => resolve(true))
        socket.once('error', () => resolve(false))
        socket.once('connect', () => socket.destroy())
      })
    })
  }
}

/** Ends the leadership as a graceful shutdown does: the next leader takes over at once. */
export async function leftInOrder(link: FleetLink): Promise<void> {
  const store = await new Kvm(link.jetstream).create(link.subjects.bucket, { history: 1 })
  await store.put('leader', encodeMessage({ session: 'before', name: 'before', term: 1, isFree: true }))
}

/** A server for all tests of a block. It undoes what each test set up after that test, the last first. */
export class NatsBed {
  readonly cleanups: (() => Promise<unknown>)[] = []
  #server: NatsServer | null = null

  constructor() {
    let folder = ''
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'newcut-nats-'))
      this.#server = await NatsServer.start(folder)
    })
    afterEach(async () => {
      for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup()
    })
    afterAll(async () => {
      await this.#server?.kill()
      rmSync(folder, { recursive: true })
    })
  }

  get nats(): NatsServer {
    if (this.#server === null) throw new Error('the server of NATS has not started')
    return this.#server
  }
}

/** Starts a server for the current test. @returns its URL */
export async function natsUrl(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-nats-'))
  const nats = await NatsServer.start(folder)
  onTestFinished(async () => {
    await nats.kill()
    rmSync(folder, { recursive: true })
  })
  return nats.url
}
