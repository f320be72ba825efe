/**
 * A fleet as an engine: rigs on other machines receive jobs over NATS, and send back their solutions. One of several
 * processes with this engine leads. The others follow the work too, but send nothing until they lead.
 */

import type { KV } from '@nats-io/kv'
import type { Msg } from '@nats-io/transport-node'
import { encodeBase64Url, equalBytes, readU64LE } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { withCreationTime, withNonce, workLayout } from '#ground/chain/header.ts'
import { meets, powHash, solves } from '#ground/chain/pow.ts'
import { type StepName, verdictOf } from '#ground/chain/solution.ts'
import { workFromBytes } from '#ground/chain/work.ts'
import type { FleetLink } from '../../fleet/link.ts'
import {
  encodeMessage,
  type JobMessage,
  type ListAnswer,
  ListQuestion,
  MemberCommand,
  type MemberCommandAnswer,
  MemberReport,
  type MemberReportAnswer,
  OutcomeQuestion,
  type SolutionOutcome,
} from '../../fleet/messages.ts'
import { openBucket, type Replicas, type StoreOptions } from '../../fleet/stores.ts'
import { type DeviceStatus, type Engine, type EngineEvents, type EngineWork, noWork } from '../engine.ts'
import type { FleetStatus, Leader, LeaderCallbacks, SolutionStep } from '../leader.ts'
import { Candidates, type FleetSolution, IssuedJobs, Outcomes } from './candidates.ts'
import { Election } from './election.ts'
import { MemberTable } from './member-table.ts'
import { isPaused, MemberPauses } from './pauses.ts'
import { Readiness } from './readiness.ts'
import { ownHeader, Residues } from './residues.ts'

interface FleetOptions {
  readonly link: FleetLink
  readonly replicas?: Replicas
  /** Where this process runs, for people. */
  readonly name: string
  readonly version: string
  /** Unique for each process. */
  readonly session: string
  readonly clock: Clock
  readonly random: () => number
}

/** Pause before the lists of the store are read again. */
const READ_AGAIN_MS = 300
/** Interval of the checks for rigs and residues that have expired. */
const EXPIRE_MS = 1_000
/** Rows in one part of the list, at most 800 bytes each; a NATS message holds 1 MiB. */
const ROWS = 1_000
/** Maximum number of different warnings: their texts contain names that rigs choose. */
const MAX_WARNED = 100
const FIXED_NONCE = 'a fleet cannot search work in which a pool fixes a part of the nonce'

export class FleetEngine implements Engine, Leader {
  readonly name = 'fleet'
  readonly #options: FleetOptions
  readonly #table: MemberTable
  readonly #outcomes = new Outcomes()
  readonly #election: Election
  readonly #readiness: Readiness
  readonly #candidates: Candidates
  readonly #stopped = new AbortController()
  readonly #jobs = new IssuedJobs()
  readonly #warned = new Set<string>()
  #callbacks: LeaderCallbacks | null = null
  #events: EngineEvents | null = null
  #work: EngineWork | null = null
  /** Last job message to the rigs, or null if this process does not lead. */
  #lastJob: JobMessage | null = null
  #number = 0
  /** Why rigs cannot search the current work, or null if they can. */
  #unable: string | null = null
  readonly #pauses: MemberPauses
  readonly #residues: Residues
  readonly #stores: StoreOptions
  #store: KV | null = null
  /** Aborts at the end of the term. */
  #term = new AbortController()
  #unsubscribe: readonly (() => void)[] = []
  /** The devices at the stop, or null before it. */
  #last: readonly DeviceStatus[] | null = null

