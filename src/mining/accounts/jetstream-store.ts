/**
 * The share log of a fleet in JetStream: relays write it, and reports and payouts read it. The id of a share is its
 * message id, so JetStream stores a repeated share once.
 */
import { setMaxListeners } from 'node:events'
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream'
import { ClosedConnectionError, RequestError } from '@nats-io/transport-node'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { RecentItems } from '#ground/base/recent.ts'
import type { FleetLink } from '../fleet/link.ts'
import { encodeMessage } from '../fleet/messages.ts'
import { shareErrors } from './errors.ts'
import { ShareLog } from './jetstream-log.ts'
import type { RefusedShares, ShareEntry, ShareStore, TimeRange } from './share-store.ts'
import { prepareShares, type ShareStreamOptions } from './share-stream.ts'

/** Maximum number of publishes in flight. */
const MAX_IN_FLIGHT = 2_048
const ACK_MS = 1_000
const RETRY_MS = 100
/** JetStream gets this long to take a share before the share is refused. */
const GIVE_UP_MS = 10_000
/** The same at shutdown, for all publishes in flight. */
const LAST_MS = 2_000
/** Ids that `has` remembers, at most twice as many. */
const MAX_RECENT = 65_536

interface JetStreamStoreOptions extends ShareStreamOptions {
  readonly clock: Clock
  /** Identifies this process, so that JetStream stores repeated counts once. */
  readonly session: string
  /** Name of the relay, added to shares and counts. */
  readonly relay?: string | undefined
}

interface JetStreamMessage {
  readonly subject: string
  readonly id: string
  readonly body: Uint8Array
}

export class JetStreamStore implements ShareStore {
  readonly #options: JetStreamStoreOptions
  readonly #link: FleetLink
  readonly #log: ShareLog
  readonly #recent = new RecentItems<string, true>({ full: MAX_RECENT })
  readonly #stopped = new AbortController()
  #newestMs = 0
  #inFlight = 0
  /** Publishes that wait for a free place. */
  readonly #waiting: (() => void)[] = []
  #counts = 0
  /** Deadline of all publishes. */
  #lastMs = Number.POSITIVE_INFINITY

  /** A store for an existing stream. The leader of a fleet creates it for its relays. */
  constructor(options: JetStreamStoreOptions) {
    this.#options = options
    this.#link = options.link
    this.#log = new ShareLog(options.link, options.onWarning)
    // Each share that waits for its next attempt adds a listener.
    setMaxListeners(0, this.#stopped.signal)
  }

  /**
   * Creates the stream if it is missing.
   * @throws NewcutError DATA_UNUSABLE, and errors of NATS
   */
  static async open(options: JetStreamStoreOptions): Promise<JetStreamStore> {
    await prepareShares(options)
    return new JetStreamStore(options)
  }

  /** Time of the newest share of this process, or 0. */
  get newestMs(): number {
    return this.#newestMs
  }

  /** Whether this process stored the share, among at least its newest 65,536. */
  readonly has = (id: string): boolean => this.#recent.has(id)

  async append(shares: readonly ShareEntry[]): Promise<void> {
    const { share: subject } = this.#link.subjects
    await this.#publishAll(shares.map((share) => ({ subject, id: share.id, body: this.#bodyOf(share) })))
    for (const { id, timeMs } of shares) {
      this.#recent.set(id, true)
      this.#newestMs = Math.max(this.#newestMs, timeMs)
    }
  }

  async refuse(counts: readonly RefusedShares[]): Promise<void> {
    const { unshared: subject } = this.#link.subjects
    const idOf = () => `${this.#options.session}-${++this.#counts}`
    await this.#publishAll(counts.map((each) => ({ subject, id: idOf(), body: this.#bodyOf(each) })))
  }

  shares(range: TimeRange & { readonly newestFirst?: boolean } = {}): AsyncGenerator<ShareEntry, void, void> {
    return this.#log.shares(range)
  }

  refusals(range: TimeRange = {}): AsyncGenerator<RefusedShares, void, void> {
    return this.#log.refusals(range)
  }

  /** Limits current and later publishes to two seconds from now. */
  hasten(): void {
    this.#lastMs = Math.min(this.#lastMs, this.#options.clock.monotonicMs() + LAST_MS)
  }

  /** Abandons publishes in flight. The connection stays open. */
  async close(): Promise<void> {
    this.#stopped.abort()
  }

  #bodyOf(record: ShareEntry | RefusedShares): Uint8Array {
    const { relay } = this.#options
    return encodeMessage(relay === undefined ? record : { ...record, relay })
  }

  /**
   * Publishes all messages. On failure some may be in the stream all the same, but none may be counted.
   * @throws NewcutError
   */
  async #publishAll(messages: readonly JetStreamMessage[]): Promise<void> {
    const results = await Promise.allSettled(messages.map((message) => this.#publish(message)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #publish(message: JetStreamMessage): Promise<void> {
    if (this.#inFlight >= MAX_IN_FLIGHT) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#inFlight++
    try {
      await this.#send(message)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#inFlight--
      else next()
    }
  }

  #unstoredError(reason: string, cause?: unknown): NewcutError {
    return operatingError(shareErrors.notStoredInFleet, { stream: this.#link.subjects.shares, why: reason }, cause)
  }

  async #send({ subject, id, body }: JetStreamMessage): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopped
    const endMs = clock.monotonicMs() + GIVE_UP_MS
    for (;;) {
      if (signal.aborted) throw this.#unstoredError('the store is closed')
      const isOver = () => clock.monotonicMs() >= Math.min(endMs, this.#lastMs)
      try {
        // While offline, the client would queue the message and send it long after the share was refused.
        if (!this.#link.isUp) throw new Error(`the NATS server at ${this.#link.url} is gone`)
        await this.#link.jetstream.publish(subject, body, { msgID: id, timeout: ACK_MS })
        return
      } catch (error) {
        if (isFinal(error) || isOver()) throw this.#unstoredError(reasonOf(error), error)
      }
      await sleep(clock, RETRY_MS, signal)
    }
  }
}

/** Whether a retry cannot help. */
function isFinal(error: unknown): boolean {
  const causes = [error, (error as { readonly cause?: unknown }).cause]
  return causes.some(
    (each) =>
      each instanceof ClosedConnectionError ||
      (each instanceof JetStreamApiError && !(each.status >= 500)) ||
      (each instanceof JetStreamError && each.constructor === JetStreamError),
  )
}

/** Why a share was not stored. NATS reports a missing stream only as a subject without responders. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof RequestError && cause.isNoResponders())) return describeError(error)
  return 'no such stream answers; the leader of the fleet creates it, and its console says why if it cannot'
}
