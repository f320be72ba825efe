/** Work from the leader of a fleet over NATS: the rig's side. */
import { setMaxListeners } from 'node:events'
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { untilAborted } from '#ground/base/signals.ts'
import { NO_NONCE } from '#ground/chain/nonce.ts'
import { meets, powHash } from '#ground/chain/pow.ts'
import type { FollowUp, Receipt } from '#ground/chain/solution.ts'
import { type Work, workFromBytes } from '#ground/chain/work.ts'
import type { FleetLink } from '../../fleet/link.ts'
import { JobMessage, type MemberReport, MemberReportAnswer, type RelayStatistics } from '../../fleet/messages.ts'
import { Mailbox } from '../mailbox.ts'
import {
  type Job,
  type JobReason,
  jobReasons,
  type Solution,
  type Source,
  type SourceEvents,
  type UpstreamStatus,
} from '../source.ts'
import { Lease } from './lease.ts'
import { RelayHeaders } from './relay-headers.ts'
import { SolutionSubmitter } from './solutions.ts'

/** Figures of this rig for its reports. */
type FigureName = 'hashes' | 'rate' | 'state' | 'reason' | 'accepted' | 'refused' | 'hardwareErrors' | 'energy'
export interface MemberFigures extends Pick<MemberReport, FigureName> {
  /** Figures of its stratum rigs; undefined without a stratum server. */
  readonly relay?: RelayStatistics | undefined
}

/** The miner's side of a fleet rig. */
export interface MemberCallbacks {
  readonly figures: () => MemberFigures
  /** Hashes since its start. Must be fast. */
  readonly hashes: () => number
  /** Pauses this rig on behalf of the leader, with a text for people, or ends that pause if null. */
  readonly hold: (text: string | null) => void
}

interface FleetSourceOptions {
  readonly link: FleetLink
  readonly fleet: string
  readonly rig: string
  readonly version: string
  /** Unique for each process. */
  readonly session: string
  /** Whether stratum rigs connect to this rig, so that it needs headers for them. Default: false. */
  readonly isRelay?: boolean | undefined
  readonly clock: Clock
  readonly random: () => number
}

const REPORT_MS = 1_000
const ANSWER_MS = 1_000
/** Report interval of a relay without headers. */
const SOON_MS = 100
/** A leader that is silent for this long is reported as trouble. */
const SILENT_MS = 3_000
const PAUSED = 'until the leader of the fleet resumes it'
const NO_RIGS: RelayStatistics = { rigs: 0, rate: null }
const OLD_LEADER = 'the leader of the fleet is of an earlier version, which gives relays no headers: rigs get no work'
const IDLE: MemberFigures = { hashes: 0, rate: null, state: 'idle', reason: 'it starts', accepted: 0, refused: 0 }

interface NewestJob {
  readonly term: number
  readonly number: number
  readonly id: string
  readonly issuer: string
  readonly reason: JobReason
  readonly work: Work
  readonly heardMs: number
  readonly target: bigint
}

export class FleetSource implements Source {
  readonly waitReason = null
  readonly description: string
  readonly #options: FleetSourceOptions
  readonly #jobs = new Mailbox<Job | null>()
  readonly #lease: Lease
  readonly #headers: RelayHeaders
  readonly #solutions: SolutionSubmitter
  readonly #stopped = new AbortController()
  #events: SourceEvents = { onTrouble: () => undefined, onRecovered: () => undefined }
  #callbacks: MemberCallbacks | null = null
  /** The newest message, with or without a job. */
  #seen: { readonly term: number; readonly number: number } | null = null
  #newest: NewestJob | null = null
  /** Id of the job whose solution is on its way. */
  #solved: string | null = null
  /** The job that the miner has. */
  #given: NewestJob | null = null
  #leader: { readonly name: string; readonly network: string; readonly account: string } | null = null
  #heardMs = Number.NEGATIVE_INFINITY
  #latencyMs: number | null = null
  #isTroubled = false
  /** Whether it has or needs headers of its own. */
  #isRelay: boolean
  #isPaused = false
  /** 0 before the first job. */
  #workBytes = 0
  #onFirst: () => void = () => undefined
  #stopHearing: () => void = () => undefined

