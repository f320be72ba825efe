/**
 * A model rig in virtual time: logs in like its maker's rigs, takes jobs, leaves a silent server, and submits shares at
 * its hashrate. It computes no hashes (model-hash.ts).
 */
import type { Socket } from 'node:net'
import type { Clock } from '../../src/ground/base/clock.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { Board, type BoardTime } from './board.ts'
import { Link, type Network } from './link.ts'
import type { RigModel } from './models.ts'

/** Reconnect delay of a rig. */
const PAUSE_MS = 30_000

export interface ModelRigOptions {
  readonly model: RigModel
  readonly user: string
  readonly random: () => number
  /** Accepts the server's end of a connection. */
  readonly accept: (socket: Socket) => void
  /** Default: no latency. */
  readonly network?: Network
}

export class ModelRig {
  readonly model: RigModel
  /** Answer code -> number of shares; 0 is accepted. */
  readonly answers = new Map<number, number>()
  readonly faults: string[] = []
  readonly shareTimes: number[] = []
  /** Received lines. */
  lines = 0
  /** Time from the first connection to the first share, or null. */
  firstShareMs: number | null = null
  /** Difficulty messages with their times. */
  readonly targets: { readonly atMs: number; readonly difficulty: number }[] = []
  jobs = 0
  logins = 0
  /** Longest answer time of a share, and the most shares without an answer. */
  slowestAnswerMs = 0
  mostWaiting = 0
  readonly network: Network
  readonly #options: ModelRigOptions
  readonly #clock: Clock
  readonly #boards: readonly Board[]
  /** Share without an answer -> submission time. */
  readonly #waiting = new Map<number, number>()
  #links: Link[] = []
  #link: Link | null = null
  #state: 'away' | 'subscribing' | 'authorizing' | 'mining' = 'away'
  #isOver = false
  #nextId = 3
  #difficulty = 1
  #jobId = ''
  #header = ''
  #cancelSilence: () => void = () => undefined
  #connectedAtMs: number | null = null
  /** Time of the last line or share, and the longest silence. */
  #activeAtMs: number | null = null
  #longestSilenceMs = 0

  constructor(clock: Clock, options: ModelRigOptions) {
    const { model, random, network = { clock, latencyMs: () => 0, isLost: false } } = options
    this.#options = options
    this.#clock = clock
    this.network = network
    this.model = model
    const { boards, hashrate, space, leastShare, pushMs } = model
    const part = { hashrate: hashrate / boards, space: space / boards, leastShare, pushMs, clock, random }
    const onShare = (jobId: string, nonce2: string) => this.#submit(jobId, nonce2)
    // Boards have different phases.
    this.#boards = Array.from({ length: boards }, () => new Board({ ...part, phaseMs: pushMs * random(), onShare }))
  }

  get difficulty(): number {
    return this.#difficulty
  }

  get isAway(): boolean {
    return this.#state === 'away'
  }

  connect(): void {
    if (this.#isOver) return
    // The server does not answer, so retry later.
    if (this.network.isLost) {
      this.#clock.after(PAUSE_MS, () => this.connect())
      return
    }
    this.#state = 'subscribing'
    this.#nextId = 3
    this.#connectedAtMs ??= this.#clock.monotonicMs()
    const link: Link = new Link(this.network, this.#options.accept, {
      onLine: (line) => this.#link === link && this.#hear(line),
      onClose: () => this.#link === link && this.#leave('closed'),
    })
    this.#link = link
    this.#links.push(link)
    const { before = [], subscribeParams, agent, ids = [1, 2] } = this.model
    const params = subscribeParams ?? [agent, null]
    for (const line of before) link.write(line)
    link.write(JSON.stringify({ id: ids[0], method: 'mining.subscribe', params }))
    this.#restartSilenceTimer()
  }

  /** Restarts the measurement. */
  measure(): void {
    for (const board of this.#boards) board.measure()
  }

  /** Share of the time since `measure` on new nonces, 0 to 1. */
  get useful(): number {
    const { fresh, repeated, idle } = this.time
    return fresh / (fresh + repeated + idle)
  }

  /** Time of all boards since `measure`. */
  get time(): BoardTime {
    const sum = { fresh: 0, repeated: 0, idle: 0 }
    for (const board of this.#boards) {
      board.count()
      for (const kind of ['fresh', 'repeated', 'idle'] as const) sum[kind] += board.time[kind]
    }
    return sum
  }

  /** Longest time without a line or a share. */
  get longestSilenceMs(): number {
    const nowMs = this.#clock.monotonicMs()
    return Math.max(this.#longestSilenceMs, nowMs - (this.#activeAtMs ?? nowMs))
  }

  /** Bytes of all connections, from and to the server. */
  get bytes(): { readonly in: number; readonly out: number } {
    const sum = (of: 'bytesIn' | 'bytesOut') => this.#links.reduce((total, link) => total + link[of], 0)
    return { in: sum('bytesIn'), out: sum('bytesOut') }
  }

  begin(): void {
    for (const board of this.#boards) board.searches = true
  }

  /** Stays connected without searching. */
  pause(): void {
    for (const board of this.#boards) board.searches = false
  }

  /** Disconnects for good. */
  stop(): void {
    this.#isOver = true
    this.#link?.close()
  }

  #restartSilenceTimer(): void {
    this.#cancelSilence()
    this.#cancelSilence = this.#clock.after(this.model.silenceMs, () => {
      this.faults.push('silence')
      this.#link?.close()
    })
  }

  #markActivity(): void {
    this.#longestSilenceMs = this.longestSilenceMs
    this.#activeAtMs = this.#clock.monotonicMs()
  }

