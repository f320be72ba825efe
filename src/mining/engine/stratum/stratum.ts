/** Rigs as an engine: clients that speak stratum search the work, and their shares measure how fast. */
import type { Socket } from 'node:net'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { withNonce } from '#ground/chain/header.ts'
import type { HeaderClass } from '#ground/chain/nonce.ts'
import type { NewShare, ShareRecorder } from '../../accounts/recorder.ts'
import type { RigNotice } from '../../accounts/rig-ledger.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { DeviceStatus, Engine, EngineEvents, EngineWork } from '../engine.ts'
import type { RigAddress, RigHost, StratumStatus } from '../rigs.ts'
import { WorkAcknowledgement } from '../work-acknowledgement.ts'
import { banText } from './ban-text.ts'
import { randomClass } from './header-times.ts'
import { Jobs, RIG_WORK_BYTES, type RigJob, type ShareHash, shareHash } from './jobs.ts'
import { defaultLimits, MAX_SESSIONS, type RigLimits } from './limits.ts'
import { provideSender } from './native-send.ts'
import { Nonce1Pool } from './nonce1-pool.ts'
import { type OpenRecorder, RigBook } from './rig-book.ts'
import type { RigServerPorts } from './served.ts'
import { RigServer, type RigServerOptions } from './server.ts'
import { Session } from './session.ts'
import type { HashedShare, Rig, Share } from './share.ts'
import { startDifficulty } from './share-difficulty.ts'

export interface StratumOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Files in PEM form, or null for no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** Address for proxies of newcut, each with 256 rigs; undefined if they are not served. */
  readonly proxies?: { readonly host: string; readonly port: number } | null | undefined
  /** Difficulty of first shares in hashes, or null to choose by the rig's program. */
  readonly difficulty: number | null
  readonly clock: Clock
  readonly random: () => number
  readonly limits?: Partial<RigLimits>
  /**
   * Creation times for headers, or a function that is called for the first one, and warns if earlier runs are unknown.
   * Default: a random class for single servers.
   */
  readonly headers?: HeaderClass | ((warn: (message: string) => void) => HeaderClass) | undefined
  /** Hash of a share. Models of rigs that are too fast for a real search replace it. */
  readonly shareHash?: ShareHash
  /** Opens shares and accounts. Default: accounts in memory only. */
  readonly recorder?: OpenRecorder
}

/** Interval of the check for sessions that need a fresh job. All of them get the same one. */
const FRESH_MS = 100
/** The same in urgent cases: with more jobs, older ones would be evicted too soon. */
const URGENT_MS = 20
const FIXED_NONCE = 'rigs cannot search work in which a pool fixes a part of the nonce'
/** Not worth a warning: it takes a moment. */
const WAITING = 'no headers have been given to these rigs yet'
const OTHER_LENGTH = `rigs search work of ${RIG_WORK_BYTES} bytes only`

export class StratumEngine implements Engine, RigHost {
  readonly name = 'rigs'
  readonly #book: RigBook
  readonly #options: StratumOptions
  readonly #jobs: Jobs
  readonly #sender = provideSender()
  readonly #server: RigServer<Session>
  /** For proxies; null if they are not served. */
  readonly #proxies: RigServer<Session> | null
  readonly #acknowledgement = new WorkAcknowledgement<Session>()
  /** Sessions that get jobs. */
  readonly #ready = new Set<Session>()
  /** Sessions that need a fresh job regardless of time. */
  readonly #needing = new Set<Session>()
  #cancelFresh: (() => void) | null = null
  #cancelUrgent: (() => void) | null = null
  /** When the last fresh job was issued. */
  #freshAtMs = Number.NEGATIVE_INFINITY
  #address: RigAddress | null = null
  #events: EngineEvents | null = null
  /** The devices at the stop, or null before it. */
  #last: readonly DeviceStatus[] | null = null
  #hashes = 0
  /** Why no rig can search the current work, or null if they can. */
  #unable: string | null = null
  readonly #warned = new Set<string>()

