/**
 * The share log on disk, in LevelDB. When a write resolves, the operating system has it, so it outlives the process.
 * The log is synced once a second, so a power failure costs at most one second.
 */
import type { Clock } from '#ground/base/clock.ts'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { RecentItems } from '#ground/base/recent.ts'
import { everyAfter } from '#ground/base/signals.ts'
import type { SavedAccount } from './account.ts'
import type { AccountChanges, AccountStore, SavedRange } from './accounts.ts'
import { shareErrors } from './errors.ts'
import {
  chunksOf,
  type DatabaseOpener,
  type DroppedData,
  damagedLog,
  droppedAtOpening,
  LOSS,
  openShareDatabase,
  type ShareDatabase,
  shareLogError,
} from './level-database.ts'
import { claimLog, TALLIED_SINCE } from './level-format.ts'
import {
  ACCOUNTS,
  byTime,
  distinctShares,
  endOfPrefix,
  REFUSED,
  rangeOf,
  readRefusal,
  readShares,
  refusedKey,
  refusedValue,
  SHARES,
  sealRecord,
  sharesKey,
  sharesValue,
  shareTimeText,
  TALLIES,
  timeOfShareKey,
  unsealRecord,
} from './share-records.ts'
import type { RefusedShares, ShareEntry, ShareStore, TimeRange } from './share-store.ts'
import {
  type DeleteOperation,
  joinTallies,
  type PutOperation,
  recountTallies,
  removeRecords,
  Tallies,
  type TallyGroup,
  tallyProblem,
  tallyStart,
  wholeTallies,
} from './share-tallies.ts'

/** Retention of shares and refusals. */
export const KEEP_MS = 30 * 86_400_000
const PRUNE_MS = 600_000
const SYNC_MS = 1_000
/** Minimum interval between attempts to reopen the database after a failed write. */
const REOPEN_MS = 1_000
export interface LevelStoreOptions {
  readonly folder: string
  /** Network of the shares; a log has shares of one network. */
  readonly network: string
  readonly clock: Clock
  readonly keepMs?: number
  /** Number of newest shares that `has` knows after a start, later at most twice as many. Default: 65,536. */
  readonly recentShares?: number
  readonly open?: DatabaseOpener
  /** Called when the log is opened, if it has lost shares as damaged, and for as long as it would have kept them. */
  readonly onWarning?: (message: string) => void
}

const recentOf = ({ recentShares = 65_536 }: LevelStoreOptions) => recentShares

export class LevelStore implements ShareStore, AccountStore {
  readonly #options: LevelStoreOptions
  /** Null after a failed write, until it is open again. */
  #database: ShareDatabase | null
  /** Keys of failed writes. They may be on disk, although their shares were refused. */
  #doubtful: string[] = []
  #failure: unknown = null
  #failedAtMs = 0
  #reopening: Promise<ShareDatabase> | null = null
  /** Resolves when the database of a failed write is closed. */
  #closing: Promise<void> = Promise.resolve()
  readonly #recent: RecentItems<string, true>
  #newestMs = 0
  /** Whether writes are not synced yet. */
  #isDirty = false
  readonly #tallies = new Tallies()
  #talliedSinceMs = 0
  /** Serializes the additions to tallies and counts. */
  #adding: Promise<void> = Promise.resolve()
  readonly #closed = new AbortController()

  private constructor(options: LevelStoreOptions, database: ShareDatabase) {
    this.#options = options
    this.#database = database
    this.#recent = new RecentItems({ full: recentOf(options) })
  }