  #leave(why: string): void {
    if (this.#state === 'away') return
    if (this.#state !== 'mining') this.faults.push(`${why} while ${this.#state}`)
    else if (!this.#isOver && why === 'closed' && this.faults.at(-1) !== 'silence') this.faults.push(why)
    this.#state = 'away'
    this.#link = null
    this.#header = ''
    this.#waiting.clear()
    for (const board of this.#boards) board.drop()
    this.#cancelSilence()
    if (!this.#isOver) this.#clock.after(PAUSE_MS, () => this.connect())
  }

  #hear(line: string): void {
    this.#restartSilenceTimer()
    this.#markActivity()
    this.lines++
    const { id, method, params, result, error } = JSON.parse(line)
    const authorizeId = this.model.ids?.[1] ?? 2
    if (this.#state === 'subscribing') this.#onSubscribed(line, { id, result })
    else if (method === 'mining.set_target') this.#take(params[0])
    else if (method === 'mining.notify') this.#search(params)
    else if (id === authorizeId) {
      if (result === null || result === false || error !== null) this.faults.push(`answer to authorize: ${line}`)
      this.#onAuthorized()
    } else if (typeof id === 'number') this.#onAnswer(id, result === true ? 0 : (error?.[0] ?? -1))
  }

  /** Real rigs take the first line for the answer to subscribe. */
  #onSubscribed(line: string, { id, result }: { readonly id: unknown; readonly result: unknown }): void {
    const [, nonce1, size] = Array.isArray(result) ? result : []
    if (id !== (this.model.ids?.[0] ?? 1) || !/^[0-9a-f]{4}$/.test(nonce1) || size !== 6) {
      this.faults.push(`answer to subscribe: ${line}`)
      this.#link?.close()
      return
    }
    this.#state = 'authorizing'
    const login = [this.#options.user, 'x']
    this.#link?.write(JSON.stringify({ id: this.model.ids?.[1] ?? 2, method: 'mining.authorize', params: login }))
  }

  #onAuthorized(): void {
    this.#state = 'mining'
    this.logins++
    for (let n = 1; n <= (this.model.users ?? 0); n++) {
      const params = [`${this.#options.user}-${n}`, 'x']
      this.#link?.write(JSON.stringify({ id: `user ${n}`, method: 'mining.authorize', params }))
    }
    this.#give()
  }

  #onAnswer(id: number, code: number): void {
    const sentAtMs = this.#waiting.get(id)
    if (sentAtMs !== undefined) {
      this.slowestAnswerMs = Math.max(this.slowestAnswerMs, this.#clock.monotonicMs() - sentAtMs)
      this.#waiting.delete(id)
    }
    this.answers.set(code, (this.answers.get(code) ?? 0) + 1)
  }

  #take(digits: string): void {
    if (digits.length !== 64) this.faults.push(`target of ${digits.length} digits`)
    this.#difficulty = Number(MAX_TARGET) / Number(BigInt(`0x${digits}`))
    this.targets.push({ atMs: this.#clock.monotonicMs(), difficulty: this.#difficulty })
    this.#give()
  }

  #search([id, header]: readonly string[]): void {
    this.jobs++
    if (id.length >= 64) this.faults.push('job id is too long')
    if (header.length > 2 * 288) this.faults.push('header is too long')
    this.#jobId = id
    this.#header = header
    this.#give()
  }

  #give(): void {
    if (this.#header === '') return
    const work = { jobId: this.#jobId, header: this.#header, difficulty: this.#difficulty }
    for (const board of this.#boards) board.give(work)
  }

  #submit(jobId: string, nonce2: string): void {
    const nowMs = this.#clock.monotonicMs()
    this.shareTimes.push(nowMs)
    this.firstShareMs ??= nowMs - (this.#connectedAtMs ?? nowMs)
    this.#markActivity()
    const id = ++this.#nextId
    this.#waiting.set(id, nowMs)
    this.mostWaiting = Math.max(this.mostWaiting, this.#waiting.size)
    const params = [this.#shareUser(), jobId, nonce2, ...(this.model.extra ?? [])]
    this.#link?.write(JSON.stringify({ id, method: 'mining.submit', params }))
  }

  #shareUser(): string {
    const { users = 0 } = this.model
    if (users === 0) return this.#options.user
    const number = Math.floor(this.#options.random() * (1 + users))
    return number === 0 ? this.#options.user : `${this.#options.user}-${number}`
  }
}
