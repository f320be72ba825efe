/** Rigs as an engine: whoever connects and speaks stratum searches, and hands in shares that tell how fast it is. */
import type { Socket } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import type { DeviceStatus, Engine, EngineEvents, EngineWork } from '../engine.ts'
import type { RigHost, StratumStatus } from '../rigs.ts'
import { Uptake } from '../uptake.ts'
import { Jobs, RIG_WORK_BYTES, type RigJob, type ShareHash, shareHash } from './jobs.ts'
import { defaultLimits, MAX_SESSIONS, type RigLimits } from './limits.ts'
import { loadSender } from './native-send.ts'
import { RigServer } from './server.ts'
import type { Rig, Session, Share } from './session.ts'
import { startDifficulty } from './share-difficulty.ts'
import { noShares, Users } from './users.ts'
import { type Worker, Workers } from './workers.ts'

export interface StratumOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Files in PEM form; null: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** Hashes that first shares take on average; null: by what the program of the rig says of itself. */
  readonly difficulty: number | null
  readonly clock: Clock
  readonly random: () => number
  readonly limits?: Partial<RigLimits>
  /** Hash of a share; default: the real one. Models of rigs that are too fast to be searched for name another. */
  readonly shareHash?: ShareHash
}

/** So often it is looked who needs a fresh job. All who do get the same one. */
const FRESH_MS = 100
const FIXED_NONCE = 'rigs cannot search work in which a pool fixes a part of the nonce'
const OTHER_LENGTH = `rigs search work of ${RIG_WORK_BYTES} bytes only`

export class StratumEngine implements Engine, RigHost {
  readonly name = 'rigs'
  readonly #options: StratumOptions
  readonly #jobs: Jobs
  readonly #sender = loadSender()
  readonly #server: RigServer
  readonly #workers = new Workers()
  readonly #users = new Users()
  readonly #uptake = new Uptake<Session>()
  /** Those that get jobs. */
  readonly #ready = new Set<Session>()
  /** Those that wait for a fresh job for another reason than time. */
  readonly #needing = new Set<Session>()
  #cancelFresh: (() => void) | null = null
  #address: { readonly host: string; readonly port: number } | null = null
  #events: EngineEvents | null = null
  /** Devices at the stop; null: it goes on. */
  #last: readonly DeviceStatus[] | null = null
  #hashes = 0
  readonly #shares = noShares()
  /** Why no rig can search the present work; null: they can. */
  #unable: string | null = null
  readonly #warned = new Set<string>()

