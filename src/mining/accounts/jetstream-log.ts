/**
 * Reads the share log of a fleet from JetStream, ordered by the shares' own times. The stream has them in order of
 * arrival: clocks of relays differ, and some shares wait. So the reader reads ahead until no later message can belong
 * earlier.
 */
import { DeliverPolicy, type JsMsg } from '@nats-io/jetstream'
import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { literals } from '#ground/schema/literals.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import type { FleetLink } from '../fleet/link.ts'
import { decodeMessage } from '../fleet/messages.ts'
import { unlessMissing } from '../fleet/stores.ts'
import { refusedVerdicts } from './account.ts'
import { shareErrors } from './errors.ts'
import type { RefusedShares, ShareEntry, TimeRange } from './share-store.ts'

/** Maximum distance between a share's time and its arrival: clocks that differ, and a server that was down. */
const SHARE_SLACK_MS = 60_000
/** The same for counts, which carry the time at which their minute began. */
const COUNT_SLACK_MS = 5 * 60_000
/** Forwards: messages read before the next batch is released. Backwards: the largest read. */
const CHUNK = 4_096
/** Size of the first read backwards, enough for many readers. It doubles with each read. */
const FIRST_CHUNK = 256
const PULL = 2_000
/** Timeout without a message, after which reading fails. */
const STALL_MS = 15_000

/** Restricts the records beyond the time range. */
interface LogScope {
  /** Only records of this relay; undefined for all. */
  readonly relay?: string | undefined
  /** Only the newest messages by arrival, this many; undefined for all. */
  readonly newest?: number | undefined
}

const Text = Type.String({ maxLength: 1_000 })
const Amount = Type.Number({ minimum: 0 })
const ShareMessage = Type.Object({
  id: Text,
  timeMs: Amount,
  user: Text,
  worker: Text,
  agent: Text,
  address: Text,
  chain: Amount,
  height: Amount,
  difficulty: Amount,
  blockDifficulty: Amount,
  block: Type.Union([Text, Type.Null()]),
  refusedAs: Type.Optional(literals(refusedVerdicts)),
  relay: Type.Optional(Text),
})
const RefusedMessage = Type.Object({
  minuteMs: Amount,
  user: Text,
  worker: Text,
  verdict: literals(refusedVerdicts),
  count: Amount,
  relay: Type.Optional(Text),
})

/** A record, and when JetStream took it. */
interface StoredRecord<T> {
  readonly value: T
  readonly takenMs: number
}

export class ShareLog {
  readonly #link: FleetLink
  readonly #onWarning: (message: string) => void
  readonly #scope: LogScope

  constructor(link: FleetLink, onWarning: (message: string) => void, scope: LogScope = {}) {
    this.#link = link
    this.#onWarning = onWarning
    this.#scope = scope
  }

