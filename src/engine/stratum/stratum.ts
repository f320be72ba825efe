/** Rigs as an engine: whoever connects and speaks stratum searches, and hands in shares that tell how fast it is. */
import type { Socket } from 'node:net'
import { Accounts } from '../../accounts/accounts.ts'
import { type NewShare, ShareRecorder } from '../../accounts/recorder.ts'
import type { RigNotice } from '../../accounts/rig-ledger.ts'
import { blockHash } from '../../core/block-hash.ts'
import { encodeBase64Url } from '../../core/bytes.ts'
import type { Clock } from '../../core/clock.ts'
import { withNonce } from '../../core/header.ts'
import { printable } from '../../core/printable.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { DeviceStatus, Engine, EngineEvents, EngineWork } from '../engine.ts'
import type { RigCounts, RigHost, StratumStatus } from '../rigs.ts'
import { Uptake } from '../uptake.ts'
import { Jobs, RIG_WORK_BYTES, type RigJob, type ShareHash, shareHash } from './jobs.ts'
import { defaultLimits, MAX_SESSIONS, type RigLimits } from './limits.ts'
import { loadSender } from './native-send.ts'
import { RigServer } from './server.ts'
import type { Rig, Session, Share } from './session.ts'
import { startDifficulty } from './share-difficulty.ts'
import { accountName, noShares, Users } from './users.ts'
import { nameBehindAccount, type Worker, Workers } from './workers.ts'

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
  /** Keeps shares and accounts; default: accounts in memory alone. */
  readonly recorder?: (onNotice: (notice: RigNotice) => void) => ShareRecorder
}

/** So often it is looked who needs a fresh job. All who do get the same one. */
const FRESH_MS = 100
const MAX_EARLY = 16
/** Characters of a refused line that are told. */
const MAX_LINE = 300
const FIXED_NONCE = 'rigs cannot search work in which a pool fixes a part of the nonce'
const OTHER_LENGTH = `rigs search work of ${RIG_WORK_BYTES} bytes only`

export class StratumEngine implements Engine, RigHost {
  readonly name = 'rigs'
  readonly recorder: ShareRecorder
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
  /** null: nobody listens yet. */
  #receive: ((notice: RigNotice) => void) | null = null
  /** Notices from before anybody listened. */
  #early: RigNotice[] = []

  /** Throws NewcutError BAD_INPUT for a certificate or key that cannot be used. */
  constructor(options: StratumOptions) {
    const { host, port, tls, clock, limits, random, recorder = inMemory(clock) } = options
    this.#options = options
    this.recorder = recorder((notice) => this.#notice(notice))
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
      onShare: (session, share, tell) => this.#take(session, share, tell),
      onStranger: (message) => this.#notice({ type: 'detail', message }),
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
    const { sessions } = this.#server
    const refused = new Map<string, RigCounts['refusedAs']>()
    for (const { user, worker, warning } of this.recorder.accounts.all)
      if (warning !== null) refused.set(this.#workers.deviceOf(user, worker), warning.reason)
    const rigs = this.#workers.counts().map((rig) => ({ ...rig, refusedAs: refused.get(rig.device) ?? null }))
    const isLogWell = this.recorder.kept === null ? null : this.recorder.isWell
    return { sessions, shares: { ...this.#shares }, users: this.#users.statuses(), rigs, isLogWell }
  }

  tell(receive: (notice: RigNotice) => void): void {
    this.#receive = receive
    for (const notice of this.#early.splice(0)) receive(notice)
  }

  async stop(): Promise<void> {
    this.#last ??= this.devices()
    this.#events = null
    this.#cancelFresh?.()
    this.#uptake.cancel()
    // What is kept is still answered.
    await this.recorder.close()
    this.#server.flush()
    await this.#server.close()
  }

  close(): Promise<void> {
    return this.stop()
  }

  #join(text: string): Rig {
    const presence = this.recorder.accounts.join(accountName(text), nameBehindAccount(text))
    return {
      worker: this.#workers.join(text, this.#options.clock.monotonicMs()),
      user: this.#users.join(text),
      presence,
    }
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

  /**
   * Hashes count, and a solution goes on, as soon as a share is judged: whether the share can be kept is no matter of
   * these. The share itself counts, and is answered, once it is kept.
   */
  #take(session: Session, share: Share, tell: (verdict: ShareVerdict) => void): void {
    const { rig, verdict, hashes, solution, kept } = share
    if (this.#events === null) {
      tell('unavailable')
      return
    }
    this.#hashes += hashes
    if (rig !== null) rig.worker.hashes += hashes
    if (solution !== undefined && rig !== null) {
      const { sequence, creationTime } = solution.job
      this.#events.onCandidate({ sequence, creationTime, nonce: solution.nonce, device: rig.worker.device })
    }
    if (kept === undefined || rig === null) {
      this.#count(session, share, verdict)
      tell(verdict)
      return
    }
    if (this.recorder.kept === null) {
      this.recorder.count(rig.presence, hashes, solution !== undefined)
      this.#count(session, share, verdict)
      tell(verdict)
      return
    }
    this.recorder.accept(newShare(share, kept, rig), (outcome) => {
      this.#count(session, share, outcome)
      tell(outcome)
    })
  }

  #count(session: Session, { rig, hashes, isUnknownJob }: Share, verdict: ShareVerdict): void {
    this.#shares[verdict]++
    if (rig === null) return
    const { worker, user, presence } = rig
    worker.shares[verdict]++
    user.shares[verdict]++
    if (verdict === 'accepted') {
      user.hashes += hashes
      return
    }
    if (!this.recorder.refuse(presence.user, presence.worker, verdict, isUnknownJob)) return
    const message = `first refused share of ${worker.device} of ${presence.user}: ${verdict}; its line was: `
    this.#notice({ type: 'detail', message: message + printable(session.line, MAX_LINE) })
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
    for (const { worker, user, presence } of session.rigs) {
      this.recorder.accounts.leave(presence)
      this.#workers.leave(worker, this.#options.clock.monotonicMs())
      user.sessions--
    }
    if (this.#ready.delete(session)) this.#uptake.down(session)
  }

  #notice(notice: RigNotice): void {
    if (this.#receive !== null) this.#receive(notice)
    else if (this.#early.length < MAX_EARLY) this.#early.push(notice)
  }

  /** Once for each of what there is to warn of. */
  #warn(message: string, of = message): void {
    if (this.#events === null || this.#warned.has(of)) return
    this.#warned.add(of)
    this.#events.onWarning(message)
  }
}

/** Accounts without a share log: they end with the process. */
function inMemory(clock: Clock): NonNullable<StratumOptions['recorder']> {
  return (onNotice) => {
    const onWarning = (message: string, isWell: boolean) =>
      onNotice({ type: isWell ? 'recovered' : 'warning', message })
    return new ShareRecorder(null, new Accounts({ onWarning }), clock, onNotice)
  }
}

/** Its hash, lowest byte first, as base64url. */
const idOf = ({ buffer, byteOffset, byteLength }: Uint32Array) =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('base64url')

function newShare({ hashes, solution }: Share, { job, hash }: NonNullable<Share['kept']>, { presence }: Rig): NewShare {
  const { user, worker, agent, address } = presence
  const { chainId: chain, height } = job.pursuit.fields
  const block = solution === undefined ? null : encodeBase64Url(blockHash(withNonce(job.header, solution.nonce)))
  const of = { chain, height: Number(height), difficulty: hashes, blockDifficulty: job.difficulty, block }
  return { id: idOf(hash), user, worker, agent, address, ...of }
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