  /** @throws NewcutError BAD_INPUT for an unusable certificate or key */
  constructor(options: StratumOptions) {
    const { clock, random, proxies = null } = options
    this.#options = options
    this.#book = new RigBook(clock, options.recorder)
    this.#jobs = new Jobs(
      random,
      () => clock.monotonicMs(),
      () => this.#headerClass(),
    )
    const server = this.#serverOptions()
    const ports = this.#serverPorts()
    this.#server = new RigServer(server, ports)
    // A proxy submits shares of many rigs.
    const { limits } = server
    const proxyLimits = { ...limits, requestsPerSecond: limits.requestsPerSecondOfAddress }
    this.#proxies = proxies && new RigServer({ ...server, ...proxies, limits: proxyLimits, isForProxies: true }, ports)
  }

  #serverOptions(): RigServerOptions {
    const { host, port, tls, clock, random, proxies = null } = this.#options
    return {
      host,
      port,
      tls,
      clock,
      limits: { ...defaultLimits, ...this.#options.limits },
      sendAll: this.#sender.sendAll,
      nonces: new Nonce1Pool(Math.floor(random() * MAX_SESSIONS), proxies !== null),
      isForProxies: false,
      refusals: this.#book.refusals,
    }
  }

  #serverPorts(): RigServerPorts<Session> {
    const { difficulty } = this.#options
    const sessionPorts = {
      jobs: this.#jobs,
      shareHash: this.#options.shareHash ?? shareHash,
      onUser: (user: string) => this.#book.join(user),
      firstDifficulty: ({ worker }: Rig, agent: string) => worker.difficulty ?? difficulty ?? startDifficulty(agent),
      onReady: (session: Session) => this.#begin(session),
      onNeed: (session: Session, isUrgent: boolean) => {
        this.#needing.add(session)
        if (isUrgent) this.#checkSoon()
      },
    }
    return {
      newSession: (nonce1, socket) => new Session(nonce1, { ...sessionPorts, ...socket }),
      onShare: (session, share, reply) => this.#onShare(session, share, reply),
      onStranger: (message) => this.#book.notice({ type: 'detail', message }),
      onWritten: (session, sequence, isWritten) => this.#onWritten(session, sequence, isWritten),
      onEnd: (session) => this.#end(session),
      onBan: (...banned) => this.#events?.onWarning(banText(...banned)),
      onFull: (which, message) => this.#warn(message, which),
    }
  }

  async listen(): Promise<RigAddress> {
    this.#address ??= { ...(await this.#server.listen()), proxies: (await this.#proxies?.listen()) ?? null }
    return this.#address
  }

  /** Serves a rig on an existing connection, which closes with the engine. */
  accept(socket: Socket): void {
    this.#server.enter(socket)
  }

  async start(_workBytes: number, events: EngineEvents): Promise<void> {
    await this.listen()
    if (this.#last !== null) await this.#closeServers()
    else this.#events = events
    if (this.#sender.fault !== null) this.#warn(this.#sender.fault)
  }

  /** Resolves once the job was written to nearly all rigs. Without work, rigs continue with the old job. */
  async setWork(work: EngineWork): Promise<boolean> {
    if (this.#events === null) return false
    this.#unable = work.bytes === null ? null : obstacleOf(work)
    if (this.#unable !== null && this.#unable !== WAITING) this.#warn(this.#unable)
    if (work.bytes === null || this.#unable !== null) {
      this.#acknowledgement.cancel()
      this.#jobs.endWork()
      return true
    }
    const job = this.#jobs.begin({ ...work, bytes: work.bytes })
    const taken = this.#acknowledgement.await(work.sequence)
    for (const session of this.#ready) this.#send(session, job)
    this.#flush()
    return taken
  }

  #flush(): void {
    this.#server.flush()
    this.#proxies?.flush()
  }

  /** Sum of the difficulties of all accepted shares, which estimates the hashes of the rigs. */
  hashes(): number {
    return this.#hashes
  }

  /** After the stop, the last devices. */
  devices(): readonly DeviceStatus[] {
    if (this.#last !== null) return this.#last
    return this.#book.devices(this.#unable)
  }

  status(): StratumStatus {
    const sessions = this.#server.sessions + (this.#proxies?.sessions ?? 0)
    return this.#book.status(sessions)
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
    this.#cancelFresh?.()
    this.#cancelUrgent?.()
    this.#acknowledgement.cancel()
    // Shares in the recorder still get an answer.
    await this.recorder.close()
    this.#flush()
    await this.#closeServers()
  }

  async #closeServers(): Promise<void> {
    await Promise.all([this.#server.close(), this.#proxies?.close()])
  }

  close(): Promise<void> {
    return this.stop()
  }

  #begin(session: Session): void {
    this.#ready.add(session)
    this.#acknowledgement.deviceUp(session)
    const job = this.#jobs.latest
    if (job !== null) this.#send(session, job)
    this.#checkRegularly()
  }

  #headerClass(): HeaderClass {
    const { headers, random } = this.#options
    if (typeof headers === 'function') return headers((message) => this.#warn(message))
    return headers ?? randomClass(random)
  }

  /** Sends a job. `setWork` does not wait for a slow session until it has caught up. */
  #send(session: Session, job: RigJob): void {
    if (session.isBehind) this.#acknowledgement.deviceDown(session)
    session.send(job)
  }

  #onWritten(session: Session, sequence: number, isWritten: boolean): void {
    if (!this.#ready.has(session)) return
    if (!isWritten) {
      this.#acknowledgement.deviceDown(session)
      return
    }
    this.#acknowledgement.deviceUp(session)
    this.#acknowledgement.acknowledge(session, sequence)
  }

  /**
   * Counts hashes and passes a solution on as soon as the share is judged, whether or not the share log can be written.
   * The share itself counts, and is answered, once it is stored.
   */
  #onShare(session: Session, share: Share, reply: (verdict: ShareVerdict) => void): void {
    const { rig, verdict, hashes, solution, hashed } = share
    const { line } = session
    const finish = (outcome: ShareVerdict) => {
      this.#book.count(share, outcome, line)
      reply(outcome)
    }
    if (this.#events === null) {
      reply('unavailable')
      return
    }
    this.#hashes += hashes
    if (rig !== null) rig.worker.hashes += hashes
    // The finder of a block is paid even if the share is too late to count.
    const record = solution !== undefined && rig !== null ? newShareOf(share, solution, rig) : null
    if (record !== null) this.recorder.secure(record)
    if (solution !== undefined && rig !== null) {
      const { sequence, creationTime } = solution.job
      this.#events.onCandidate({ sequence, creationTime, nonce: solution.nonce, device: rig.worker.device })
    }
    if (hashed === undefined || rig === null) {
      if (record !== null && this.recorder.storage === null) this.recorder.countBlock(record)
      finish(verdict)
    } else if (this.recorder.storage === null) {
      this.recorder.count(rig.presence, hashes, solution !== undefined)
      finish(verdict)
    } else this.recorder.accept(record ?? newShareOf(share, hashed, rig), finish)
  }

  /** Checks for sessions that need a fresh job, while there are any. */
  #checkRegularly(): void {
    this.#cancelFresh ??= this.#options.clock.after(FRESH_MS, () => {
      this.#cancelFresh = null
      this.#sendFreshJob()
      if (this.#ready.size > 0) this.#checkRegularly()
    })
  }

  /** Checks at once, or soon after the last check. */
  #checkSoon(): void {
    const { clock } = this.#options
    this.#cancelUrgent ??= clock.after(Math.max(0, this.#freshAtMs + URGENT_MS - clock.monotonicMs()), () => {
      this.#cancelUrgent = null
      this.#sendFreshJob()
    })
  }

  /** Sends one job to all sessions that need a fresh one. */
  #sendFreshJob(): void {
    const sessions = [...this.#ready].filter((session) => this.#needing.has(session) || session.isDue)
    this.#needing.clear()
    if (sessions.length === 0) return
    this.#freshAtMs = this.#options.clock.monotonicMs()
    const job = this.#jobs.issueFresh()
    for (const session of sessions) {
      if (job === null) session.sendTarget()
      else this.#send(session, job)
    }
  }

  #end(session: Session): void {
    this.#needing.delete(session)
    this.#book.leave(session.rigs)
    if (this.#ready.delete(session)) this.#acknowledgement.deviceDown(session)
  }

  /** Warns once per subject. */
  #warn(message: string, subject = message): void {
    if (this.#events === null || this.#warned.has(subject)) return
    this.#warned.add(subject)
    this.#events.onWarning(message)
  }
}

/** The hash as base64url, least significant byte first. */
const idOf = ({ buffer, byteOffset, byteLength }: Uint32Array) =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('base64url')

function newShareOf({ verdict, hashes, solution }: Share, { job, hash }: HashedShare, { presence }: Rig): NewShare {
  const { user, worker, agent, address } = presence
  const { chainId: chain, height } = job.group.fields
  const block = solution === undefined ? null : encodeBase64Url(blockHash(withNonce(job.header, solution.nonce)))
  const share = {
    id: idOf(hash),
    user,
    worker,
    agent,
    address,
    chain,
    height: Number(height),
    difficulty: hashes,
    blockDifficulty: job.difficulty,
    block,
  }
  return verdict === 'accepted' ? share : { ...share, refusedAs: verdict }
}

function obstacleOf({ bytes, fixedNonce, headers }: EngineWork): string | null {
  if (headers === null) return WAITING
  if (headers === undefined && fixedNonce.bits > 0) return FIXED_NONCE
  return bytes?.length === RIG_WORK_BYTES ? null : OTHER_LENGTH
}
