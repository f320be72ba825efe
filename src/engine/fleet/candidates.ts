/**
 * Solved work on its way from rigs to the leader. JetStream keeps each until the leader has an answer of the node: a leader
 * that dies before leaves it to the next one.
 */
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { blockHash } from '../../core/block-hash.ts'
import { decodeBase64Url, encodeBase64Url } from '../../core/bytes.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import { workFromBytes } from '../../core/work.ts'
import { decodeCandidate, type Outcome } from '../../fleet/messages.ts'
import { CONSUMER, MAX_AT_ONCE, prepareCandidates, type StoreOptions } from '../../fleet/stores.ts'

/** A leader says so often that it works on what it has taken. */
const WORKING_MS = 700
const RETRY_MS = 300
/** How soon a candidate that nobody took comes again. */
const LEFT_MS = 1_000
/**
 * How long one request for candidates stays open. Seen with nats-server 2.9.10: now and then, where one request ends and
 * the next begins, nothing comes until two heartbeats are missed and there is another request. With requests of 2 s and
 * their usual heartbeats that was a stall of 2 s in three of ten runs of 5 to 60 s. Long requests end seldom, and heartbeats
 * of half a second bound the stall to one second and RETRY_MS.
 */
const PULL_MS = 30_000
const HEARTBEAT_MS = 500

/** Work that a rig sent as solved. */
export interface FleetSolution {
  readonly hash: string
  /** Id of the job as the rig knows it. */
  readonly job: string
  readonly issuer: string
  /** Solved work. */
  readonly bytes: Uint8Array
  readonly rig: string
  readonly session: string
  /** What the rig had searched by then. */
  readonly hashes: number
}

export interface CandidatesOptions extends StoreOptions {
  readonly clock: Clock
  /** Called for each delivery; there may be several of one solution. */
  readonly onSolution: (solution: FleetSolution) => void
  /** It is nothing of the kind, with the reason. */
  readonly onWrong: (reason: string) => void
  /** No candidates can be taken, with the reason; null: they can be again. Said once. */
  readonly onTrouble: (reason: string | null) => void
}

export class Candidates {
  readonly #options: CandidatesOptions
  /** Hash -> deliveries that wait for the answer of the node. */
  readonly #waiting = new Map<string, JsMsg[]>()
  #stopped = new AbortController()
  #messages: ConsumerMessages | null = null

  constructor(options: CandidatesOptions) {
    this.#options = options
  }

  /** Takes candidates from now on. */
  start(): void {
    this.#stopped = new AbortController()
    void this.#run(this.#stopped.signal)
    void this.#hold(this.#stopped.signal)
  }

  /** Takes none from now on. Those that wait go to the next leader. */
  stop(): void {
    this.#stopped.abort()
    this.#messages?.stop()
    this.#messages = null
    for (const message of [...this.#waiting.values()].flat()) message.nak()
    this.#waiting.clear()
  }

  /** There is an answer: nobody else need hand it in. */
  settle(hash: string): void {
    for (const message of this.#waiting.get(hash) ?? []) message.ack()
    this.#waiting.delete(hash)
  }

  /** Nobody took it here: it comes again, to whoever leads then. */
  leave(hash: string): void {
    for (const message of this.#waiting.get(hash) ?? []) message.nak(LEFT_MS)
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
          this.#take(message)
        }
      } catch (error) {
        if (!isTroubled && !signal.aborted) onTrouble(describeError(error))
        isTroubled = true
      }
      await sleep(clock, RETRY_MS, signal)
    }
  }

  /**
   * Ends a request of which nothing is heard any more, and one from before the connection was lost: another is made then.
   * The library would ask once whether its consumer is there. Without an answer, as while a cluster has no leader, it would
   * ask again only after as long as a request stays open.
   */
  async #endWhenSilent(messages: ConsumerMessages): Promise<void> {
    const unlisten = this.#options.link.listen((problem) => {
      if (problem === null) messages.stop()
    })
    for await (const { type } of messages.status()) if (type === 'heartbeats_missed') messages.stop()
    unlisten()
  }

  /** Says of those that wait that they are worked on. */
  async #hold(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#options.clock, WORKING_MS, signal)
      if (!signal.aborted) for (const message of [...this.#waiting.values()].flat()) message.working()
    }
  }

  #take(message: JsMsg): void {
    const { onSolution, onWrong, link } = this.#options
    let solution: FleetSolution
    try {
      const { work, ...rest } = decodeCandidate(message.data, link.subjects.candidate)
      const bytes = decodeBase64Url(work)
      workFromBytes(bytes)
      solution = { hash: encodeBase64Url(blockHash(bytes)), bytes, ...rest }
    } catch (error) {
      // Nothing that anybody could hand in.
      message.term()
      onWrong(describeError(error))
      return
    }
    this.#waiting.set(solution.hash, [...(this.#waiting.get(solution.hash) ?? []), message])
    try {
      onSolution(solution)
    } catch (error) {
      // A fault of ours, which is told of: it comes again.
      this.leave(solution.hash)
      throw error
    }
  }
}

/** Of how many solutions it is known; the oldest are forgotten. */
const MAX_KNOWN = 20_000

/** What became of the solutions of a fleet, for the rigs that ask. */
export class Outcomes {
  readonly #known = new Map<string, Outcome>()

  set(hash: string, outcome: Outcome): void {
    this.#known.set(hash, outcome)
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value as string)
  }

  has(hash: string): boolean {
    return this.#known.has(hash)
  }

  of(hash: string): Outcome {
    return this.#known.get(hash) ?? { step: 'unknown' }
  }
}
