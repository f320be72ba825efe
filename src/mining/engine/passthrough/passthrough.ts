/**
 * Rigs of a pool as an engine. Each rig has its own session with the pool, which judges its shares. The miner's
 * work is only for its other devices.
 */

import type { Clock } from '#ground/base/clock.ts'
import type { ShareRecorder } from '../../accounts/recorder.ts'
import type { RigNotice } from '../../accounts/rig-ledger.ts'
import type { RigPoolSessions } from '../../stratum/passthrough.ts'
import type { DeviceStatus, Engine, EngineEvents } from '../engine.ts'
import type { RigAddress, RigHost, StratumStatus } from '../rigs.ts'
import { banText } from '../stratum/ban-text.ts'
import { defaultLimits, MAX_SESSIONS, type RigLimits } from '../stratum/limits.ts'
import { provideSender } from '../stratum/native-send.ts'
import { Nonce1Pool } from '../stratum/nonce1-pool.ts'
import { RigBook } from '../stratum/rig-book.ts'
import { RigServer } from '../stratum/server.ts'
import type { Share } from '../stratum/share.ts'
import { type RefusalName, refusalText } from './refusals.ts'
import { ProxySession } from './session.ts'

export interface PassthroughOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Files in PEM form, or null for no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly lines: RigPoolSessions
  readonly clock: Clock
  readonly random: () => number
  readonly limits?: Partial<RigLimits>
}

/** Minimum interval between warnings about closed rigs. */
const RECONNECT_WARNING_MS = 60_000
const RECONNECT_WARNING =
  'rigs that cannot change nonce1 are closed, since their sessions with the pool are over; they come again within a minute'

export class PassthroughEngine implements Engine, RigHost {
  readonly name = 'rigs'
  readonly #options: PassthroughOptions
  readonly #sender = provideSender()
  readonly #server: RigServer<ProxySession>
  readonly #book: RigBook
  readonly #sentAway = { full: 0, away: 0, few: 0, digits: 0, user: 0 } satisfies Record<RefusalName, number>
  readonly #warned = new Set<string>()
  #hashes = 0
  #warnedAtMs = Number.NEGATIVE_INFINITY
  #address: RigAddress | null = null
  #events: EngineEvents | null = null
  /** The devices at the stop, or null before it. */
  #last: readonly DeviceStatus[] | null = null

  /** @throws NewcutError BAD_INPUT for an unusable certificate or key */
  constructor(options: PassthroughOptions) {
    const { host, port, tls, clock, limits, random, lines } = options
    this.#options = options
    this.#book = new RigBook(clock)
    const { sendAll } = this.#sender
    const nonces = new Nonce1Pool(Math.floor(random() * MAX_SESSIONS), false)
    const sockets = { nonces, isForProxies: false, sendAll, refusals: this.#book.refusals }
    const server = { host, port, tls, clock, limits: { ...defaultLimits, ...limits }, ...sockets }
    const ports = {
      lines,
      onUser: (user: string) => this.#book.join(user),
      onSentAway: (why: RefusalName) => this.#refuse(why),
      onReconnect: () => this.#warnOfReconnects(),
    }
    this.#server = new RigServer(server, {
      newSession: (_nonce1, socket) => new ProxySession({ ...ports, ...socket }),
      onShare: (session, share) => this.#onShare(session, share),
      onStranger: (message) => this.#book.notice({ type: 'detail', message }),
      onWritten: () => undefined,
      onEnd: (session) => this.#end(session),
      onBan: (...banned) => this.#events?.onWarning(banText(...banned)),
      onFull: (which, message) => this.#warn(message, which),
    })
  }

  async listen(): Promise<RigAddress> {
    this.#address ??= { ...(await this.#server.listen()), proxies: null }
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

  /** Ignores the work: rigs have that of their own sessions. */
  async setWork(): Promise<boolean> {
    return this.#events !== null
  }

  /** Sum of the difficulties of all accepted shares. */
  hashes(): number {
    return this.#hashes
  }

  /** After the stop, the last devices. */
  devices(): readonly DeviceStatus[] {
    return this.#last ?? this.#book.devices(null)
  }

  status(): StratumStatus {
    return { ...this.#book.status(this.#server.sessions), sentAway: { ...this.#sentAway } }
  }

  setNoticeListener(receive: (notice: RigNotice) => void): void {
    this.#book.setNoticeListener(receive)
  }

  get recorder(): ShareRecorder {
    return this.#book.recorder
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

  /** Counts a share that the pool has judged. */
  #onShare({ line }: ProxySession, share: Share): void {
    if (this.#last !== null) return
    const { rig, verdict, hashes } = share
    if (rig !== null && verdict === 'accepted') {
      this.#hashes += hashes
      rig.worker.hashes += hashes
      this.recorder.count(rig.presence, hashes, false)
    }
    this.#book.count(share, verdict, line)
  }

  #end(session: ProxySession): void {
    session.end()
    this.#book.leave(session.rigs)
  }

  #refuse(why: RefusalName): void {
    this.#sentAway[why]++
    this.#warn(refusalText(why, this.#options.lines.most), why)
  }

  #warnOfReconnects(): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#warnedAtMs < RECONNECT_WARNING_MS) return
    this.#warnedAtMs = nowMs
    this.#events?.onWarning(RECONNECT_WARNING)
  }

  /** Warns once per subject. */
  #warn(message: string, subject = message): void {
    if (this.#events === null || this.#warned.has(subject)) return
    this.#warned.add(subject)
    this.#events.onWarning(message)
  }
}
