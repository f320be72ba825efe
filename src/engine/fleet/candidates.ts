/**
 * Solved work on its way from rigs to the leader. JetStream keeps each until the leader has an answer of the node: a leader
 * that dies before leaves it to the next one.
 */
import { AckPolicy, type ConsumerMessages, type JsMsg, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { blockHash } from '../../core/block-hash.ts'
import { decodeBase64Url, encodeBase64Url } from '../../core/bytes.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import type { Link } from '../../fleet/link.ts'
import { CandidateMessage, decodeMessage } from '../../fleet/messages.ts'

/** Nodes forget work after five minutes (PROTOCOL.md A.1): what is older is of no use. */
const MAX_AGE_MS = 300_000
/** A candidate that its leader does not say it works on goes to another one after this time. */
const ACK_WAIT_MS = 2_000
const WORKING_MS = 700
const RETRY_MS = 300
/** The same candidate, sent again within this time, is kept once. */
const TWICE_MS = 60_000
const MAX_KEPT = 100_000
const MAX_AT_ONCE = 1_000
/**
 * How long one request for candidates stays open. Seen with nats-server 2.9.10: now and then, where one request ends and
 * the next begins, nothing comes until the client has missed two heartbeats and asks anew. With requests of 2 s and their
 * usual heartbeats that was a stall of 2 s in three of ten runs of 5 to 60 s. Long requests end seldom, and heartbeats
 * of half a second bound the stall, and what an outage takes, to one second.
 */
const PULL_MS = 30_000
const HEARTBEAT_MS = 500
const CONSUMER = 'leader'
const NANOSECONDS = 1e6

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

export interface CandidatesOptions {
  readonly link: Link
  readonly clock: Clock
  /** Called for each delivery; there may be several of one solution. */
  readonly onSolution: (solution: FleetSolution) => void
  /** It is nothing of the kind; `rig`: null where it cannot be told. */
  readonly onWrong: (rig: string | null, reason: string) => void
  /** No candidates can be taken, with the reason; null: they can be again. Said once. */
  readonly onTrouble: (reason: string | null) => void
}

/** Makes the stream and its consumer where they are missing. Throws what NATS throws. */
export async function prepareCandidates({ jetstream, subjects }: Link): Promise<void> {
  const manager = await jetstream.jetstreamManager(false)
  const wanted = {
    subjects: [subjects.candidate],
    max_age: MAX_AGE_MS * NANOSECONDS,
    max_msgs: MAX_KEPT,
    duplicate_window: TWICE_MS * NANOSECONDS,
  }
  const names = { name: subjects.stream, storage: StorageType.File, retention: RetentionPolicy.Workqueue }
  await manager.streams.add({ ...names, ...wanted })
  await manager.consumers.add(subjects.stream, {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOSECONDS,
    max_ack_pending: MAX_AT_ONCE,
    max_deliver: -1,
  })
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

  async #run(signal: AbortSignal): Promise<void> {
    const { link, clock, onTrouble } = this.#options
    let isTroubled = false
    while (!signal.aborted) {
      try {
        await prepareCandidates(link)
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

  /** Says of those that wait that they are worked on. */
  async #hold(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#options.clock, WORKING_MS, signal)
      if (!signal.aborted) for (const message of [...this.#waiting.values()].flat()) message.working()
    }
  }

  #take(message: JsMsg): void {
    const { onSolution, onWrong, link } = this.#options
    let candidate: CandidateMessage | null = null
    try {
      candidate = decodeMessage(CandidateMessage, message.data, link.subjects.candidate)
      const { work, ...rest } = candidate
      const bytes = decodeBase64Url(work)
      const hash = encodeBase64Url(blockHash(bytes))
      this.#waiting.set(hash, [...(this.#waiting.get(hash) ?? []), message])
      onSolution({ hash, bytes, ...rest })
    } catch (error) {
      message.term()
      onWrong(candidate?.rig ?? null, describeError(error))
    }
  }
}
