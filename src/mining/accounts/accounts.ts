/** Accounts of all workers, the only source of worker figures for `newcut rigs`, HTTP, dashboard and metrics. */
import { accountKey, minuteOf, type SavedAccount, WorkerAccount } from './account.ts'
import { isForgotten, judgeAccount, warningText } from './rig-warnings.ts'
import type { RefusedShares, ShareEntry, ShareReader, ShareRejection } from './share-store.ts'
import { WorkerConnection } from './worker-connection.ts'

export type { WorkerConnection }

/** Maximum number of accounts. Beyond it the longest silent workers are evicted; their shares stay in the log. */
const MAX_ACCOUNTS = 65_536
/** Accounts evicted at once. */
const DROPPED = 1024

/** The worker of a share, and its connection. */
type Identity = Pick<WorkerConnection, 'key' | 'user' | 'worker' | 'agent' | 'address'>

/** Up to where the saved accounts count. */
export interface SavedRange {
  /** They contain exactly the shares up to this Unix time in milliseconds. */
  readonly throughMs: number
  /** They contain all refusals of earlier minutes. For the minute of this time, each account has its own count. */
  readonly savedMs: number
}

/** Storage of accounts. */
export interface AccountStore {
  /** @returns null if nothing was saved */
  load(): Promise<(SavedRange & { readonly accounts: readonly SavedAccount[] }) | null>
  /** Replaces and removes accounts atomically. */
  save(change: AccountChanges): Promise<void>
}

export interface AccountChanges extends SavedRange {
  readonly changed: readonly SavedAccount[]
  readonly dropped: readonly Pick<WorkerAccount, 'user' | 'worker'>[]
}

export interface AccountsOptions {
  /** Called once when a worker has trouble, and once when it has recovered. */
  readonly onWarning: (message: string, isWell: boolean) => void
  readonly maxAccounts?: number
}

/** Maximum time span that is replayed from the log if nothing was saved. */
const REPLAY_MS = 7 * 86_400_000

export class Accounts {
  readonly #options: AccountsOptions
  readonly #accounts = new Map<string, WorkerAccount>()
  readonly #connections = new Map<string, WorkerConnection[]>()
  readonly #changed = new Set<WorkerAccount>()
  readonly #dropped = new Map<string, WorkerAccount>()
  /** Time of the newest counted share. */
  #throughMs = 0

  constructor(options: AccountsOptions) {
    this.#options = options
  }

  /** Accounts with shares, in no particular order. */
  get all(): Iterable<WorkerAccount> {
    return this.#accounts.values()
  }

  get size(): number {
    return this.#accounts.size
  }

  /** Time of the newest counted share, or 0. */
  get throughMs(): number {
    return this.#throughMs
  }

  get(user: string, worker: string): WorkerAccount | undefined {
    return this.#accounts.get(accountKey(user, worker))
  }

  /** Connections of workers, by account key. */
  get connections(): ReadonlyMap<string, readonly WorkerConnection[]> {
    return this.#connections
  }

  /** Adds a connection of a worker. */
  join(user: string, worker: string): WorkerConnection {
    const connection = new WorkerConnection(user, worker)
    const others = this.#connections.get(connection.key)
    if (others === undefined) this.#connections.set(connection.key, [connection])
    else others.push(connection)
    return connection
  }

  /** Removes a connection that has ended. */
  leave(connection: WorkerConnection): void {
    const others = this.#connections.get(connection.key)?.filter((other) => other !== connection) ?? []
    if (others.length === 0) this.#connections.delete(connection.key)
    else this.#connections.set(connection.key, others)
  }

