/**
 * Solved work on its way from rigs to the leader. JetStream stores each solution until the leader has an answer from
 * the node. If the leader dies before, the next one gets it.
 */
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { workFromBytes } from '#ground/chain/work.ts'
import { decodeCandidate, type SolutionOutcome } from '../../fleet/messages.ts'
import { CONSUMER, MAX_AT_ONCE, prepareCandidates, type StoreOptions } from '../../fleet/stores.ts'

/** Interval at which the leader extends the deadlines of solutions in progress. */
const WORKING_MS = 700
const RETRY_MS = 300
/** Delay before an unclaimed candidate is delivered again. */
const REDELIVERY_MS = 1_000
/**
 * Duration of one pull request. With nats-server 2.9.10, the transition between two requests sometimes stalls until two
 * heartbeats are missed and another request follows. Requests of 2 s with default heartbeats stalled for 2 s in three
 * of ten runs of 5 to 60 s. Long requests have few transitions, and heartbeats of half a second limit a stall to one
 * second plus RETRY_MS.
 */
const PULL_MS = 30_000
const HEARTBEAT_MS = 500

/** Solved work from a rig. */
export interface FleetSolution {
  readonly hash: string
  /** Id of the job in the fleet. */
  readonly job: string
  readonly issuer: string
  /** Solved work. */
  readonly bytes: Uint8Array
  readonly rig: string
  readonly session: string
  /** Total hashes of the rig when it found the solution. */
  readonly hashes: number
}

interface CandidatesOptions extends StoreOptions {
  readonly clock: Clock
  /** Called for each delivery, perhaps several times for one solution. */
  readonly onSolution: (solution: FleetSolution) => void
  /** Called with the reason if a message is invalid. */
  readonly onWrong: (reason: string) => void
  /** Called once with the reason when candidates cannot be received, and with null when they can again. */
  readonly onTrouble: (reason: string | null) => void
}

/**
 * The life of a candidate of a fleet:
 *
 * 1. A rig publishes solved work. JetStream stores it, so a rig may leave, and a leader may die.
 * 2. JetStream delivers it to the leader (`onSolution`), and again after ACK_WAIT_MS without a sign of progress. The
 *    leader sends such signs while it waits for the node (`#extendDeadlines`).
 * 3. The miner submits it, and reports each step (`Leader.recordStep`). With a final verdict, `settle` acknowledges it.
 * 4. If it is not submitted, `returnToStream` hands it to the leader of that time. At its stop a leader returns all.
 * 5. Rigs ask for its outcome, which `Outcomes` remembers.
 */
export class Candidates {
  readonly #options: CandidatesOptions
  /** Hash -> deliveries that wait for the node's answer. */
  readonly #waiting = new Map<string, JsMsg[]>()
  #stopped = new AbortController()
  #messages: ConsumerMessages | null = null

  constructor(options: CandidatesOptions) {
    this.#options = options
  }

  /** Starts to receive candidates. */
  start(): void {
    this.#stopped = new AbortController()
    void this.#run(this.#stopped.signal)
    void this.#extendDeadlines(this.#stopped.signal)
  }