  private constructor(options: FleetSourceOptions) {
    this.#options = options
    this.#isRelay = options.isRelay === true
    const { fleet, rig, link } = options
    this.description = `rig ${rig} of the fleet ${fleet} at ${link.url}`
    // Each pending solution adds a listener.
    setMaxListeners(0, this.#stopped.signal)
    this.#solutions = new SolutionSubmitter({ ...options, hashes: () => this.#callbacks?.hashes() ?? 0 })
    this.#lease = new Lease(options.clock, () => this.#offer('reconnected'))
    this.#headers = new RelayHeaders(options.clock, () => this.#offer('reconnected'))
  }

  /**
   * Joins a fleet, and resolves as soon as the leader gives work.
   * @param onWaiting called once with the reason for waiting
   * @throws the reason of the signal
   */
  static async join(
    options: FleetSourceOptions,
    onWaiting: (message: string) => void,
    signal: AbortSignal,
  ): Promise<FleetSource> {
    signal.throwIfAborted()
    const source = new FleetSource(options)
    source.#events = { ...source.#events, onTrouble: onWaiting }
    const first = new Promise<void>((resolve) => {
      source.#onFirst = resolve
    })
    source.#start()
    await Promise.race([first, untilAborted(signal)])
    if (!signal.aborted) return source
    source.close()
    throw signal.reason
  }

  /** Name of the network, and the account that the leader mines for. */
  get payee(): { readonly network: string; readonly account: string } {
    return { network: this.#leader?.network ?? '', account: this.#leader?.account ?? '' }
  }

  /** Length of the first job's work: the newest job may be over before engines start. */
  get workBytes(): number {
    return this.#workBytes
  }

  get connected(): boolean {
    const { clock, link } = this.#options
    return link.isUp && clock.monotonicMs() - this.#heardMs < SILENT_MS
  }

  /** Sets the callbacks. Call it before mining starts. */
  attach(callbacks: MemberCallbacks): void {
    this.#callbacks = callbacks
    if (this.#isPaused) callbacks.hold(PAUSED)
  }

  forkVote(): null {
    return null
  }

  /** The leader's time when it issued the job, plus the time since it arrived. */
  validatorTime(): bigint | null {
    if (this.#newest === null) return null
    const { work, heardMs } = this.#newest
    const elapsedMs = Math.floor(this.#options.clock.monotonicMs() - heardMs)
    return work.fields.creationTime + BigInt(elapsedMs) * 1000n
  }

  chains(): null {
    return null
  }

  upstreams(): readonly UpstreamStatus[] {
    const { link } = this.#options
    const isHeard = this.connected
    const problem = link.isUp ? 'no leader answers' : 'it does not answer'
    const unknown = { lag: null, height: null, version: null }
    const latencyMs = isHeard ? this.#latencyMs : null
    return [{ url: link.url, up: link.isUp, active: isHeard, ...unknown, latencyMs, problem: isHeard ? null : problem }]
  }

  async *jobs(signal: AbortSignal, events: SourceEvents): AsyncGenerator<Job | null, void, void> {
    this.#events = events
    yield* this.#jobs.until(signal, () => this.close())
  }

  /** Submits a solution. It is acknowledged once JetStream has it. */
  async submit({ job, bytes }: Solution): Promise<Receipt> {
    if (!meets(powHash(bytes), job.target)) {
      return { step: 'rejected', reason: 'invalid-pow', message: 'its hash does not meet the target' }
    }
    // A second solution of the job would be useless.
    if (this.#given?.id === job.id) {
      this.#solved = job.id
      this.#offer('solved')
    }
    return this.#solutions.submit({ job, bytes }, this.#stopped.signal)
  }

  /** Asks the leader for the verdict. The leader itself follows the block. */
  async *follow(solution: Solution, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    for await (const step of this.#solutions.follow(solution, signal)) {
      // If the solution failed, its job may be useful again.
      if (step.step !== 'credited') this.#offerAgain(solution.job.id)
      yield step
    }
  }

  /** Ends the source. Pending solutions may still be stored while the connection is open. */
  close(): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    this.#lease.stop()
    this.#headers.stop()
    this.#stopHearing()
    this.#jobs.close()
  }

  #start(): void {
    const { link } = this.#options
    const { signal } = this.#stopped
    const onWrong = (error: unknown) =>
      this.#reportTrouble(`a job of the fleet was not understood: ${describeError(error)}`)
    this.#stopHearing = link.subscribe(link.subjects.job, JobMessage, (message) => this.#hear(message), onWrong)
    const unlisten = link.listen((problem) => {
      if (problem !== null) this.#reportTrouble(problem)
    })
    signal.addEventListener('abort', unlisten, { once: true })
    void this.#report(signal)
  }

  /** Reports to the leader at intervals. The answers renew the lease. */
  async #report(signal: AbortSignal): Promise<void> {
    const { clock, link, random } = this.#options
    const startMs = clock.monotonicMs()
    // Random delay, so that rigs that start together do not report together.
    let pauseMs = random() * REPORT_MS
    while (!signal.aborted) {
      const sentAtMs = clock.monotonicMs()
      try {
        const answer = await link.request(link.subjects.report, this.#figures(), MemberReportAnswer, ANSWER_MS)
        if (!signal.aborted) this.#handleAnswer(answer, sentAtMs)
      } catch (error) {
        const silentMs = clock.monotonicMs() - Math.max(this.#heardMs, startMs)
        const isLong = silentMs >= (this.#leader === null ? 0 : SILENT_MS)
        if (isLong && !signal.aborted)
          this.#reportTrouble(`no leader of the fleet answers at ${link.url}: ${describeError(error)}`)
      }
      await sleep(clock, Math.max(0, sentAtMs + pauseMs - clock.monotonicMs()), signal)
      pauseMs = this.#isRelay && this.#headers.residue === null && this.connected ? SOON_MS : REPORT_MS
    }
  }

  #figures(): MemberReport {
    const { session, rig, version } = this.#options
    const { relay, ...figures } = this.#callbacks?.figures() ?? { ...IDLE, ...(this.#isRelay && { relay: NO_RIGS }) }
    this.#isRelay = relay !== undefined
    const relayed = relay && { relay: { ...relay, residue: this.#headers.residue } }
    return { session, rig, version, lease: this.#lease.value, ...relayed, seen: this.#seen, ...figures }
  }

  #handleAnswer(
    { leader, network, account, lease, residue, isPaused, job }: MemberReportAnswer,
    sentAtMs: number,
  ): void {
    const nowMs = this.#options.clock.monotonicMs()
    this.#heardMs = nowMs
    this.#latencyMs = nowMs - sentAtMs
    this.#leader = { name: leader, network: printable(network), account: printable(account) }
    const isNewLease = this.#lease.renew(lease, sentAtMs)
    const isOther = (this.#isRelay && this.#headers.renew(residue ?? null, sentAtMs)) || isNewLease
    if (this.#isRelay && residue === undefined) this.#reportTrouble(OLD_LEADER)
    else if (lease === null) this.#reportTrouble('the fleet has no room for another rig: all leases are taken')
    else if (this.#isTroubled) {
      this.#isTroubled = false
      this.#events.onRecovered(`${leader} leads the fleet`)
    }
    this.#isPaused = isPaused
    this.#callbacks?.hold(isPaused ? PAUSED : null)
    if (job !== null) this.#hear(job)
    else if (isOther) this.#offer(this.#given === null ? 'reconnected' : 'refreshed')
  }

  /** Handles a job message, with or without a job. Ignores late messages of an earlier leader. */
  #hear({ term, number, job }: JobMessage): void {
    const seen = this.#seen
    if (seen !== null && (term < seen.term || (term === seen.term && number <= seen.number))) return
    this.#seen = { term, number }
    if (job === null) {
      this.#newest = null
      this.#offer('newCut')
      return
    }
    let work: Work
    try {
      work = workFromBytes(decodeBase64Url(job.work))
    } catch (error) {
      this.#reportTrouble(`work of the fleet cannot be read: ${describeError(error)}`)
      return
    }
    const { id, issuer } = job
    const reason = jobReasons.find((each) => each === job.reason) ?? 'refreshed'
    const target = BigInt(`0x${job.target}`)
    this.#newest = { term, number, id, issuer, reason, work, target, heardMs: this.#options.clock.monotonicMs() }
    this.#solved = null
    this.#offer(reason)
  }

  /**
   * Gives the miner the newest job with the nonces of its lease, and with the headers of a relay. Without a job, or
   * without lease and headers, gives none.
   */
  #offer(reason: JobReason): void {
    if (this.#stopped.signal.aborted) return
    const lease = this.#lease.fixedNonce
    const headers = this.#isRelay ? this.#headers.value : undefined
    const isSearchable = lease !== null || headers != null
    const newest = isSearchable && this.#solved !== this.#newest?.id ? this.#newest : null
    if (newest === null) {
      if (this.#given !== null) this.#jobs.put(null)
      this.#given = null
      return
    }
    const { id, issuer, work, target } = newest
    const noticedAtMs = this.#options.clock.monotonicMs()
    this.#given = newest
    const why = this.#workBytes === 0 ? 'start' : reason
    this.#workBytes = work.bytes.length
    const nonces = { fixedNonce: lease ?? NO_NONCE, headers }
    this.#jobs.put({ id, issuer, work, target, ...nonces, manySolutions: false, reason: why, noticedAtMs })
    this.#onFirst()
  }

  /** Offers a job again if it is still the newest. */
  #offerAgain(id: string): void {
    if (this.#solved !== id || this.#newest?.id !== id) return
    this.#solved = null
    this.#offer('refreshed')
  }

  #reportTrouble(message: string): void {
    if (!this.#isTroubled) this.#events.onTrouble(message)
    this.#isTroubled = true
  }
}