  /** Throws NewcutError BAD_INPUT for a certificate or key that cannot be used. */
  constructor(options: StratumOptions) {
    const { host, port, tls, clock, limits, random } = options
    this.#options = options
    this.#jobs = new Jobs(random, () => clock.monotonicMs())
    const { sendAll } = this.#sender
    const firstNonce1 = Math.floor(random() * MAX_SESSIONS)
    const server = { host, port, tls, clock, limits: { ...defaultLimits, ...limits }, sendAll, firstNonce1 }
    this.#server = new RigServer(server, {
      jobs: this.#jobs,
      shareHash: options.shareHash ?? shareHash,
      isBanned: (user) => this.#workers.isBanned(user, clock.monotonicMs()),
      onUser: (user) => this.#join(user),
      firstDifficulty: ({ worker }, agent) => worker.difficulty ?? options.difficulty ?? startDifficulty(agent),
      onReady: (session) => this.#begin(session),
      onShare: (_session, share) => this.#take(share),
      onNeed: (session) => this.#needing.add(session),
      onWritten: (session, sequence, isWritten) => this.#written(session, sequence, isWritten),
      onEnd: (session) => this.#end(session),
      onBan: (worker) => this.#events?.onWarning(banText(worker)),
      onFull: (which, message) => this.#warn(message, which),
    })
  }

  async listen(): Promise<{ readonly host: string; readonly port: number }> {
    this.#address ??= await this.#server.listen()
    return this.#address
  }

  /** Serves a rig whose connection was made elsewhere. The socket closes with the engine. */
  accept(socket: Socket): void {
    this.#server.enter(socket)
  }

  async start(_workBytes: number, events: EngineEvents): Promise<void> {
    await this.listen()
    if (this.#last !== null) await this.#server.close()
    else this.#events = events
    if (this.#sender.fault !== null) this.#warn(this.#sender.fault)
  }

  /** Resolves once the line was written to nearly all rigs. Rigs go on with what they have while there is no work. */
  async setWork(work: EngineWork): Promise<boolean> {
    if (this.#events === null) return false
    this.#unable = work.bytes === null ? null : obstacleOf(work)
    if (this.#unable !== null) this.#warn(this.#unable)
    if (work.bytes === null || this.#unable !== null) {
      this.#uptake.cancel()
      this.#jobs.rest()
      return true
    }
    const job = this.#jobs.begin({ ...work, bytes: work.bytes })
    const taken = this.#uptake.expect(work.sequence)
    for (const session of this.#ready) this.#send(session, job)
    this.#server.flush()
    return taken
  }

  /** The expected hashes of all shares that were accepted: what the rigs did, but for chance. */
  hashes(): number {
    return this.#hashes
  }

  /** After the stop: as they were then. */
  devices(): readonly DeviceStatus[] {
    if (this.#last !== null) return this.#last
    return this.#workers.statuses(this.#options.clock.monotonicMs(), this.#unable)
  }

  status(): StratumStatus {
    const { sessions, refusals } = this.#server
    const [users, rigs] = [this.#users.statuses(), this.#workers.counts()]
    return { sessions, shares: { ...this.#shares }, refusals: refusals.counts(), users, rigs }
  }

  async stop(): Promise<void> {
    this.#last ??= this.devices()
    this.#events = null
    this.#cancelFresh?.()
    this.#uptake.cancel()
    await this.#server.close()
  }

  close(): Promise<void> {
    return this.stop()
  }

  #join(text: string): Rig {
    return { worker: this.#workers.join(text, this.#options.clock.monotonicMs()), user: this.#users.join(text) }
  }

  #begin(session: Session): void {
    this.#ready.add(session)
    this.#uptake.up(session)
    const job = this.#jobs.latest
    if (job !== null) this.#send(session, job)
    this.#watch()
  }

  /** One that is behind is not waited for until it has caught up. */
  #send(session: Session, job: RigJob): void {
    if (session.isBehind) this.#uptake.down(session)
    session.send(job)
  }

  #written(session: Session, sequence: number, isWritten: boolean): void {
    if (!this.#ready.has(session)) return
    if (!isWritten) {
      this.#uptake.down(session)
      return
    }
    this.#uptake.up(session)
    this.#uptake.took(session, sequence)
  }

  #take({ rig, verdict, hashes, solution }: Share): void {
    if (this.#events === null) return
    this.#shares[verdict]++
    this.#hashes += hashes
    if (rig === null) return
    const { worker, user } = rig
    for (const each of [worker, user]) {
      each.hashes += hashes
      each.shares[verdict]++
    }
    if (solution === undefined) return
    const { sequence, creationTime } = solution.job
    this.#events.onCandidate({ sequence, creationTime, nonce: solution.nonce, device: worker.device })
  }

  /** Looks who needs a fresh job, as long as there are sessions. */
  #watch(): void {
    this.#cancelFresh ??= this.#options.clock.after(FRESH_MS, () => {
      this.#cancelFresh = null
      this.#freshen()
      if (this.#ready.size > 0) this.#watch()
    })
  }

  /** Gives one job to all that need a fresh one. */
  #freshen(): void {
    const sessions = [...this.#ready].filter((session) => this.#needing.has(session) || session.isDue)
    this.#needing.clear()
    if (sessions.length === 0) return
    const job = this.#jobs.fresh()
    for (const session of sessions) {
      if (job === null) session.remind()
      else this.#send(session, job)
    }
  }

  #end(session: Session): void {
    this.#needing.delete(session)
    for (const { worker, user } of session.rigs) {
      this.#workers.leave(worker, this.#options.clock.monotonicMs())
      user.sessions--
    }
    if (this.#ready.delete(session)) this.#uptake.down(session)
  }

  /** Once for each of what there is to warn of. */
  #warn(message: string, of = message): void {
    if (this.#events === null || this.#warned.has(of)) return
    this.#warned.add(of)
    this.#events.onWarning(message)
  }
}

function obstacleOf({ bytes, fixedNonce }: EngineWork): string | null {
  if (fixedNonce.bits > 0) return FIXED_NONCE
  return bytes?.length === RIG_WORK_BYTES ? null : OTHER_LENGTH
}

/** Told each time: a worker is banned once in ten minutes at most. */
function banText({ device, user, bad, good }: Worker): string {
  const what = `${bad} of its last ${bad + good} shares were low or malformed`
  return `${device} of ${user} is banned for a while, since ${what}: is it set to another network, or its order of bytes?`
}