  /** @throws NewcutError DATA_UNUSABLE if it is in use, damaged, of another network, or not a writable folder */
  static async open(options: LevelStoreOptions): Promise<LevelStore> {
    const { folder, network, open = openShareDatabase } = options
    const database = await open(folder)
    try {
      await claimLog(database, folder, network)
      const store = new LevelStore(options, database)
      const since = await database.get(TALLIED_SINCE)
      store.#talliedSinceMs = store.#read(TALLIED_SINCE, since === undefined ? null : (unsealRecord(since) as number))
      await store.#reportLosses()
      await store.#readNewest()
      await store.#prune()
      // The next run retries what failed.
      const repeat = (pauseMs: number, turn: () => Promise<void>) =>
        everyAfter(options.clock, pauseMs, store.#closed.signal, () => turn().catch(() => undefined))
      repeat(SYNC_MS, () => store.#sync())
      repeat(PRUNE_MS, () => store.#prune())
      return store
    } catch (error) {
      await database.close()
      throw error instanceof NewcutError ? error : shareLogError(folder, error)
    }
  }

  /** Records what LevelDB has dropped, and warns of it. */
  async #reportLosses(): Promise<void> {
    const { folder, clock, onWarning, keepMs = KEEP_MS } = this.#options
    const database = await this.#openDatabase()
    const dropped = droppedAtOpening(folder)
    const nowMs = clock.wallMs()
    if (dropped !== null) {
      const tallies = await recountTallies(this.#readTallied({}, false))
      const loss = sealRecord({ atMs: nowMs, ...dropped } satisfies DroppedData)
      await database.batch([...tallies, { type: 'put', key: LOSS, value: loss }], { sync: true })
    }
    const text = await database.get(LOSS)
    if (text === undefined) return
    const { atMs, bytes, reason } = this.#read(LOSS, unsealRecord(text) as DroppedData | undefined)
    if (nowMs - atMs > keepMs) {
      await database.batch([{ type: 'del', key: LOSS }])
      return
    }
    const what = `${bytes} bytes were damaged (${reason}), and are lost since ${new Date(atMs).toISOString()}`
    const remedy = 'their shares count for no payment. Restore a copy of the folder, or pay for them by hand'
    onWarning?.(`${folder}: the share log has lost shares: ${what}; ${remedy}`)
  }

  /** Time of the newest share, or 0. */
  get newestMs(): number {
    return this.#newestMs
  }

  /** Whether a share is stored, among at least the newest 65,536. */
  readonly has = (id: string): boolean => this.#recent.has(id)

  append(shares: readonly ShareEntry[]): Promise<void> {
    return this.#runInOrder(() => this.#append(shares))
  }

  async #append(shares: readonly ShareEntry[]): Promise<void> {
    const firstMs = this.#firstMs()
    const fresh = shares.filter(({ id, timeMs }) => !this.#recent.has(id) && timeMs >= firstMs)
    if (fresh.length === 0) return
    const groups = [...byTime(fresh)].map(([timeMs, together]) => ({ timeMs, sorted: distinctShares(together) }))
    const records = new Map(groups.map(({ timeMs, sorted }) => [sharesKey(timeMs, sorted[0].id), sorted]))
    const database = await this.#openDatabase()
    const keys = [...records.keys()]
    const stored = await this.#readStored(database, keys)
    const added = keys.filter((key) => !stored.has(key))
    const tallies = await this.#tallies.add(database, added)
    const puts = [...records].map(([key, sorted]): PutOperation => {
      const value = sharesValue(distinctShares([...(stored.get(key) ?? []), ...sorted]))
      return { type: 'put', key, value }
    })
    await this.#write([...tallies, ...puts])
    for (const { id, timeMs } of fresh) {
      this.#recent.set(id, true)
      if (timeMs > this.#newestMs) this.#newestMs = timeMs
    }
  }

  /** The records with these keys that the log has. The newest shares have been looked up by their ids. */
  async #readStored(database: ShareDatabase, keys: readonly string[]): Promise<Map<string, ShareEntry[]>> {
    const late = keys.filter((key) => timeOfShareKey(key) < this.#newestMs)
    const values = late.length === 0 ? [] : await database.getMany(late)
    return new Map(
      late.flatMap((key, i) => (values[i] === undefined ? [] : [[key, this.#read(key, readShares(key, values[i]))]])),
    )
  }

  #runInOrder(write: () => Promise<void>): Promise<void> {
    const added = this.#adding.then(write)
    this.#adding = added.catch(() => undefined)
    return added
  }

  refuse(counts: readonly RefusedShares[]): Promise<void> {
    return this.#runInOrder(async () => {
      const sums = new Map<string, number>()
      for (const each of counts) {
        const key = refusedKey(each)
        sums.set(key, (sums.get(key) ?? 0) + each.count)
      }
      const keys = [...sums.keys()]
      const before = await (await this.#openDatabase()).getMany(keys)
      await this.#write(
        keys.map((key, i) => {
          const old = before[i] === undefined ? 0 : (this.#read(key, readRefusal(key, before[i]))?.count ?? 0)
          return { type: 'put', key, value: refusedValue(old + (sums.get(key) ?? 0)) }
        }),
      )
    })
  }

  /** @throws NewcutError DATA_UNUSABLE if shares are damaged or missing */
  async *shares({ fromMs = 0, untilMs, newestFirst = false }: TimeRange & { newestFirst?: boolean } = {}) {
    // The removal of expired shares may be in progress.
    const range = wholeTallies(Math.max(fromMs, this.#firstMs()), untilMs)
    const isInside = (timeMs: number) => timeMs >= fromMs && (untilMs === undefined || timeMs < untilMs)
    const sortShares = (shares: ShareEntry[]) =>
      newestFirst ? distinctShares(shares).reverse() : distinctShares(shares)
    for await (const group of this.#readTallied(range, newestFirst)) {
      const problem = tallyProblem(group, this.#talliedSinceMs)
      if (problem !== null) throw damagedLog(this.#options.folder, problem)
      const records = group.entries.filter(([key]) => isInside(timeOfShareKey(key)))
      // Several records may have shares of the same time.
      const times = byTime(records.flatMap(([key, value]) => this.#read(key, readShares(key, value))))
      for (const together of times.values()) yield* sortShares(together)
    }
  }

  async *refusals({ fromMs, untilMs }: TimeRange = {}) {
    yield* this.#records(rangeOf(REFUSED, { fromMs, untilMs }), readRefusal)
  }

  async load(): Promise<(SavedRange & { readonly accounts: readonly SavedAccount[] }) | null> {
    const database = await this.#openDatabase()
    const text = await database.get('m/through')
    if (text === undefined) return null
    const through = this.#read('m/through', unsealRecord(text) as SavedRange | undefined)
    const accounts: SavedAccount[] = []
    const range = { gte: ACCOUNTS, lt: endOfPrefix(ACCOUNTS) }
    for await (const account of this.#records(range, (_key, value) => unsealRecord(value) as SavedAccount | undefined))
      accounts.push(account)
    return { ...through, accounts }
  }

  async save({ changed, dropped, throughMs, savedMs }: AccountChanges): Promise<void> {
    const key = ({ user, worker }: Pick<SavedAccount, 'user' | 'worker'>) => ACCOUNTS + JSON.stringify([user, worker])
    await this.#write([
      ...changed.map((account): PutOperation => ({ type: 'put', key: key(account), value: sealRecord(account) })),
      ...dropped.map((account): DeleteOperation => ({ type: 'del', key: key(account) })),
      { type: 'put', key: 'm/through', value: sealRecord({ throughMs, savedMs } satisfies SavedRange) },
    ])
  }

  /** Syncs and closes. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return
    this.#closed.abort()
    await this.#adding
    await this.#reopening?.catch(() => undefined)
    await this.#sync()
    await this.#database?.close()
    this.#database = null
    await this.#closing
  }

  async #write(batch: (PutOperation | DeleteOperation)[]): Promise<void> {
    if (batch.length === 0) return
    const database = await this.#openDatabase()
    try {
      await database.batch(batch)
      this.#isDirty = true
    } catch (error) {
      this.#fail(database, error, batch)
      throw this.#unwritableError(error)
    }
  }

  /**
   * Handles a failed write. LevelDB's log may end in half a record, after which nothing would be readable. Reopening
   * the database starts another log.
   */
  #fail(database: ShareDatabase, error: unknown, batch: readonly (PutOperation | DeleteOperation)[]): void {
    for (const { type, key } of batch) if (type === 'put' && key.startsWith(SHARES)) this.#doubtful.push(key)
    this.#tallies.forget()
    this.#failure = error
    this.#failedAtMs = this.#options.clock.monotonicMs()
    if (this.#database !== database) return
    this.#database = null
    this.#reopening = null
    // Close it before it is opened again.
    this.#closing = database.close().catch(() => undefined)
  }

  async #openDatabase(): Promise<ShareDatabase> {
    if (this.#database !== null) return this.#database
    const { clock, folder } = this.#options
    if (this.#reopening === null) {
      if (this.#failure === null || this.#closed.signal.aborted) throw operatingError(shareErrors.logClosed, { folder })
      if (clock.monotonicMs() - this.#failedAtMs < REOPEN_MS) throw this.#unwritableError(this.#failure)
      this.#reopening = this.#reopen()
    }
    return this.#reopening
  }

  async #reopen(): Promise<ShareDatabase> {
    const { clock, folder, open = openShareDatabase } = this.#options
    await this.#closing
    let database: ShareDatabase | null = null
    try {
      database = await open(folder)
      const doubtful = this.#doubtful
      await database.batch(await removeRecords(database, doubtful))
      this.#doubtful = this.#doubtful.slice(doubtful.length)
      this.#database = database
      this.#failure = null
      this.#reopening = null
      return database
    } catch (error) {
      this.#failure = error
      this.#failedAtMs = clock.monotonicMs()
      this.#closing = database?.close().catch(() => undefined) ?? Promise.resolve()
      this.#reopening = null
      throw this.#unwritableError(error)
    }
  }

  #unwritableError(error: unknown): NewcutError {
    const reason = (error as { readonly cause?: unknown }).cause ?? error
    return operatingError(shareErrors.notStored, { folder: this.#options.folder, why: describeError(reason) }, error)
  }

  async *#records<T>(
    range: { readonly gte: string; readonly lt: string },
    read: (key: string, value: string) => T | null | undefined,
  ): AsyncGenerator<T> {
    for await (const entries of chunksOf(await this.#openDatabase(), range, this.#options.folder)) {
      for (const [key, value] of entries) yield this.#read(key, read(key, value))
    }
  }

  /** The shares of a range of whole tallies, with these. */
  async *#readTallied(range: TimeRange, isReverse: boolean): AsyncGenerator<TallyGroup> {
    const database = await this.#openDatabase()
    const snapshot = database.snapshot()
    const read = (prefix: string) =>
      chunksOf(database, { ...rangeOf(prefix, range), reverse: isReverse, snapshot }, this.#options.folder)
    try {
      yield* joinTallies(read(SHARES), read(TALLIES), isReverse)
    } finally {
      await snapshot.close()
    }
  }

  /** @throws NewcutError DATA_UNUSABLE if the record is damaged */
  #read<T>(key: string, value: T | null | undefined): T {
    if (value != null) return value
    throw damagedLog(this.#options.folder, `the record ${key} has a wrong checksum`)
  }

  /** Loads the ids of the newest shares of earlier runs, so that none is stored twice. */
  async #readNewest(): Promise<void> {
    const ids: string[] = []
    for await (const { id, timeMs } of this.shares({ newestFirst: true })) {
      this.#newestMs = Math.max(this.#newestMs, timeMs)
      if (ids.push(id) === recentOf(this.#options)) break
    }
    for (const id of ids.toReversed()) this.#recent.set(id, true)
  }

  /** Earlier shares have expired. Tallies expire as a whole. */
  #firstMs(): number {
    const { clock, keepMs = KEEP_MS } = this.#options
    return tallyStart(clock.wallMs() - keepMs)
  }

  async #prune(): Promise<void> {
    const until = shareTimeText(this.#firstMs())
    for (const prefix of [SHARES, TALLIES, REFUSED]) await this.#database?.clear({ gte: prefix, lt: prefix + until })
    this.#tallies.forget()
  }

  async #sync(): Promise<void> {
    const database = this.#database
    if (!this.#isDirty || database === null) return
    this.#isDirty = false
    try {
      await database.put('m/synced', String(this.#options.clock.wallMs()), { sync: true })
    } catch (error) {
      this.#fail(database, error, [])
    }
  }
}
