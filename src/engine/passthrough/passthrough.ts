/**
 * Rigs behind a pool as an engine: each has a session with the pool for itself, which says how its shares are. The work of
 * the miner is for the devices beside it.
 */
import type { Clock } from '../../core/clock.ts'
import type { PoolLines } from '../../stratum/passthrough.ts'
import type { DeviceStatus, Engine, EngineEvents } from '../engine.ts'
import type { RigHost, StratumStatus } from '../rigs.ts'
import { banText } from '../stratum/ban-text.ts'
import { defaultLimits, MAX_SESSIONS, type RigLimits } from '../stratum/limits.ts'
import { loadSender } from '../stratum/native-send.ts'
import { RigServer } from '../stratum/server.ts'
import type { Rig, Share } from '../stratum/session.ts'
import { noShares, Users } from '../stratum/users.ts'
import { Workers } from '../stratum/workers.ts'
import { type RefusalName, refusalText } from './refusals.ts'
import { PassedSession } from './session.ts'

export interface PassthroughOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Files in PEM form; null: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly lines: PoolLines
  readonly clock: Clock
  readonly random: () => number
  readonly limits?: Partial<RigLimits>
}

/** Rigs that are closed are told of once in this time. */
const PARTED_MS = 60_000
const PARTED =
  'rigs that cannot change nonce1 are closed, since their sessions with the pool are over; they come again within a minute'

export class PassthroughEngine implements Engine, RigHost {
  readonly name = 'rigs'
  readonly #options: PassthroughOptions
  readonly #sender = loadSender()
  readonly #server: RigServer<PassedSession>
  readonly #workers = new Workers()
  readonly #users = new Users()
  readonly #shares = noShares()
  readonly #refused = { full: 0, away: 0, few: 0, digits: 0, user: 0 } satisfies Record<RefusalName, number>
  readonly #warned = new Set<string>()
  #hashes = 0
  #partedAtMs = Number.NEGATIVE_INFINITY
  #address: { readonly host: string; readonly port: number } | null = null
  #events: EngineEvents | null = null
  /** Devices at the stop; null: it goes on. */
  #last: readonly DeviceStatus[] | null = null

  /** Throws NewcutError BAD_INPUT for a certificate or key that cannot be used. */
  constructor(options: PassthroughOptions) {
    const { host, port, tls, clock, limits, random, lines } = options
    this.#options = options
    const { sendAll } = this.#sender
    const firstNonce1 = Math.floor(random() * MAX_SESSIONS)
    const server = { host, port, tls, clock, limits: { ...defaultLimits, ...limits }, sendAll, firstNonce1 }
    const ports = {
      lines,
      isBanned: (user: string) => this.#workers.isBanned(user, clock.monotonicMs()),
      onUser: (user: string) => this.#join(user),
      onRefused: (why: RefusalName) => this.#refuse(why),
      onParted: () => this.#part(),
    }
    this.#server = new RigServer(server, {
      newSession: (_nonce1, socket) => new PassedSession({ ...ports, ...socket }),
      onShare: (_session, share) => this.#take(share),
      onWritten: () => undefined,
      onEnd: (session) => this.#end(session),
      onBan: (worker) => this.#events?.onWarning(banText(worker)),
      onFull: (which, message) => this.#warn(message, which),
    })
  }

  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    this.#address ??= await this.#server.listen()
    return this.#address
  }

  async start(_workBytes: number, events: EngineEvents): Promise<void> {
    await this.listen()
    if (this.#last !== null) {
      await this.#server.close()
      return
    }
    this.#events = events
    this.#options.lines.open((message) => this.#events?.onWarning(message))
    if (this.#sender.fault !== null) this.#warn(this.#sender.fault)
  }

  /** Rigs have the work of their own sessions. */
  async setWork(): Promise<boolean> {
    return this.#events !== null
  }

  /** The expected hashes of all shares that the pool took. */
  hashes(): number {
    return this.#hashes
  }

  /** After the stop: as they were then. */
  devices(): readonly DeviceStatus[] {
    return this.#last ?? this.#workers.statuses(this.#options.clock.monotonicMs(), null)
  }

  status(): StratumStatus {
    const { sessions } = this.#server
    const refused = { ...this.#refused }
    const users = this.#users.statuses()
    return { sessions, shares: { ...this.#shares }, users, rigs: this.#workers.counts(), refused }
  }

  async stop(): Promise<void> {
    this.#last ??= this.devices()
    this.#events = null
    await this.#server.close()
    this.#options.lines.close()
  }

  close(): Promise<void> {
    return this.stop()
  }

  #join(text: string): Rig {
    return { worker: this.#workers.join(text, this.#options.clock.monotonicMs()), user: this.#users.join(text) }
  }

  #take({ rig, verdict, hashes }: Share): void {
    if (this.#last !== null) return
    this.#shares[verdict]++
    this.#hashes += hashes
    if (rig === null) return
    for (const each of [rig.worker, rig.user]) {
      each.hashes += hashes
      each.shares[verdict]++
    }
  }

  #end(session: PassedSession): void {
    session.end()
    for (const { worker, user } of session.rigs) {
      this.#workers.leave(worker, this.#options.clock.monotonicMs())
      user.sessions--
    }
  }

  #refuse(why: RefusalName): void {
    this.#refused[why]++
    this.#warn(refusalText(why, this.#options.lines.most), why)
  }

  #part(): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#partedAtMs < PARTED_MS) return
    this.#partedAtMs = nowMs
    this.#events?.onWarning(PARTED)
  }

  /** Once for each of what there is to warn of. */
  #warn(message: string, of = message): void {
    if (this.#events === null || this.#warned.has(of)) return
    this.#warned.add(of)
    this.#events.onWarning(message)
  }
}
