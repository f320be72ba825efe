/** A fleet with two relays, all real processes: node, NATS server and two leaders. Rigs submit real shares. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import { powHash } from '../../src/ground/chain/pow.ts'
import { composeNonce } from '../../src/mining/stratum/nonces.ts'
import { type Running, start } from '../cli/run.ts'
import { NatsServer } from '../fleet/nats.ts'
import { freePort } from '../ports.ts'
import { Rig, type RigJobSeen } from '../support/stratum-rig.ts'
import { until } from '../wait.ts'

export const relays = ['hall-1', 'hall-2'] as const
export const leaders = ['a', 'b'] as const
export type Relay = (typeof relays)[number]
export type Part = Relay | (typeof leaders)[number] | 'nats' | 'node'

/** The account that the blocks pay, and the account of the rigs. */
export const POOL = 'ab'.repeat(32)
export const USER = `k:${'cd'.repeat(32)}`
const RIGS_OF_RELAY = 2
/** Shares per connection, all submitted at once. */
const SHARES_OF_SESSION = 6
/** Pause before a rig reconnects. */
const REST_MS = 50

/** Answers to the rigs. */
export interface Answers {
  /** Accepted shares with their relays, one entry per answer. */
  readonly accepted: { readonly id: string; readonly relay: Relay }[]
  readonly refused: Map<string, number>
  /** Submitted shares whose connection ended before the answer. */
  unanswered: number
}

export class RelayField {
  readonly #folder: string
  readonly #ports: Readonly<Record<Relay | 'node', number>>
  readonly nats: NatsServer
  readonly #runs = new Map<Exclude<Part, 'nats'>, Running>()
  readonly answers: Answers = { accepted: [], refused: new Map(), unanswered: 0 }
  readonly #rigs: Promise<unknown>
  #isOver = false
  /** Accepted blocks that relays reported in earlier runs. */
  #blocksBefore = 0

