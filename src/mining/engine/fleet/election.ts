/**
 * Leader election of a fleet, with an entry in a NATS store that its holder rewrites about twice a second. Each write
 * names the revision that it replaces, so only one of two concurrent writes succeeds. The holder is leader for LEAD_MS
 * after the start of its last successful write. Another process takes the entry over after it has seen it unchanged for
 * TAKEOVER_MS, which is longer. It waits as long if there is no entry, because the store may have been lost during a
 * term. So there is never more than one leader. This needs monotonic clocks of equal speed, but no common time of day.
 *
 * A leader without a node frees the entry as soon as another process has one. A process without a node leaves a free
 * entry to the others for YIELD_MS.
 */
import type { KV, KvEntry } from '@nats-io/kv'
import { type Clock, notBefore, sleep } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import { decodeMessage, encodeMessage } from '../../fleet/messages.ts'
import { isWrongRevision } from '../../fleet/stores.ts'
import type { Readiness } from './readiness.ts'

export const LEAD_MS = 1_300
export const TAKEOVER_MS = 1_700
const RENEW_MS = 400
const CHECK_MS = 150
const KEY = 'leader'
const YIELD_MS = 1_000
/** Minimum duration of a term even if the leader loses its node, so that leadership does not oscillate. */
export const MIN_LEAD_MS = 5_000

const Entry = Type.Object({
  /** Unique for each process. */
  session: Type.String(),
  /** Where it runs. */
  name: Type.String(),
  /**
   * Higher than all earlier terms: the previous one plus one, or the Unix time in milliseconds if that is more. So it
   * also grows after the store was lost.
   */
  term: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** Released: the next process may lead at once. */
  isFree: Type.Boolean(),
})
type Entry = Static<typeof Entry>

interface ElectionOptions {
  /**
   * Opens the store, and creates it if it is missing.
   * @throws errors of NATS
   */
  readonly openStore: () => Promise<KV>
  readonly session: string
  readonly name: string
  readonly clock: Clock
  readonly readiness: Pick<Readiness, 'isLost' | 'isReady' | 'isOtherReady'>
  /** Called with the term when this process starts to lead, and with null when it stops. Terms increase. */
  readonly onChange: (term: number | null) => void
  /** Called when another process becomes leader, with where it runs. */
  readonly onLeader: (name: string) => void
  /** Called once with the reason when the store is unusable, and with null when it is usable again. */
  readonly onTrouble: (reason: string | null) => void
}

export class Election {
  readonly #options: ElectionOptions
  readonly #stopped = new AbortController()
  #store: KV | null = null
  /** Revision of its own last write, or null if it does not hold the entry. */
  #held: number | null = null
  #heldTerm = 0
  #term: number | null = null
  #leadsUntilMs = 0
  #leadsSinceMs = 0
  #cancelEnd: () => void = () => undefined
  /** The entry of another process, and since when it is unchanged. */
  #seen: { readonly revision: number; readonly sinceMs: number } | null = null
  #leader: string | null = null
  #leaderSession: string | null = null
  #isTroubled = false
  #ended: Promise<void> = Promise.resolve()

  constructor(options: ElectionOptions) {
    this.#options = options
  }

  start(): void {
    this.#ended = this.#run()
  }

  /**
   * The term while this process leads, else null. A process that was suspended for long learns here that its term is
   * over.
   */
  get term(): number | null {
    return this.#options.clock.monotonicMs() < this.#leadsUntilMs ? this.#term : null
  }

  /** Where the leader runs, or null if unknown. */
  get leader(): string | null {
    return this.#leader
  }