  /**
   * Whether the fleet has a share log.
   * @throws errors of NATS
   */
  async isThere(): Promise<boolean> {
    const manager = await this.#link.jetstream.jetstreamManager(false)
    return (await unlessMissing(() => manager.streams.info(this.#link.subjects.shares))) !== null
  }

  /**
   * Yields nothing if there is no stream.
   * @throws errors of NATS
   */
  async *shares({ newestFirst = false, ...range }: TimeRange & { readonly newestFirst?: boolean } = {}) {
    const order = newestFirst ? (a: ShareEntry, b: ShareEntry) => compareShares(b, a) : compareShares
    const sign = newestFirst ? -1 : 1
    let waiting: StoredRecord<ShareEntry>[] = []
    const read = newestFirst ? this.#backwards(range) : this.#forwards(this.#link.subjects.share, range, SHARE_SLACK_MS)
    for await (const messages of read) {
      waiting.push(...messages.flatMap((message) => this.#readAs(ShareMessage, message)))
      waiting.sort((a, b) => order(a.value, b.value))
      const atMs = messages.at(-1)?.time.getTime() ?? 0
      const open = waiting.findIndex(({ takenMs }) => sign * (atMs - takenMs) < 2 * SHARE_SLACK_MS)
      const done = open < 0 ? waiting.length : open
      for (const { value } of waiting.slice(0, done)) if (isIn(value.timeMs, range)) yield value
      waiting = waiting.slice(done)
      // All later messages have later times.
      if (!newestFirst && atMs - 2 * SHARE_SLACK_MS > (range.untilMs ?? Number.POSITIVE_INFINITY)) break
    }
    for (const { value } of waiting) if (isIn(value.timeMs, range)) yield value
  }

  /**
   * Sums counts of the same worker, minute and verdict.
   * @throws errors of NATS
   */
  async *refusals(range: TimeRange = {}): AsyncGenerator<RefusedShares, void, void> {
    const sums = new Map<string, StoredRecord<RefusedShares>>()
    const sortSums = () => [...sums].toSorted(([, a], [, b]) => a.value.minuteMs - b.value.minuteMs)
    for await (const messages of this.#forwards(this.#link.subjects.unshared, range, COUNT_SLACK_MS)) {
      for (const { value, takenMs } of messages.flatMap((message) => this.#readAs(RefusedMessage, message))) {
        if (!isIn(value.minuteMs, range)) continue
        const key = JSON.stringify([value.minuteMs, value.user, value.worker, value.verdict])
        const count = value.count + (sums.get(key)?.value.count ?? 0)
        sums.set(key, { value: { ...value, count }, takenMs })
      }
      const atMs = messages.at(-1)?.time.getTime() ?? 0
      for (const [key, { value, takenMs }] of sortSums()) {
        if (atMs - takenMs < 2 * COUNT_SLACK_MS) break
        sums.delete(key)
        yield value
      }
    }
    for (const [, { value }] of sortSums()) yield value
  }

  #readAs<T extends typeof ShareMessage | typeof RefusedMessage>(
    schema: T,
    message: JsMsg,
  ): StoredRecord<Omit<Static<T>, 'relay'>>[] {
    try {
      const { relay, ...value } = decodeMessage(schema, message.data, message.subject)
      const isWanted = this.#scope.relay === undefined || relay === this.#scope.relay
      return isWanted ? [{ value, takenMs: message.time.getTime() }] : []
    } catch (error) {
      this.#onWarning(`message ${message.seq} of ${this.#link.subjects.shares} is left out: ${describeError(error)}`)
      return []
    }
  }

  /** @returns the sequences of the first and last message, or null if there are none */
  async #bounds(): Promise<{ readonly first: number; readonly last: number } | null> {
    const manager = await this.#link.jetstream.jetstreamManager(false)
    const state = await unlessMissing(async () => (await manager.streams.info(this.#link.subjects.shares)).state)
    if (state === null || state.messages === 0) return null
    const { first_seq: first, last_seq: last } = state
    const { newest = Number.POSITIVE_INFINITY } = this.#scope
    return { first: Math.max(first, last - newest + 1), last }
  }

  /** Messages of a subject that may be in the range, in order of arrival. */
  async *#forwards(subject: string, { fromMs }: TimeRange, slackMs: number): AsyncGenerator<JsMsg[], void, void> {
    const bounds = await this.#bounds()
    if (bounds === null) return
    const from = fromMs === undefined ? 0 : Math.max(0, fromMs - slackMs)
    const isBounded = this.#scope.newest !== undefined
    const start =
      from > 0 && Number.isFinite(from) && !isBounded
        ? {
            deliver_policy: DeliverPolicy.StartTime,
            opt_start_time: new Date(Math.min(from, MAX_TIME_MS)).toISOString(),
          }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: bounds.first }
    yield* this.#read({ filter_subjects: subject, ...start }, bounds.last)
  }

  /** Shares, the last arrival first. */
  async *#backwards({ fromMs = 0, untilMs }: TimeRange): AsyncGenerator<JsMsg[], void, void> {
    const bounds = await this.#bounds()
    if (bounds === null) return
    const end = untilMs === undefined ? bounds.last : await this.#lastBefore(untilMs, bounds)
    let size = FIRST_CHUNK
    for (let last = end; last >= bounds.first; last -= size, size = Math.min(2 * size, CHUNK)) {
      const first = Math.max(bounds.first, last - size + 1)
      const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: first }
      const messages: JsMsg[] = []
      for await (const part of this.#read({ filter_subjects: this.#link.subjects.share, ...start }, last, size)) {
        messages.push(...part)
      }
      if (messages.length === 0) continue
      yield messages.reverse()
      if ((messages.at(-1)?.time.getTime() ?? 0) + SHARE_SLACK_MS < fromMs) return
    }
  }

  /**
   * Binary search for a sequence after which no share is earlier than `untilMs`, at most one chunk after the first such
   * message. Times of shares rise along the stream, within twice the slack.
   */
  async #lastBefore(untilMs: number, { first, last }: { readonly first: number; readonly last: number }) {
    let low = first
    let high = last
    while (high - low > FIRST_CHUNK) {
      const middle = Math.floor((low + high) / 2)
      const timeMs = await this.#timeFrom(middle)
      if (timeMs === null || timeMs - 2 * SHARE_SLACK_MS >= untilMs) high = middle
      else low = middle
    }
    return high
  }

  /**
   * @returns the time of the first share at or after this sequence, or null if there is none. An unreadable share
   * counts as the earliest.
   */
  async #timeFrom(sequence: number): Promise<number | null> {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: sequence }
    const consumerOptions = { filter_subjects: this.#link.subjects.share, ...start }
    const consumer = await this.#link.jetstream.consumers.get(this.#link.subjects.shares, consumerOptions)
    try {
      if ((await consumer.info()).num_pending === 0) return null
      const message = await consumer.next({ expires: STALL_MS })
      if (message === null) throw this.#cutShortError()
      return this.#readAs(ShareMessage, message)[0]?.value.timeMs ?? Number.NEGATIVE_INFINITY
    } finally {
      await consumer.delete().catch(() => undefined)
    }
  }

  /**
   * Messages from the start of a consumer to this sequence, in parts.
   * @param size messages requested at once
   * @throws NewcutError if they end before `last`
   */
  async *#read(start: ConsumerStart, last: number, size = PULL): AsyncGenerator<JsMsg[], void, void> {
    const consumer = await this.#link.jetstream.consumers.get(this.#link.subjects.shares, start)
    let stall: NodeJS.Timeout | undefined
    try {
      if ((await consumer.info()).num_pending === 0) return
      let part: JsMsg[] = []
      let isWhole = false
      const messages = await consumer.consume({ max_messages: Math.min(PULL, size) })
      stall = setTimeout(() => messages.stop(), STALL_MS)
      void this.#link.connection.closed().then(() => messages.stop())
      for await (const message of messages) {
        stall.refresh()
        if (message.seq <= last) part.push(message)
        isWhole = message.seq >= last || message.info.pending === 0
        if (isWhole) break
        if (part.length < CHUNK) continue
        yield part
        part = []
        stall.refresh()
      }
      messages.stop()
      if (!isWhole) throw this.#cutShortError()
      if (part.length > 0) yield part
    } finally {
      clearTimeout(stall)
      await consumer.delete().catch(() => undefined)
    }
  }

  /** An incomplete log would divide rewards wrongly. */
  #cutShortError(): NewcutError {
    return operatingError(shareErrors.fleetLogCutShort, { url: this.#link.url })
  }
}

/** The end of the year 9999. */
const MAX_TIME_MS = 253_402_300_799_999

type ConsumerStart =
  | { readonly filter_subjects: string; readonly deliver_policy: 'by_start_time'; readonly opt_start_time: string }
  | { readonly filter_subjects: string; readonly deliver_policy: 'by_start_sequence'; readonly opt_start_seq: number }

function compareShares(a: ShareEntry, b: ShareEntry): number {
  return a.timeMs - b.timeMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

function isIn(timeMs: number, { fromMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY }: TimeRange) {
  return timeMs >= fromMs && timeMs < untilMs
}