  /** Counts an accepted share. Times must not decrease. */
  accept(by: Omit<Identity, 'key'> & Partial<Identity>, difficulty: number, isBlock: boolean, timeMs: number): void {
    const account = this.#accountOf(by.user, by.worker, by.key)
    account.accept(by, difficulty, isBlock, timeMs)
    this.#changed.add(account)
    if (timeMs > this.#throughMs) this.#throughMs = timeMs
    if (account.warning !== null) this.#judge(account, timeMs)
  }

  /** Counts a share of the log. Call it in the order of time and id. */
  acceptLogged(share: ShareEntry): void {
    if (share.refusedAs === undefined) this.accept(share, share.difficulty, share.block !== null, share.timeMs)
    else this.addBlock(share, share.timeMs)
  }

  /** Counts the block of a refused share. Times must not decrease. */
  addBlock({ user, worker }: Pick<ShareEntry, 'user' | 'worker'>, timeMs: number): void {
    const account = this.#accountOf(user, worker)
    account.addBlock(timeMs)
    this.#changed.add(account)
    if (timeMs > this.#throughMs) this.#throughMs = timeMs
  }

  /** Counts a refusal. */
  refuse(user: string, worker: string, verdict: ShareRejection, timeMs: number, isUnknownJob = false): WorkerAccount {
    const account = this.#accountOf(user, worker)
    account.refuse(verdict, timeMs, 1, isUnknownJob)
    this.#changed.add(account)
    this.#judge(account, timeMs)
    return account
  }

  /**
   * Restores the saved accounts, and replays the later shares of the log.
   * @param nowMs Unix time in milliseconds
   */
  async restore(saved: AccountStore | null, log: Omit<ShareReader, 'close'>, nowMs: number): Promise<void> {
    const state = (await saved?.load()) ?? null
    for (const each of state?.accounts ?? []) {
      const account = new WorkerAccount(each.user, each.worker, each)
      this.#accounts.set(account.key, account)
    }
    this.#throughMs = state?.throughMs ?? 0
    const oldestMs = nowMs - REPLAY_MS
    for await (const share of log.shares({ fromMs: state === null ? oldestMs : state.throughMs + 1 }))
      this.acceptLogged(share)
    const fromMs = minuteOf(state?.savedMs ?? oldestMs)
    for await (const refused of log.refusals({ fromMs })) this.#restoreRefused(refused)
  }

  /**
   * Saves changed accounts. Call it when the log contains all refusals except the newest, which it gets later. Later
   * changes belong to the next save.
   */
  async save(to: AccountStore, nowMs: number): Promise<void> {
    for (const account of this.#accounts.values()) {
      if (!isForgotten(account, nowMs)) continue
      account.warning = null
      this.#changed.add(account)
    }
    const changed = [...this.#changed]
    const dropped = [...this.#dropped]
    if (changed.length + dropped.length === 0) return
    // Copies, because accounts change during the write.
    const states = changed.map((account) => structuredClone(account.snapshot()))
    const through = { throughMs: this.#throughMs, savedMs: nowMs }
    this.#changed.clear()
    this.#dropped.clear()
    try {
      await to.save({ ...through, changed: states, dropped: dropped.map(([, account]) => account) })
    } catch (error) {
      for (const account of changed) if (this.#accounts.get(account.key) === account) this.#changed.add(account)
      for (const [key, account] of dropped) if (!this.#accounts.has(key)) this.#dropped.set(key, account)
      throw error
    }
  }

  /** Adds the refusals of a minute that the log has and the saved account lacks. */
  #restoreRefused({ user, worker, verdict, minuteMs, count }: RefusedShares): void {
    const account = this.#accountOf(user, worker)
    const missing = count - account.refusedIn(minuteMs, verdict)
    if (missing <= 0) return
    account.refuse(verdict, minuteMs, missing)
    this.#changed.add(account)
  }

  #judge(account: WorkerAccount, nowMs: number): void {
    const change = judgeAccount(account, nowMs)
    if (change !== null) this.#options.onWarning(warningText(account), change === 'well')
  }

  #accountOf(user: string, worker: string, key = accountKey(user, worker)): WorkerAccount {
    const known = this.#accounts.get(key)
    if (known !== undefined) return known
    if (this.#accounts.size >= (this.#options.maxAccounts ?? MAX_ACCOUNTS)) this.#drop()
    const account = new WorkerAccount(user, worker)
    this.#accounts.set(key, account)
    this.#dropped.delete(key)
    return account
  }

  /** Evicts the longest silent workers. */
  #drop(): void {
    const most = this.#options.maxAccounts ?? MAX_ACCOUNTS
    const silent = [...this.#accounts.values()].toSorted((a, b) => a.heardMs - b.heardMs || (a.key < b.key ? -1 : 1))
    for (const account of silent.slice(0, Math.min(DROPPED, Math.ceil(most / 4)))) {
      this.#accounts.delete(account.key)
      this.#changed.delete(account)
      this.#dropped.set(account.key, account)
    }
  }
}