  /** Ends the election. A leader frees the entry, so that another process can lead at once. */
  async stop(): Promise<void> {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    await this.#ended
    if (this.#held === null || this.#store === null) this.#end()
    else await this.#free(this.#store, this.#held)
  }

  /** Ends the term and frees the entry. If the write is lost, the entry expires. */
  async #free(store: KV, revision: number): Promise<void> {
    this.#end()
    const entry = encodeMessage(this.#entry(this.#heldTerm, true))
    await store.put(KEY, entry, { previousSeq: revision }).catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopped
    while (!signal.aborted) {
      try {
        this.#store ??= await this.#options.openStore()
        await (this.#held === null ? this.#tryTakeOver(this.#store) : this.#renew(this.#store, this.#held))
        if (this.#isTroubled) this.#options.onTrouble(null)
        this.#isTroubled = false
      } catch (error) {
        // Without a look, nobody knows how long the entry has been unchanged.
        this.#seen = null
        this.#store = null
        if (!this.#isTroubled && !signal.aborted) this.#options.onTrouble(describeError(error))
        this.#isTroubled = true
      }
      await sleep(clock, this.#held === null ? CHECK_MS : RENEW_MS, signal)
    }
  }

  async #tryTakeOver(store: KV): Promise<void> {
    const { clock } = this.#options
    const entry = await store.get(KEY)
    const held = entry === null ? null : readEntry(entry)
    const revision = entry?.revision ?? 0
    const term = held?.term ?? 0
    const nowMs = clock.monotonicMs()
    // It is our own entry, from before an outage of the store: nobody took it over.
    const isOwn = held?.session === this.#options.session
    if (held?.isFree ? !this.#yields(revision, nowMs) : isOwn) return this.#take(store, revision, term)
    if (held?.isFree) return
    if (held !== null && held.session !== this.#leaderSession) this.#options.onLeader(held.name)
    this.#leaderSession = held?.session ?? null
    this.#leader = held?.name ?? null
    if (this.#seen?.revision !== revision) this.#seen = { revision, sinceMs: nowMs }
    else if (nowMs - this.#seen.sinceMs >= TAKEOVER_MS) return this.#take(store, revision, term)
  }

  /** Whether to leave a free entry to another process for a moment. */
  #yields(revision: number, nowMs: number): boolean {
    const { isReady, isOtherReady } = this.#options.readiness
    if (isReady || !isOtherReady) return false
    if (this.#seen?.revision !== revision) this.#seen = { revision, sinceMs: nowMs }
    return nowMs - this.#seen.sinceMs < YIELD_MS
  }

  /** Writes itself into the entry if that still has this revision, 0 if there is none. */
  async #take(store: KV, revision: number, before: number): Promise<void> {
    const { clock } = this.#options
    const startMs = clock.monotonicMs()
    const term = Math.max(before + 1, Math.floor(clock.wallMs()))
    const written = await this.#write(store, revision, term)
    this.#seen = null
    if (written !== null) this.#lead(written, term, startMs)
  }

  async #renew(store: KV, revision: number): Promise<void> {
    const startMs = this.#options.clock.monotonicMs()
    const { isLost, isOtherReady } = this.#options.readiness
    if (isLost && isOtherReady && startMs - this.#leadsSinceMs >= MIN_LEAD_MS) return this.#free(store, revision)
    const term = this.#heldTerm
    const written = await this.#write(store, revision, term)
    if (written !== null) {
      this.#lead(written, term, startMs)
      return
    }
    // The answer may have been lost. Then the newest entry is its own.
    const entry = await store.get(KEY)
    if (entry !== null && readEntry(entry)?.session === this.#options.session) this.#held = entry.revision
    else this.#end()
  }

  /**
   * @returns the new revision, or null if another process was faster
   * @throws errors of NATS
   */
  async #write(store: KV, revision: number, term: number): Promise<number | null> {
    try {
      return await store.put(KEY, encodeMessage(this.#entry(term, false)), { previousSeq: revision })
    } catch (error) {
      if (isWrongRevision(error)) return null
      throw error
    }
  }

  #lead(revision: number, term: number, startMs: number): void {
    const { clock, name, onChange } = this.#options
    this.#held = revision
    this.#heldTerm = term
    this.#leadsUntilMs = startMs + LEAD_MS
    this.#cancelEnd()
    this.#cancelEnd = notBefore(clock, this.#leadsUntilMs, () => this.#end())
    if (this.#term !== null || this.#stopped.signal.aborted) return
    this.#term = term
    this.#leadsSinceMs = startMs
    this.#leader = name
    this.#leaderSession = this.#options.session
    onChange(term)
  }

  #end(): void {
    this.#cancelEnd()
    this.#held = null
    this.#leadsUntilMs = 0
    if (this.#term === null) return
    this.#term = null
    this.#leader = null
    this.#leaderSession = null
    this.#options.onChange(null)
  }

  #entry(term: number, isFree: boolean): Entry {
    const { session, name } = this.#options
    return { session, name, term, isFree }
  }
}

/** @returns null if the entry was deleted or is invalid */
function readEntry({ operation, value }: KvEntry): Entry | null {
  if (operation !== 'PUT') return null
  try {
    return decodeMessage(Entry, value, 'leader')
  } catch {
    return null
  }
}
