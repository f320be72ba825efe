/**
 * Who leads a fleet: an entry in a store of NATS that its holder writes anew twice a second. Each write names the revision
 * that it replaces, so of two that write at once one is refused. The holder takes itself to be the leader for as long as
 * LEAD_MS after it began its last write that succeeded; another one takes the entry over once it has seen it unchanged for
 * TAKEOVER_MS, which is longer. It waits as long where it finds no entry: the store may have been lost while somebody leads.
 * So two never lead at once, whatever their clocks say of the day, as long as these run at the same speed.
 *
 * A leader without a node frees the entry as soon as another process has one. One without a node leaves a free entry to
 * those that have one for YIELD_MS.
 */
import type { KV, KvEntry } from '@nats-io/kv'
import { type Clock, notBefore, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import { decodeMessage, encodeMessage } from '../../fleet/messages.ts'
import { isWrongRevision } from '../../fleet/stores.ts'
import { type Static, Type } from '../../schema/typebox.ts'
import type { Readiness } from './readiness.ts'

export const LEAD_MS = 1_300
export const TAKEOVER_MS = 1_700
const RENEW_MS = 400
const LOOK_MS = 150
const KEY = 'leader'
const YIELD_MS = 1_000
/** One that leads goes on for so long, whatever happens to its node: the lead does not go to and fro. */
export const LEAST_LEAD_MS = 5_000

const Entry = Type.Object({
  /** Another one for each process. */
  session: Type.String(),
  /** Where it runs. */
  name: Type.String(),
  /**
   * Higher than that of all who led before: one more, or the time of day in milliseconds, whichever is more. So it also
   * grows when the store was lost.
   */
  term: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** Left in order: the next may lead at once. */
  isFree: Type.Boolean(),
})
type Entry = Static<typeof Entry>

export interface ElectionOptions {
  /** The store; made anew where it is missing. Throws what NATS throws. */
  readonly openStore: () => Promise<KV>
  readonly session: string
  readonly name: string
  readonly clock: Clock
  readonly readiness: Pick<Readiness, 'isLost' | 'isReady' | 'isOtherReady'>
  /** It leads from now on, in this term, which is higher than all before; null: it does not any more. */
  readonly onChange: (term: number | null) => void
  /** Another process leads, which runs there. Said when it is another one than before. */
  readonly onLeader: (name: string) => void
  /** The store cannot be used, with the reason; null: it can be again. Said once. */
  readonly onTrouble: (reason: string | null) => void
}

export class Election {
  readonly #options: ElectionOptions
  readonly #stopped = new AbortController()
  #store: KV | null = null
  /** Revision of the entry that it wrote last; null: it does not hold it. */
  #held: number | null = null
  #heldTerm = 0
  #term: number | null = null
  #leadsUntilMs = 0
  #leadsSinceMs = 0
  #cancelEnd: () => void = () => undefined
  /** The entry of another one, and since when it has been as it is. */
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

  /** Its term while it leads. A process that was halted for long finds out here that it does not any more. */
  get term(): number | null {
    return this.#options.clock.monotonicMs() < this.#leadsUntilMs ? this.#term : null
  }

  /** Where the leader runs, as far as is known. */
  get leader(): string | null {
    return this.#leader
  }

  /** Ends it. A leader frees the entry, so that another one leads at once. */
  async stop(): Promise<void> {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    await this.#ended
    if (this.#held === null || this.#store === null) this.#end()
    else await this.#free(this.#store, this.#held)
  }

  /** It leads no more, and the next may at once. If nobody hears it, the entry is taken over when its time is up. */
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
        await (this.#held === null ? this.#look(this.#store) : this.#renew(this.#store, this.#held))
        if (this.#isTroubled) this.#options.onTrouble(null)
        this.#isTroubled = false
      } catch (error) {
        // Who cannot look does not know how long the entry has been as it is.
        this.#seen = null
        this.#store = null
        if (!this.#isTroubled && !signal.aborted) this.#options.onTrouble(describeError(error))
        this.#isTroubled = true
      }
      await sleep(clock, this.#held === null ? LOOK_MS : RENEW_MS, signal)
    }
  }

  async #look(store: KV): Promise<void> {
    const { clock } = this.#options
    const entry = await store.get(KEY)
    const held = entry === null ? null : readEntry(entry)
    const revision = entry?.revision ?? 0
    const term = held?.term ?? 0
    const nowMs = clock.monotonicMs()
    // Its own, from before the store was out of reach: nobody took it meanwhile.
    const isOwn = held?.session === this.#options.session
    if (held?.isFree ? !this.#yields(revision, nowMs) : isOwn) return this.#take(store, revision, term)
    if (held?.isFree) return
    if (held !== null && held.session !== this.#leaderSession) this.#options.onLeader(held.name)
    this.#leaderSession = held?.session ?? null
    this.#leader = held?.name ?? null
    if (this.#seen?.revision !== revision) this.#seen = { revision, sinceMs: nowMs }
    else if (nowMs - this.#seen.sinceMs >= TAKEOVER_MS) return this.#take(store, revision, term)
  }

  /** Whether it leaves a free entry to another one for a moment. */
  #yields(revision: number, nowMs: number): boolean {
    const { isReady, isOtherReady } = this.#options.readiness
    if (isReady || !isOtherReady) return false
    if (this.#seen?.revision !== revision) this.#seen = { revision, sinceMs: nowMs }
    return nowMs - this.#seen.sinceMs < YIELD_MS
  }

  /** Writes itself into the entry, if that still has this revision (0: there is none). */
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
    if (isLost && isOtherReady && startMs - this.#leadsSinceMs >= LEAST_LEAD_MS) return this.#free(store, revision)
    const term = this.#heldTerm
    const written = await this.#write(store, revision, term)
    if (written !== null) {
      this.#lead(written, term, startMs)
      return
    }
    // An answer may have been lost: then the newest entry is its own all the same.
    const entry = await store.get(KEY)
    if (entry !== null && readEntry(entry)?.session === this.#options.session) this.#held = entry.revision
    else this.#end()
  }

  /** The new revision; null: another one was faster. Throws what NATS throws. */
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

/** null: it was deleted, or is not what it should be. */
function readEntry({ operation, value }: KvEntry): Entry | null {
  if (operation !== 'PUT') return null
  try {
    return decodeMessage(Entry, value, 'leader')
  } catch {
    return null
  }
}