  constructor(options: FleetOptions) {
    const { link, replicas, name, session, clock, random } = options
    this.#options = options
    this.#stores = { link, replicas, onWarning: (message) => this.#warn(message) }
    this.#pauses = new MemberPauses((message) => this.#warn(message))
    this.#table = new MemberTable(random)
    this.#residues = new Residues({
      store: () => this.#openedStore,
      random,
      nowMs: () => clock.monotonicMs(),
      prepare: async () => (await import('../../accounts/share-stream.ts')).prepareShares(this.#stores),
      onWarning: (message) => this.#warn(message),
    })
    this.#readiness = new Readiness({
      link,
      session,
      clock,
      silentMs: () => this.#callbacks?.silentMs() ?? 0,
      hasWork: () => this.#work !== null && this.#work.bytes !== null,
      onWrong: (error) => this.#warnOfMessage(error),
    })
    this.#election = new Election({
      session,
      name,
      clock,
      readiness: this.#readiness,
      openStore: () => this.#openStore(),
      onChange: (term) => this.#onTerm(term),
      onLeader: (leader) => this.#reportLeader(false, leader),
      onTrouble: (reason) => this.#trouble('the store of the fleet cannot be used', reason),
    })
    this.#candidates = new Candidates({
      ...this.#stores,
      clock,
      onSolution: (solution) => this.#onSolution(solution),
      onWrong: (reason) => this.#warn(`a candidate of the fleet is wrong: ${reason}`),
      onTrouble: (reason) => this.#trouble('candidates of the fleet cannot be taken', reason),
    })
  }

  attach(callbacks: LeaderCallbacks): void {
    this.#callbacks = callbacks
    this.expect(callbacks.unfinished)
  }

  expect(hashes: readonly string[]): void {
    for (const hash of hashes) this.#outcomes.set(hash, { step: 'working' })
  }

  async start(_workBytes: number, events: EngineEvents): Promise<void> {
    if (this.#stopped.signal.aborted) return
    this.#events = events
    this.#election.start()
    void this.#readiness.run(this.#stopped.signal)
    void this.#expire()
  }

  /**
   * Publishes work to the rigs, if this process leads. Does not wait for them: each gets it with its next report at the
   * latest.
   */
  async setWork(work: EngineWork): Promise<boolean> {
    if (this.#events === null) return false
    this.#unable = work.bytes !== null && work.fixedNonce.bits > 0 ? FIXED_NONCE : null
    if (this.#unable !== null) this.#warn(this.#unable)
    const isSame = this.#work !== null && work.bytes !== null && this.#work.job === work.job
    this.#work = this.#unable === null ? work : noWork(work.sequence)
    // Rigs advance the creation time themselves.
    if (!isSame && this.#election.term !== null) this.#publishWork()
    return true
  }

  /** As reported by the rigs. */
  hashes(): number {
    return this.#table.hashes
  }

  devices(): readonly DeviceStatus[] {
    if (this.#last !== null) return this.#last
    return this.#table.statuses(this.#election.term === null ? this.#standbyReason() : this.#unable)
  }

  status(): FleetStatus {
    const { term, leader } = this.#election
    return { fleet: this.#options.link.fleet, isLeading: term !== null, leader, ...this.#table.totals() }
  }

  recordStep({ hash, step, job, reason, message }: SolutionStep): void {
    if (step === 'found' && job !== undefined) this.#jobs.markSolved(job)
    const outcome = { step: outcomeOf(step), ...(reason && { reason }), ...(message && { message: short(message) }) }
    this.#outcomes.set(hash, outcome)
    // A solution that this process gave up at its stop is for the next leader.
    const isOpen = step === 'found' || step === 'handed-in' || (step === 'lost' && reason === 'stopped')
    if (!isOpen) this.#candidates.settle(hash)
  }

  /** Frees the leadership for the next leader. */
  async stop(): Promise<void> {
    this.#last ??= this.devices()
    this.#events = null
    this.#stopped.abort()
    await this.#election.stop()
  }

  #reportLeader(isLeading: boolean, leader: string | null): void {
    if (this.#events !== null) this.#callbacks?.onLeader({ isLeading, leader })
  }

  async #openStore(): Promise<KV> {
    const store = await openBucket(this.#stores)
    this.#store = store
    return store
  }

  #onTerm(term: number | null): void {
    this.#term.abort()
    this.#term = new AbortController()
    for (const end of this.#unsubscribe) end()
    this.#unsubscribe = []
    if (term === null) {
      this.#reportLeader(false, null)
      this.#lastJob = null
      this.#candidates.stop()
      this.#table.clear(this.#options.clock.monotonicMs())
      return
    }
    this.#publishWork()
    this.#candidates.start()
    void this.#serve(this.#term.signal)
  }

  /** Publishes the current work to all rigs. */
  #publishWork(): void {
    const { term } = this.#election
    if (term === null) return
    const { link } = this.#options
    const number = ++this.#number
    const id = `${term}-${number}`
    const { bytes: given = null, sequence = 0, issuer = '', reason = 'start', target = 0n } = this.#work ?? {}
    const bytes = given && ownHeader(given)
    const text = { target: target.toString(16).padStart(64, '0') }
    this.#lastJob = { term, number, job: bytes && { id, issuer, reason, work: encodeBase64Url(bytes), ...text } }
    link.publish(link.subjects.job, this.#lastJob)
    if (bytes === null) return
    this.#jobs.add(id, { job: this.#work?.job ?? '', sequence, bytes, target })
  }

  /**
   * Answers rigs once the paused rigs and the headers of relays are known. Until then they follow the previous leader.
   * It announces its leadership only when it can answer.
   */
  async #serve(over: AbortSignal): Promise<void> {
    await this.#readLists(over)
    if (over.aborted) return
    const { link } = this.#options
    const { report, outcome, list, order } = link.subjects
    const onWrong = (error: unknown) => this.#warnOfMessage(error)
    this.#unsubscribe = [
      link.subscribe(report, MemberReport, (message, raw) => this.#onReport(message, raw), onWrong),
      link.subscribe(outcome, OutcomeQuestion, ({ hash }, raw) => answer(raw, this.#outcomes.get(hash)), onWrong),
      link.subscribe(list, ListQuestion, ({ from }, raw) => this.#onList(from, raw), onWrong),
      link.subscribe(order, MemberCommand, (message, raw) => void this.#onCommand(message, raw), onWrong),
    ]
    this.#reportLeader(true, this.#options.name)
  }

  async #readLists(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        await this.#pauses.read(this.#openedStore)
        await this.#residues.begin()
        return
      } catch (error) {
        this.#warn(`rigs are not answered until it is known which of them are paused: ${describeError(error)}`)
      }
      await sleep(this.#options.clock, READ_AGAIN_MS, over)
    }
  }

  get #openedStore(): KV {
    if (this.#store === null) throw new Error('the store of the fleet is not open')
    return this.#store
  }

  #onReport(report: MemberReport, raw: Msg): void {
    const { term } = this.#election
    if (term === null || this.#callbacks === null || this.#events === null) return
    const { clock, name } = this.#options
    const { network, account } = this.#callbacks
    const lease = this.#table.report(report, clock.monotonicMs())
    const residue = report.relay === undefined ? null : this.#residues.report(report.session, report.relay.residue)
    const job = this.#lastJob
    const isNew = job !== null && (report.seen?.term !== job.term || report.seen.number !== job.number)
    answer(raw, {
      term,
      leader: name,
      network,
      account,
      lease,
      residue,
      isPaused: isPaused(this.#pauses.paused, report.rig),
      job: isNew ? job : null,
    } satisfies MemberReportAnswer)
  }

  #onList(from: number, raw: Msg): void {
    const { term } = this.#election
    if (term === null || this.#callbacks === null) return
    const { name, version, clock } = this.#options
    const { network, account } = this.#callbacks
    const rigs = this.#table.rows(from, ROWS, clock.monotonicMs())
    const next = from + rigs.length < this.#table.size ? from + rigs.length : null
    const allPaused = this.#pauses.paused.all
    answer(raw, { leader: name, version, term, network, account, allPaused, rigs, next } satisfies ListAnswer)
  }

  async #onCommand(order: MemberCommand, raw: Msg): Promise<void> {
    const rigs = this.#table.countNamed(order.rig)
    const reply = (problem: string | null) => answer(raw, { rigs, problem } satisfies MemberCommandAnswer)
    try {
      reply(await this.#pauses.apply(this.#openedStore, order))
    } catch (error) {
      reply(short(describeError(error)))
    }
  }

  #onSolution({ hash, job, issuer, bytes, rig, session, hashes }: FleetSolution): void {
    if (this.#events === null) return
    this.#table.count(session, hashes)
    const known = this.#outcomes.get(hash).step
    if (known !== 'unknown') {
      if (known !== 'working') this.#candidates.settle(hash)
      return
    }
    const device = `rig:${rig}`
    const issued = this.#jobs.get(job)
    const creationTime = workFromBytes(bytes).fields.creationTime
    const nonce = readU64LE(bytes, workLayout(bytes).nonce)
    const isOurs = issued && equalBytes(withNonce(withCreationTime(issued.bytes, creationTime), nonce), bytes)
    if (!(isOurs ? meets(powHash(bytes), issued.target) : solves(bytes))) {
      this.#outcomes.set(hash, { step: 'rejected', reason: 'invalid-pow', message: 'it does not meet the target' })
      this.#candidates.settle(hash)
      this.#onWrong(rig, session, 'it does not meet the target')
      return
    }
    if (isOurs) this.#events.onCandidate({ sequence: issued.sequence, nonce, device, creationTime })
    else this.#callbacks?.adopt({ bytes, issuer, device })
    // The miner has already started to submit it.
    if (this.#outcomes.has(hash)) return
    if (isOurs && this.#jobs.isSolved(issued.job)) {
      this.#outcomes.set(hash, { step: 'stale', message: 'another solution of the job came first' })
      this.#candidates.settle(hash)
      return
    }
    // This process stops, or has found enough blocks: leave the solution to the next leader.
    this.#candidates.returnToStream(hash)
  }

  #onWrong(rig: string, session: string, reason: string): void {
    this.#table.fault(rig, session)
    this.#warn(`a candidate of rig ${rig} is wrong: ${reason}`)
  }

  async #expire(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopped
    while (!signal.aborted) {
      await sleep(clock, EXPIRE_MS, signal)
      const nowMs = clock.monotonicMs()
      if (this.#election.term === null) continue
      this.#table.expire(nowMs)
      this.#residues.expire()
    }
  }

  #standbyReason(): string {
    const { leader } = this.#election
    return leader === null ? 'nobody leads the fleet' : `${leader} leads the fleet, and this process stands by`
  }

  #trouble(what: string, reason: string | null): void {
    if (reason !== null) this.#events?.onWarning(`${what}: ${reason}`)
  }

  #warnOfMessage(error: unknown): void {
    this.#warn(`a message of the fleet was not understood: ${describeError(error)}`)
  }

  /** Warns once for each text, for a limited number of texts. */
  #warn(message: string): void {
    if (this.#warned.has(message) || this.#warned.size >= MAX_WARNED) return
    this.#warned.add(message)
    this.#events?.onWarning(message)
  }
}

function answer(raw: Msg, message: unknown): void {
  raw.respond(encodeMessage(message))
}

/** Maximum length of a text in an answer; messages take 500 characters. */
const MAX_TEXT = 400
const short = (text: string) => text.slice(0, MAX_TEXT)

/** An unconfirmed block is still pending. */
function outcomeOf(step: StepName): SolutionOutcome['step'] {
  const verdict = verdictOf(step)
  return verdict === null || verdict === 'unconfirmed' ? 'working' : verdict
}