  private constructor(folder: string, ports: Record<Relay | 'node', number>, nats: NatsServer) {
    this.#folder = folder
    this.#ports = ports
    this.nats = nats
    for (const part of ['node', ...leaders, ...relays] as const) this.start(part)
    const all = relays.flatMap((relay) => Array.from({ length: RIGS_OF_RELAY }, (_, i) => this.#mine(relay, i)))
    this.#rigs = Promise.all(all)
  }

  static async start(folder: string): Promise<RelayField> {
    const ports = { 'hall-1': await freePort(), 'hall-2': await freePort(), node: await freePort() }
    return new RelayField(folder, ports, await NatsServer.start(folder))
  }

  get node(): string {
    return `http://127.0.0.1:${this.#ports.node}`
  }

  state(part: Part): string {
    return join(this.#folder, part)
  }

  run(part: Exclude<Part, 'nats'>): Running {
    const run = this.#runs.get(part)
    if (run === undefined) throw new Error(`${part} does not run`)
    return run
  }

  start(part: Exclude<Part, 'nats'>, http = 'off'): Running {
    const shared = ['--state', this.state(part), '--http', http, '--log', 'json']
    const run = start(this.#argumentsOf(part, shared))
    this.#runs.set(part, run)
    return run
  }

  #argumentsOf(part: Exclude<Part, 'nats'>, shared: readonly string[]): string[] {
    if (part === 'node') {
      const network = ['--graph', 'petersen', '--block-delay', '1s', '--difficulty', '20k', '--mine-page', 'off']
      return ['devnet', '--port', String(this.#ports.node), '--data', this.state(part), ...network]
    }
    const nats = this.nats.url
    if (part === 'a' || part === 'b') {
      const pays = ['--public-key', POOL, '--confirmations', '2']
      return ['lead', '--nats', nats, '--node', this.node, ...pays, ...shared]
    }
    const listens = ['--stratum-listen', `127.0.0.1:${this.#ports[part]}`, '--stratum-difficulty', '100']
    return ['mine', '--fleet', nats, '--rig', part, '--threads', '0', '--gpu', 'none', ...listens, ...shared]
  }

  /** The leader, according to the leaders' logs, or null if neither claims to lead. */
  leading(): 'a' | 'b' | null {
    const leads = (name: 'a' | 'b') => {
      const told = this.#runs
        .get(name)
        ?.out()
        .match(/"isLeading":(true|false)/g)
      return told?.at(-1) === '"isLeading":true'
    }
    return leaders.find(leads) ?? null
  }

  async kill(part: Part): Promise<void> {
    if (part === 'nats') return this.nats.kill()
    await this.end('SIGKILL', part)
  }

  async end(signal: NodeJS.Signals, part: Exclude<Part, 'nats'>): Promise<void> {
    const run = this.run(part)
    run.child.kill(signal)
    await run.ended
    this.#blocksBefore += blocksIn(part, run)
    this.#runs.delete(part)
  }

  async restart(part: Part): Promise<void> {
    if (part === 'nats') await this.nats.restart()
    else this.start(part)
  }

  /** Accepted blocks that relays have reported in all runs. */
  get blocks(): number {
    return [...this.#runs].reduce((sum, [part, run]) => sum + blocksIn(part, run), this.#blocksBefore)
  }

  /** Throws if a process exits by itself. */
  async until(condition: () => boolean, what: string): Promise<void> {
    await until(() => {
      if (condition()) return true
      for (const [name, { child, err, out }] of this.#runs) {
        if (child.exitCode === null && child.signalCode === null) continue
        throw new Error(`${what}: ${name} ended by itself: ${err()} ${out().slice(-2000)}`)
      }
      return false
    })
  }

  /** Waits until a share of a rig at each relay is accepted, from now. */
  async works(what: string): Promise<void> {
    const from = this.answers.accepted.length
    const has = (relay: Relay) => this.answers.accepted.slice(from).some((each) => each.relay === relay)
    await this.until(() => relays.every(has), `${what}: each relay accepts a share`)
  }

  /** Ends all rigs. */
  async stopRigs(): Promise<void> {
    this.#isOver = true
    await this.#rigs
  }

  /** A rig that reconnects again and again, each time under another name, so that its shares stay easy. */
  async #mine(relay: Relay, index: number): Promise<void> {
    for (let session = 0; !this.#isOver; session++) {
      const rig = await Rig.connect(this.#ports[relay]).catch(() => null)
      if (rig !== null) await this.#session(rig, relay, `${USER}.${relay}-${index}-${session}`)
      rig?.close()
      await sleep(REST_MS)
    }
  }

  async #session(rig: Rig, relay: Relay, user: string): Promise<void> {
    await Promise.race([rig.subscribe(), rig.ended])
    await Promise.race([rig.authorize(user), rig.ended])
    await until(() => rig.jobs.length > 0 || rig.hasEnded || this.#isOver)
    const [job] = rig.jobs
    const shares = Array.from({ length: job === undefined || rig.hasEnded ? 0 : SHARES_OF_SESSION }, async () => {
      const nonce2 = rig.nextShare(job)
      const answer = await Promise.race([rig.ask('mining.submit', [user, job.id, nonce2]), rig.ended])
      const { accepted, refused } = this.answers
      if (answer === undefined) this.answers.unanswered++
      else if (answer.result === true) accepted.push({ id: idOf(job, nonce2, rig.nonce1), relay })
      else {
        const reason = JSON.stringify(answer.error)
        refused.set(reason, (refused.get(reason) ?? 0) + 1)
      }
    })
    await Promise.all(shares)
  }
}

function blocksIn(part: Part, run: Running): number {
  if (part !== 'hall-1' && part !== 'hall-2') return 0
  return run.out().match(/"verdict":"accepted"/g)?.length ?? 0
}

function idOf({ header }: RigJobSeen, nonce2: string, nonce1: string): string {
  const nonce = composeNonce(nonce2, { bits: 16, value: Number.parseInt(nonce1, 16) })
  return encodeBase64Url(powHash(withNonce(header, nonce)))
}