  /** Stops receiving. Waiting candidates go to the next leader. */
  stop(): void {
    this.#stopped.abort()
    this.#messages?.stop()
    this.#messages = null
    for (const message of [...this.#waiting.values()].flat()) message.nak()
    this.#waiting.clear()
  }

  /** Acknowledges a solution that has an answer: it is not delivered again. */
  settle(hash: string): void {
    for (const message of this.#waiting.get(hash) ?? []) message.ack()
    this.#waiting.delete(hash)
  }

  /** Returns a solution that was not submitted: JetStream delivers it again, to the leader of that time. */
  returnToStream(hash: string): void {
    for (const message of this.#waiting.get(hash) ?? []) message.nak(REDELIVERY_MS)
    this.#waiting.delete(hash)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { link, clock, onTrouble } = this.#options
    let isTroubled = false
    while (!signal.aborted) {
      try {
        await prepareCandidates(this.#options)
        const consumer = await link.jetstream.consumers.get(link.subjects.stream, CONSUMER)
        if (signal.aborted) return
        const messages = await consumer.consume({
          max_messages: MAX_AT_ONCE,
          expires: PULL_MS,
          idle_heartbeat: HEARTBEAT_MS,
          abort_on_missing_resource: true,
        })
        this.#messages = messages
        if (isTroubled) onTrouble(null)
        isTroubled = false
        if (signal.aborted) messages.stop()
        void this.#endWhenSilent(messages)
        for await (const message of messages) {
          if (signal.aborted) return
          this.#onMessage(message)
        }
      } catch (error) {
        if (!isTroubled && !signal.aborted) onTrouble(describeError(error))
        isTroubled = true
      }
      await sleep(clock, RETRY_MS, signal)
    }
  }

  /**
   * Ends a silent request, and one from before a lost connection; another one follows. The library asks once whether
   * its consumer exists. Without an answer, as while a cluster has no leader, it would wait for the whole duration of a
   * request.
   */
  async #endWhenSilent(messages: ConsumerMessages): Promise<void> {
    const unlisten = this.#options.link.listen((problem) => {
      if (problem === null) messages.stop()
    })
    for await (const { type } of messages.status()) if (type === 'heartbeats_missed') messages.stop()
    unlisten()
  }

  /** Extends the deadlines of waiting deliveries. */
  async #extendDeadlines(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#options.clock, WORKING_MS, signal)
      if (!signal.aborted) for (const message of [...this.#waiting.values()].flat()) message.working()
    }
  }

  #onMessage(message: JsMsg): void {
    const { onSolution, onWrong, link } = this.#options
    let solution: FleetSolution
    try {
      const { work, ...rest } = decodeCandidate(message.data, link.subjects.candidate)
      const bytes = decodeBase64Url(work)
      workFromBytes(bytes)
      solution = { hash: encodeBase64Url(blockHash(bytes)), bytes, ...rest }
    } catch (error) {
      // Nobody could submit this.
      message.term()
      onWrong(describeError(error))
      return
    }
    this.#waiting.set(solution.hash, [...(this.#waiting.get(solution.hash) ?? []), message])
    try {
      onSolution(solution)
    } catch (error) {
      // This is a bug, which is reported; the solution is delivered again.
      this.returnToStream(solution.hash)
      throw error
    }
  }
}

/** Maximum number of known outcomes; beyond it the oldest are evicted. */
const MAX_OUTCOMES = 20_000

/** Outcomes of a fleet's solutions, for the rigs that ask. */
export class Outcomes {
  readonly #known = new Map<string, SolutionOutcome>()

  set(hash: string, outcome: SolutionOutcome): void {
    this.#known.set(hash, outcome)
    if (this.#known.size > MAX_OUTCOMES) this.#known.delete(this.#known.keys().next().value as string)
  }

  has(hash: string): boolean {
    return this.#known.has(hash)
  }

  get(hash: string): SolutionOutcome {
    return this.#known.get(hash) ?? { step: 'unknown' }
  }
}

/** Jobs whose solutions become claims: fewer than the miner remembers. Solutions of older ones are adopted. */
const MAX_JOBS = 64

/** A job that the leader has published. */
interface IssuedJob {
  /** Id of the job in the miner. */
  readonly job: string
  readonly sequence: number
  readonly bytes: Uint8Array
  readonly target: bigint
}

/** The newest jobs of the leader. */
export class IssuedJobs {
  /** Id of a job in the fleet -> the job in the miner. */
  readonly #issued = new Map<string, IssuedJob>()
  /** Jobs of the miner with a solution. */
  readonly #solved = new Set<string>()

  add(id: string, job: IssuedJob): void {
    this.#issued.set(id, job)
    const [oldest] = this.#issued.keys()
    if (this.#issued.size > MAX_JOBS) this.#issued.delete(oldest)
  }

  get(id: string): IssuedJob | undefined {
    return this.#issued.get(id)
  }

  /** @param job id in the miner */
  markSolved(job: string): void {
    this.#solved.add(job)
    const [oldest] = this.#solved
    if (this.#solved.size > MAX_JOBS) this.#solved.delete(oldest)
  }

  isSolved(job: string): boolean {
    return this.#solved.has(job)
  }
}
